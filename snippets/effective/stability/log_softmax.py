"""Log-softmax: log of a softmax loses small probabilities; log-sum-exp keeps them.

Source points: E7.6, E7.8.
"""

# --8<-- [start:imports]
import torch
from torch import Tensor

# --8<-- [end:imports]


# --8<-- [start:naive]
def naive_log_softmax(logits: Tensor, dim: int = -1) -> Tensor:
    """Log of the softmax: -inf where the softmax has rounded to 0.

    ``logits``: any shape, floating point; so is the result. (E7.6)
    """
    return logits.softmax(dim).log()


# --8<-- [end:naive]


# --8<-- [start:stable]
def stable_log_softmax(logits: Tensor, dim: int = -1) -> Tensor:
    """Log-softmax along ``dim``, in range for all finite logits.

    ``logits``: any shape, real; the result has the same shape. A row
    of -inf gives nan. In float16 the sum overflows beyond 65504 equal
    logits: pass ``logits.float()``. IndexError for an empty dim. (E7.6)
    """
    top = logits.amax(dim, keepdim=True).detach()
    shifted = logits - top
    return shifted - shifted.exp().sum(dim, keepdim=True).log()


# --8<-- [end:stable]


def main() -> None:
    """Print the naive and the stable log-softmax of [1000, 0]."""
    logits = torch.tensor([1000.0, 0.0])
    print("naive ", naive_log_softmax(logits))
    print("stable", stable_log_softmax(logits))


if __name__ == "__main__":
    main()
