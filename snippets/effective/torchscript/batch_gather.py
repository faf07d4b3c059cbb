"""Batch gather, out[b] = x[b, index[b]], with checks and the fastest calls (E5.3)."""

# --8<-- [start:imports]
import math

import torch
from torch import Tensor

# --8<-- [end:imports]


# --8<-- [start:check]
def check_index(x: Tensor, index: Tensor) -> None:
    """Raise TypeError or ValueError if index can't pick rows of x."""
    if index.dtype not in (torch.int64, torch.int32):
        raise TypeError(f"index must be int64 or int32, not {index.dtype}")
    if x.ndim < 2 or index.ndim < 1 or index.shape[0] != x.shape[0]:
        shapes = f"not {tuple(x.shape)} and {tuple(index.shape)}"
        raise ValueError(f"x must be (B, N, …) and index (B, …), {shapes}")
    if x.device != index.device:
        raise ValueError(f"x is on {x.device}, index on {index.device}")


def check_range(x: Tensor, index: Tensor) -> None:
    """Raise IndexError if an index is outside 0…N-1. Waits for a GPU."""
    if index.numel() == 0:
        return
    low, high = (int(bound) for bound in index.aminmax())
    last = x.shape[1] - 1
    if low < 0 or high > last:
        rows = f"rows 0 to {last}" if last >= 0 else "no rows"
        wrong = low if low < 0 else high
        raise IndexError(f"index holds {wrong}; x has {rows}")


# --8<-- [end:check]

# --8<-- [start:dtypes]
# torch.gather on a CPU lacks others, float8 for one; index_select has all
GATHERABLE = {
    torch.float64, torch.float32, torch.float16, torch.bfloat16,
    torch.complex128, torch.complex64, torch.bool, torch.uint8,
    torch.int64, torch.int32, torch.int16, torch.int8,
}  # fmt: skip
# --8<-- [end:dtypes]


# --8<-- [start:batch-gather]
def batch_gather(x: Tensor, index: Tensor, check: bool = True) -> Tensor:
    """Rows x[b, index[b]] for every b.

    x (B, N, …) of any dtype; index (B,), (B, K) or more, int64 or int32. The result
    is new, of shape index.shape + x.shape[2:]. Gradients flow to x.

    Raises TypeError or ValueError if index doesn't fit x, IndexError if one lies
    outside 0…N-1. Negative ones do: they don't count from the end. With check=False
    nobody looks, and a wrong index may give a wrong row.
    """
    check_index(x, index)
    if check:
        check_range(x, index)
    count, length = x.shape[:2]
    shape = index.shape + x.shape[2:]
    picks = index.flatten(1) if index.ndim > 1 else index.unsqueeze(1)

    if math.prod(x.shape[2:]) == 1 and x.dtype in GATHERABLE:
        return x.reshape(count, length).gather(1, picks.long()).view(shape)

    if length == 0 or x.stride(0) != x.stride(1) * length:
        batch = torch.arange(count, device=x.device).view(-1, 1)
        return x[batch, picks].reshape(shape)  # flat rows would be a copy of x

    start = torch.arange(0, count * length, length, device=x.device)
    flat = (picks + start.view(-1, 1)).flatten()
    rows = x.flatten(0, 1) if x.ndim > 2 else x.reshape(-1, 1)
    return rows.index_select(0, flat).view(shape)


# --8<-- [end:batch-gather]


if __name__ == "__main__":
    x = torch.arange(12).view(2, 3, 2)
    print(batch_gather(x, torch.tensor([2, 0])))
    print(batch_gather(x, torch.tensor([[2, 0], [1, 1]])).shape)
    try:
        batch_gather(x, torch.tensor([3, 0]))
    except IndexError as error:
        print("IndexError:", error)
