"""One Linear on features that were tiled and concatenated (E3.3)."""

# --8<-- [start:imports]
import torch
import torch.nn.functional as F
from torch import Tensor, nn

# --8<-- [end:imports]


# --8<-- [start:tile]
def tile_and_concatenate(linear: nn.Linear, *inputs: Tensor) -> Tensor:
    """linear([x, y, …]): each input copied to the common leading shape.

    Leading dims broadcast, last dims add up to linear.in_features.
    Raises RuntimeError if either does not fit.
    """
    lead = torch.broadcast_shapes(*(x.shape[:-1] for x in inputs))
    tiled = (x.expand(*lead, -1).contiguous() for x in inputs)
    joined = torch.cat(tuple(tiled), dim=-1)
    return F.linear(joined, linear.weight, linear.bias)


# --8<-- [end:tile]


# --8<-- [start:expand]
def expand_and_concatenate(linear: nn.Linear, *inputs: Tensor) -> Tensor:
    """The same without the tiles: `cat` reads expanded views."""
    lead = torch.broadcast_shapes(*(x.shape[:-1] for x in inputs))
    joined = torch.cat([x.expand(*lead, -1) for x in inputs], dim=-1)
    return F.linear(joined, linear.weight, linear.bias)


# --8<-- [end:expand]


if __name__ == "__main__":
    torch.manual_seed(0)
    x, y = torch.randn(5, 3, 5), torch.randn(5, 1, 6)
    linear = nn.Linear(5 + 6, 10)
    print(tile_and_concatenate(linear, x, y).shape)
