"""Each row divided by its sum: keepdim keeps the dim where it was (E3.5)."""

# --8<-- [start:imports]
import torch
from torch import Tensor

# --8<-- [end:imports]


# --8<-- [start:naive]
def naive_row_shares(x: Tensor) -> Tensor:
    """x over its sums along dim -1: column i is divided by the sum of row i.

    Most shapes that are not square raise RuntimeError.
    """
    return x / x.sum(dim=-1)


# --8<-- [end:naive]


# --8<-- [start:keepdim]
def row_shares(x: Tensor) -> Tensor:
    """x over its sums along dim -1, so that they become 1; any rank but 0."""
    return x / x.sum(dim=-1, keepdim=True)


# --8<-- [end:keepdim]


if __name__ == "__main__":
    x = torch.tensor([[1.0, 3.0], [2.0, 2.0]])
    print(naive_row_shares(x))
    print(row_shares(x))
