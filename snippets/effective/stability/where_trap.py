"""A nan from the branch that torch.where did not choose, and its mend (E7.3, E7.8)."""

# --8<-- [start:imports]
import torch
from torch import Tensor

# --8<-- [end:imports]


# --8<-- [start:naive]
def naive_sinc(x: Tensor) -> Tensor:
    """Compute sin(x) / x with 1 at 0: right forward, nan backward.

    ``x``: any shape, floating point; so is the result. (E7.3)
    """
    return torch.where(x == 0, 1.0, x.sin() / x)


# --8<-- [end:naive]


# --8<-- [start:safe]
def safe_sinc(x: Tensor) -> Tensor:
    """Compute sin(x) / x with 1 at 0, in range in both passes.

    ``x``: any shape, floating point; so is the result. (E7.3)
    """
    zero = x == 0
    divisor = torch.where(zero, 1.0, x)
    return torch.where(zero, 1.0, divisor.sin() / divisor)


# --8<-- [end:safe]


def main() -> None:
    """Print the value and the gradient of both at 0 and 1."""
    for sinc in (naive_sinc, safe_sinc):
        x = torch.tensor([0.0, 1.0], requires_grad=True)
        y = sinc(x)
        (gradient,) = torch.autograd.grad(y.sum(), x)
        print(sinc.__name__, y.detach(), gradient)


if __name__ == "__main__":
    main()
