"""Statistics of the inputs as buffers: moved and saved, not trained (E2.4)."""

# --8<-- [start:imports]
import torch
from torch import Tensor, nn

# --8<-- [end:imports]


# --8<-- [start:standardise]
class Standardise(nn.Module):
    """Shift and scale inputs to mean 0 and standard deviation 1. (E2.4)"""

    mean: Tensor
    std: Tensor

    def __init__(self, width: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("std", torch.ones(width))

    def fit(self, x: Tensor) -> None:
        """Take the statistics of ``x``, (n, width) with n > 1. (E2.4)"""
        self.mean.copy_(x.mean(dim=0))
        self.std.copy_(x.std(dim=0))

    def forward(self, x: Tensor) -> Tensor:
        """(..., width) keeps its shape. (E2.4)"""
        return (x - self.mean) / self.std


# --8<-- [end:standardise]


def main() -> None:
    """Take statistics, save them, and load them elsewhere."""
    one, other = Standardise(2), Standardise(2)
    one.fit(torch.tensor([[0.0, 10.0], [2.0, 30.0]]))
    other.load_state_dict(one.state_dict())
    print(other.state_dict())
    print(other(torch.tensor([1.0, 20.0])))


if __name__ == "__main__":
    main()
