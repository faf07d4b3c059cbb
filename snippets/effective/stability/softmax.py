"""Softmax: the plain formula, which overflows, and the stable one (E7.4, E7.5)."""

# --8<-- [start:imports]
import torch
from torch import Tensor

# --8<-- [end:imports]


# --8<-- [start:naive]
def naive_softmax(logits: Tensor, dim: int = -1) -> Tensor:
    """Softmax by its formula: nan or 0 where exp leaves the range.

    ``logits``: any shape, real; the result has the same shape. (E7.4)
    """
    exp = logits.exp()
    return exp / exp.sum(dim, keepdim=True)


# --8<-- [end:naive]


# --8<-- [start:whole]
def whole_tensor_softmax(logits: Tensor) -> Tensor:
    """Softmax with one maximum and one sum for all rows. (E7.5)

    ``logits``: any shape. Right for one vector, wrong for a batch.
    """
    exp = (logits - logits.max()).exp()
    return exp / exp.sum()


# --8<-- [end:whole]


# --8<-- [start:global-max]
def global_max_softmax(logits: Tensor, dim: int = -1) -> Tensor:
    """Softmax with one maximum for all rows: nan far below it. (E7.5)"""
    exp = (logits - logits.max()).exp()
    return exp / exp.sum(dim, keepdim=True)


# --8<-- [end:global-max]


# --8<-- [start:stable]
def stable_softmax(logits: Tensor, dim: int = -1) -> Tensor:
    """Softmax along ``dim``, in range for all finite logits.

    ``logits``: any shape, real; the result has the same shape. A row
    of -inf gives nan. In float16 the sum overflows beyond 65504 equal
    logits: pass ``logits.float()``. IndexError for an empty dim. (E7.5)
    """
    top = logits.amax(dim, keepdim=True).detach()
    exp = (logits - top).exp()
    return exp / exp.sum(dim, keepdim=True)


# --8<-- [end:stable]


def main() -> None:
    """Print the naive and the stable softmax of [1000, 0]."""
    logits = torch.tensor([1000.0, 0.0])
    print("naive ", naive_softmax(logits))
    print("stable", stable_softmax(logits))


if __name__ == "__main__":
    main()
