"""Table: which conversions between tensor and array share memory (E1.3)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

COLUMNS = {
    "call": {"en": "call", "zh": "调用"},
    "shares": {"en": "shares memory", "zh": "共享内存"},
    "dtype": {"en": "dtype of the result", "zh": "结果的数据类型"},
}

Array = np.ndarray[Any, Any]

as_float32 = partial(torch.as_tensor, dtype=torch.float32)
copy_float32 = partial(torch.tensor, dtype=torch.float32)

# x is a float32 tensor, a a float64 array.
FROM_TENSOR: dict[str, Callable[[Tensor], Array]] = {
    "x.numpy()": lambda x: x.numpy(),
    "np.asarray(x)": lambda x: np.asarray(x),
    "x.numpy().copy()": lambda x: x.numpy().copy(),
}
FROM_ARRAY: dict[str, Callable[[Array], Tensor]] = {
    "torch.from_numpy(a)": torch.from_numpy,
    "torch.as_tensor(a)": torch.as_tensor,
    "torch.as_tensor(a, dtype=torch.float32)": as_float32,
    "torch.tensor(a)": torch.tensor,
    "torch.tensor(a, dtype=torch.float32)": copy_float32,
}


def rows() -> list[dict[str, object]]:
    """Make each conversion, write into its source, and look at its result."""
    found: list[dict[str, object]] = []
    for call, to_array in FROM_TENSOR.items():
        x = torch.zeros(3)
        array = to_array(x)
        x[0] = 1
        found.append(_row(call, bool(array[0] == 1), str(array.dtype)))
    for call, to_tensor in FROM_ARRAY.items():
        source = np.zeros(3)
        tensor = to_tensor(source)
        source[0] = 1
        dtype = str(tensor.dtype).removeprefix("torch.")
        found.append(_row(call, bool(tensor[0] == 1), dtype))
    return found


def _row(call: str, shares: bool, dtype: str) -> dict[str, object]:
    return {"call": f"`{call}`", "shares": shares, "dtype": f"`{dtype}`"}


if __name__ == "__main__":
    for row in rows():
        print(*row.values(), sep="\t")
