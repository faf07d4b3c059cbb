"""The mask low < x < high: `and` can't be overloaded, `&` can (E4.5)."""

# --8<-- [start:imports]
import torch
from torch import Tensor

# --8<-- [end:imports]


# --8<-- [start:chained]
def chained_between(x: Tensor, low: float, high: float) -> Tensor:
    """low < x < high as Python chains it: raises unless x has one element."""
    return low < x < high


# --8<-- [end:chained]


# --8<-- [start:mask]
def between(
    x: Tensor,
    low: float | Tensor,
    high: float | Tensor,
) -> Tensor:
    """Bool mask of low < x < high; x, low and high broadcast.

    Raises NotImplementedError for complex tensors, which have no order.
    """
    return (low < x) & (x < high)


# --8<-- [end:mask]


if __name__ == "__main__":
    x = torch.tensor([-0.5, 0.5, 1.5])
    print(between(x, 0, 1))
    try:
        chained_between(x, 0, 1)
    except RuntimeError as error:
        print("RuntimeError:", error)
