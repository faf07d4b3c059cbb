"""Add into an existing tensor instead of a new one (E4.4)."""

# --8<-- [start:imports]
import torch
from torch import Tensor

# --8<-- [end:imports]


# --8<-- [start:new]
def add(x: Tensor, y: Tensor) -> Tensor:
    """x + y in a new tensor; shapes broadcast, dtypes promote."""
    return x + y


# --8<-- [end:new]


# --8<-- [start:in-place]
def add_in_place(x: Tensor, y: Tensor) -> Tensor:
    """x + y written into x, which is returned: its shape and dtype stay.

    Raises RuntimeError if the sum does not fit x's shape or kind of dtype.
    """
    x += y
    return x


# --8<-- [end:in-place]


if __name__ == "__main__":
    x = torch.ones(3)
    print(add_in_place(x, torch.ones(3)) is x)
