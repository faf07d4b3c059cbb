"""Neighbours' differences: a slice per element, or two slices in all (E4.1)."""

# --8<-- [start:imports]
import torch
from torch import Tensor

# --8<-- [end:imports]


# --8<-- [start:naive]
def naive_differences(x: Tensor) -> Tensor:
    """x[i + 1] - x[i] along dim 0: two slices and a subtraction an element."""
    steps = [x[i + 1] - x[i] for i in range(len(x) - 1)]
    return torch.stack(steps) if steps else x[:0]


# --8<-- [end:naive]


# --8<-- [start:slices]
def differences(x: Tensor) -> Tensor:
    """x[i + 1] - x[i] along dim 0, shape (max(len(x) - 1, 0), *x.shape[1:]).

    Raises IndexError if x has no dimensions, NotImplementedError if it is bool.
    """
    return x[1:] - x[:-1]


# --8<-- [end:slices]


if __name__ == "__main__":
    x = torch.tensor([1, 4, 9, 16])
    print(naive_differences(x))
    print(differences(x))
