"""Rows of -inf, which fully masked rows become (E7.8): zeros in place of nan."""

# --8<-- [start:imports]
import math

import torch
from torch import Tensor

# --8<-- [end:imports]


# --8<-- [start:softmax]
def masked_softmax(logits: Tensor, dim: int = -1) -> Tensor:
    """Softmax along ``dim``; a row of -inf gives zeros, and zero gradient.

    ``logits``: any shape, floating point; so is the result. (E7.8)
    """
    empty = (logits == -math.inf).all(dim, keepdim=True)
    result = logits.masked_fill(empty, 0.0).softmax(dim)
    return result.masked_fill(empty, 0.0)


# --8<-- [end:softmax]


# --8<-- [start:logsumexp]
def masked_logsumexp(logits: Tensor, dim: int = -1) -> Tensor:
    """Log-sum-exp along ``dim``; a row of -inf gets zero gradient.

    ``logits``: any shape, floating point; the result lacks ``dim``. (E7.8)
    """
    empty = (logits == -math.inf).all(dim, keepdim=True)
    result = logits.masked_fill(empty, 0.0).logsumexp(dim)
    return result.masked_fill(empty.squeeze(dim), -math.inf)


# --8<-- [end:logsumexp]


def main() -> None:
    """Print both for a batch whose second row is all -inf."""
    logits = torch.tensor([[0.0, 1.0], [-math.inf, -math.inf]])
    print("softmax  ", masked_softmax(logits).tolist())
    print("logsumexp", masked_logsumexp(logits).tolist())


if __name__ == "__main__":
    main()
