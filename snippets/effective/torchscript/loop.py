"""Batch gather as a Python loop, out[b] = x[b, index[b]] (E5.2)."""

# --8<-- [start:imports]
import torch
from torch import Tensor

# --8<-- [end:imports]


# --8<-- [start:loop]
def gather_by_loop(x: Tensor, index: Tensor) -> Tensor:
    """Rows x[b, index[b]], one batch element at a time.

    x (B, N, …), index (B,) or (B, K) of integers; shape index.shape + x.shape[2:].
    """
    if len(x) == 0:  # torch.stack takes no empty list
        return x.new_empty(index.shape + x.shape[2:])
    return torch.stack([x[b][index[b]] for b in range(len(x))])


# --8<-- [end:loop]


if __name__ == "__main__":
    x = torch.arange(12).view(2, 3, 2)
    print(gather_by_loop(x, torch.tensor([2, 0])))
    print(gather_by_loop(x, torch.tensor([[2, 0], [1, 1]])).shape)
