"""A branch on data splits a compiled function; a choice without a branch (E5.2)."""

# --8<-- [start:imports]
import torch
from torch import Tensor

# --8<-- [end:imports]


# --8<-- [start:naive]
def naive_clip(x: Tensor, limit: float) -> Tensor:
    """x, scaled down to the norm limit where it is longer. Branches on data."""
    norm = x.norm()
    if norm > limit:
        x = x * (limit / norm)
    return x


# --8<-- [end:naive]


# --8<-- [start:clamp]
def clip(x: Tensor, limit: float) -> Tensor:
    """The same for limit > 0 without a branch: the factor is never above 1."""
    factor: Tensor = limit / x.norm()
    return x * factor.clamp(max=1)


# --8<-- [end:clamp]


if __name__ == "__main__":
    for x in (torch.tensor([3.0, 4.0]), torch.zeros(2)):
        print(naive_clip(x, 1.0), clip(x, 1.0))
    explained = torch._dynamo.explain(naive_clip)(torch.ones(2), 1.0)
    print("graphs:", explained.graph_count)
