"""A loss that broadcasts by accident, and a check that stops it (E3.4)."""

# --8<-- [start:imports]
import torch
from torch import Tensor

# --8<-- [end:imports]


# --8<-- [start:naive]
def naive_mse(prediction: Tensor, target: Tensor) -> Tensor:
    """Mean of the squared differences of all pairs that broadcasting makes."""
    return (prediction - target).square().mean()


# --8<-- [end:naive]


# --8<-- [start:check]
def same_shape(*tensors: Tensor) -> None:
    """Raise ValueError, naming all shapes, unless they are the same."""
    shapes = [tuple(tensor.shape) for tensor in tensors]
    if len(set(shapes)) > 1:
        raise ValueError(f"shapes differ: {' and '.join(map(str, shapes))}")


# --8<-- [end:check]


# --8<-- [start:checked]
def mse(prediction: Tensor, target: Tensor) -> Tensor:
    """Mean of the squared differences of two tensors of one shape."""
    same_shape(prediction, target)
    return (prediction - target).square().mean()


# --8<-- [end:checked]


if __name__ == "__main__":
    target = torch.tensor([1.0, 2.0, 3.0, 4.0])
    print("naive", naive_mse(target[:, None], target).item())
    try:
        mse(target[:, None], target)
    except ValueError as error:
        print("ValueError:", error)
