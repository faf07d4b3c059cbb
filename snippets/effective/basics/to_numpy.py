"""A NumPy array of any tensor: on whatever device, with a gradient or not (E1.3)."""

# --8<-- [start:imports]
from typing import Any

import numpy as np
import torch
from torch import Tensor

# --8<-- [end:imports]


# --8<-- [start:to-numpy]
NUMPY_FLOATS = (torch.float16, torch.float32, torch.float64)


def to_numpy(x: Tensor) -> np.ndarray[Any, Any]:
    """An array with the shape and the values of ``x``; never part of a graph.

    It shares memory with ``x`` where ``x`` is on the CPU and NumPy has its
    dtype. bfloat16 and float8 become float32. A sparse ``x`` raises TypeError:
    call ``to_dense()`` first. (E1.3)
    """
    if x.is_floating_point() and x.dtype not in NUMPY_FLOATS:
        x = x.float()
    return x.numpy(force=True)


# --8<-- [end:to-numpy]


def main() -> None:
    """Show what the array of a parameter shares, and that of a bfloat16 tensor."""
    weight = torch.zeros(2, requires_grad=True)
    array = to_numpy(weight)
    array[0] = 1
    print(weight)
    print(to_numpy(torch.ones(2, dtype=torch.bfloat16)).dtype)


if __name__ == "__main__":
    main()
