"""Cross entropy from logits; labels as probabilities or indices (E7.6, E7.7)."""

# --8<-- [start:imports]
import math

import torch
from torch import Tensor

# --8<-- [end:imports]


# --8<-- [start:naive]
def naive_cross_entropy(
    logits: Tensor,
    labels: Tensor,
    dim: int = -1,
) -> Tensor:
    """Cross entropy from log(softmax): inf for logits far apart.

    ``logits``, ``labels`` (probabilities): the same shape; the result
    lacks ``dim``. (E7.6)
    """
    return -(labels * logits.softmax(dim).log()).sum(dim)


# --8<-- [end:naive]


# --8<-- [start:misaligned]
def misaligned_cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """Sum of cross entropies without keepdim: row j's sum goes to class j.

    RuntimeError unless the batch is square, or one vector. (E7.6)
    """
    shifted = logits - logits.max()
    return -(labels * (shifted - shifted.logsumexp(-1))).sum()


# --8<-- [end:misaligned]


# --8<-- [start:log-softmax]
def log_softmax(logits: Tensor, dim: int) -> Tensor:
    """Log-softmax along ``dim``, in range for all finite logits.

    ``logits``: any shape, real; the result has the same shape. In
    float16 the sum overflows beyond 65504 equal logits: pass
    ``logits.float()``. (E7.6)
    """
    shifted = logits - logits.amax(dim, keepdim=True).detach()
    return shifted - shifted.logsumexp(dim, keepdim=True)


# --8<-- [end:log-softmax]


# --8<-- [start:probabilities]
def cross_entropy(logits: Tensor, labels: Tensor, dim: int = -1) -> Tensor:
    """Cross entropy with ``labels`` that are probabilities.

    Both have the same shape, any rank; the result lacks ``dim``. A
    class with logit -inf and label 0 adds nothing. ValueError where
    the shapes differ, since broadcasting would hide it. (E7.6)
    """
    if logits.shape != labels.shape:
        shapes = f"{tuple(logits.shape)} and {tuple(labels.shape)}"
        raise ValueError(f"logits and labels differ in shape: {shapes}")
    log_p = log_softmax(logits, dim)
    ruled_out = (labels == 0) & (log_p == -math.inf)
    return -(labels * log_p.masked_fill(ruled_out, 0.0)).sum(dim)


# --8<-- [end:probabilities]


# --8<-- [start:indices]
def index_cross_entropy(
    logits: Tensor,
    index: Tensor,
    dim: int = -1,
) -> Tensor:
    """Cross entropy with labels that are class indices.

    ``index``: int64, the shape of ``logits`` without ``dim``; so is
    the result. ValueError where the shape does not fit, RuntimeError
    where an index does not. (E7.6)
    """
    log_p = log_softmax(logits, dim)
    rows = tuple(log_p.select(dim, 0).shape)
    if index.shape != rows:
        raise ValueError(f"index is {tuple(index.shape)}, must be {rows}")
    return -log_p.gather(dim, index.unsqueeze(dim)).squeeze(dim)


# --8<-- [end:indices]


def main() -> None:
    """Print loss and gradient for logits [1000, 0], labels [0.5, 0.5]."""
    logits = torch.tensor([1000.0, 0.0], requires_grad=True)
    labels = torch.tensor([0.5, 0.5])
    loss = cross_entropy(logits, labels)
    (gradient,) = torch.autograd.grad(loss, logits)
    print("naive ", naive_cross_entropy(logits, labels).item())
    print("stable", loss.item(), "gradient", gradient)


if __name__ == "__main__":
    main()
