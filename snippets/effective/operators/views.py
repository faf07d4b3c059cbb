"""Tell a view from a copy (E4.1)."""

# --8<-- [start:imports]
import torch
from torch import Tensor

# --8<-- [end:imports]


# --8<-- [start:shares]
def shares_storage(a: Tensor, b: Tensor) -> bool:
    """True if a and b are views of the same memory: a write may show in both."""
    return (
        a.device == b.device
        and a.untyped_storage().nbytes() > 0
        and a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()
    )


# --8<-- [end:shares]


if __name__ == "__main__":
    x = torch.arange(12).reshape(3, 4)
    print("x[1]     ", shares_storage(x, x[1]))
    print("x[[0, 2]]", shares_storage(x, x[[0, 2]]))
