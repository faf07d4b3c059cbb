"""Distances of all pairs: by broadcasting, and without its temporaries (E3.2)."""

# --8<-- [start:imports]
import torch
from torch import Tensor

# --8<-- [end:imports]


# --8<-- [start:outer]
def outer_distances(x: Tensor, y: Tensor) -> Tensor:
    """Distance of x[i] and y[j] at [i, j]; x: (N, D), y: (M, D).

    Two temporaries of N × M × D elements on the way.
    """
    difference = x[:, None, :] - y[None, :, :]
    return difference.square().sum(dim=-1).sqrt()


# --8<-- [end:outer]


# --8<-- [start:exact]
def distances(x: Tensor, y: Tensor) -> Tensor:
    """Distance of x[i] and y[j] at [i, j]; x: (N, D), y: (M, D).

    Subtracts before it squares, so that near points come out right.
    """
    return torch.cdist(x, y, compute_mode="donot_use_mm_for_euclid_dist")


# --8<-- [end:exact]


if __name__ == "__main__":
    torch.manual_seed(0)
    x, y = torch.randn(4, 3), torch.randn(5, 3)
    print(torch.allclose(outer_distances(x, y), distances(x, y)))
