"""A running sum in half precision stalls; a wider accumulator does not (E7.2)."""

# --8<-- [start:imports]
import torch
from torch import Tensor

# --8<-- [end:imports]


# --8<-- [start:running]
def running_sum(x: Tensor) -> Tensor:
    """Add up the rows of ``x``, rounding to its dtype after each.

    ``x``: (n, ...), any dtype; the result is (...). (E7.2)
    """
    total = torch.zeros_like(x[0])
    for item in x:
        total = total + item
    return total


# --8<-- [end:running]


def main() -> None:
    """Print the running sum of 4096 ones beside torch.sum."""
    for dtype in (torch.float16, torch.bfloat16, torch.float32):
        ones = torch.ones(4096, dtype=dtype)
        print(dtype, running_sum(ones).item(), ones.sum().item())


if __name__ == "__main__":
    main()
