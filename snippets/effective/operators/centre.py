"""An augmented assignment writes into the caller's tensor (E4.4)."""

# --8<-- [start:imports]
import torch
from torch import Tensor

# --8<-- [end:imports]


# --8<-- [start:naive]
def naive_centre(x: Tensor) -> Tensor:
    """x less its mean over the last dim, written into the caller's x."""
    x -= x.mean(dim=-1, keepdim=True)
    return x


# --8<-- [end:naive]


# --8<-- [start:new]
def centre(x: Tensor) -> Tensor:
    """x less its mean over the last dim, in a new tensor; x keeps its values.

    x is floating point or complex; raises RuntimeError if it is not.
    """
    return x - x.mean(dim=-1, keepdim=True)


# --8<-- [end:new]


if __name__ == "__main__":
    x = torch.tensor([1.0, 2.0, 6.0])
    print(centre(x), x)
    print(naive_centre(x), x)
