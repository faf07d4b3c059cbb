"""Join features by broadcasting: one Linear, no concatenation (E3.3)."""

# --8<-- [start:imports]
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

# --8<-- [end:imports]


# --8<-- [start:merge]
class Merge(nn.Module):
    """`linear` on the concatenation of its inputs, without building it.

    Inputs: tensors of any rank whose last sizes are `features`, in order;
    all other dims broadcast. Result: broadcast shape, then out_features.
    Raises ValueError if last sizes are wrong, RuntimeError if others clash.
    Under torch.vmap the largest input must be mapped over.
    """

    def __init__(
        self,
        features: Sequence[int],
        out_features: int,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.features = list(features)
        self.linear = nn.Linear(sum(features), out_features, bias)

    def forward(self, *inputs: Tensor) -> Tensor:
        """W_x x + W_y y + … + b, the smallest input first."""
        shapes = [tuple(x.shape) for x in inputs]
        last = [shape[-1:] for shape in shapes]
        if last != [(n,) for n in self.features]:
            raise ValueError(f"{shapes} do not end in {self.features}")
        weights = torch.split(self.linear.weight, self.features, dim=1)
        terms = sorted(
            zip(inputs, weights, strict=True),
            key=lambda term: term[0].shape[:-1].numel(),
        )
        (x, weight), *others = terms
        total = F.linear(x, weight, self.linear.bias)
        for x, weight in others:
            larger = F.linear(x, weight)
            shape = torch.broadcast_shapes(larger.shape, total.shape)
            fits = larger.shape == shape
            total = larger.add_(total) if fits else larger + total
        return total


# --8<-- [end:merge]


if __name__ == "__main__":
    torch.manual_seed(0)
    merge = Merge([5, 6], 10)
    x, y = torch.randn(5, 3, 5), torch.randn(5, 1, 6)
    both = torch.cat([x, y.expand(-1, 3, -1)], dim=-1)
    print(torch.allclose(merge(x, y), merge.linear(both), atol=1e-6))
