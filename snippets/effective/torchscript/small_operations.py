"""Many operations on small tensors, and how to make them few (E5.1)."""

# --8<-- [start:imports]
from collections.abc import Sequence

import torch
from torch import Tensor

# --8<-- [end:imports]


# --8<-- [start:each]
def scale_each(tensors: Sequence[Tensor], factor: float) -> list[Tensor]:
    """Each tensor times factor: one call per tensor."""
    return [tensor * factor for tensor in tensors]


# --8<-- [end:each]


# --8<-- [start:packed]
def scale_packed(tensors: Sequence[Tensor], factor: float) -> list[Tensor]:
    """The same for vectors of any lengths: three calls in all.

    Raises ValueError if a tensor is not one-dimensional, and torch's own error if
    devices differ. Differing dtypes are promoted to one.
    """
    if any(tensor.ndim != 1 for tensor in tensors):
        raise ValueError("only vectors can be packed: flatten the tensors first")
    if not tensors:
        return []
    scaled = torch.cat(list(tensors)) * factor
    return list(scaled.split([len(tensor) for tensor in tensors]))


# --8<-- [end:packed]


if __name__ == "__main__":
    vectors = [torch.ones(n) for n in (1, 3, 2)]
    print(scale_each(vectors, 2.0))
    print(scale_packed(vectors, 2.0))
