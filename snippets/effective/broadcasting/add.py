"""Add two tensors, one repeated in memory or broadcast (E3.2)."""

# --8<-- [start:imports]
import torch
from torch import Tensor

# --8<-- [end:imports]


# --8<-- [start:repeat]
def add_repeated(a: Tensor, b: Tensor) -> Tensor:
    """a + b, where b is first repeated along its dims of size 1.

    Raises ValueError if a and b differ in rank, RuntimeError if sizes clash.
    """
    sizes = zip(a.shape, b.shape, strict=True)
    times = [n if m == 1 else 1 for n, m in sizes]
    return a + b.repeat(times)


# --8<-- [end:repeat]


# --8<-- [start:broadcast]
def add(a: Tensor, b: Tensor) -> Tensor:
    """a + b, broadcast; raises RuntimeError if sizes clash."""
    return a + b


# --8<-- [end:broadcast]


if __name__ == "__main__":
    a, b = torch.zeros(3, 2), torch.tensor([[1.0], [2.0], [3.0]])
    print(torch.equal(add(a, b), add_repeated(a, b)))
