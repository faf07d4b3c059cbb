"""Take out a dim of size 1, and only that (E3.5)."""

# --8<-- [start:imports]
import torch
from torch import Tensor

# --8<-- [end:imports]


# --8<-- [start:drop]
def drop_dim(x: Tensor, dim: int) -> Tensor:
    """x without `dim`, a view.

    Raises ValueError if the size there is not 1, IndexError if no such dim.
    """
    if x.shape[dim] != 1:
        raise ValueError(f"dim {dim} of {tuple(x.shape)} is not of size 1")
    return x.squeeze(dim)


# --8<-- [end:drop]


if __name__ == "__main__":
    print(drop_dim(torch.zeros(1, 1), 1).shape)
    try:
        drop_dim(torch.zeros(1, 2), 1)
    except ValueError as error:
        print("ValueError:", error)
