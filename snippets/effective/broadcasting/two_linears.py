"""One Linear on a concatenation as several Linears, and back (E3.3)."""

# --8<-- [start:imports]
from collections.abc import Sequence

import torch
from torch import Tensor, nn

# --8<-- [end:imports]


# --8<-- [start:split]
def split(linear: nn.Linear, features: Sequence[int]) -> list[nn.Linear]:
    """Linears whose outputs add up to linear's; only the first has a bias.

    `features`: last sizes of the inputs, in order. The weights are copied.
    Raises RuntimeError if they do not add up to linear.in_features.
    """
    weights = torch.split(linear.weight.detach(), list(features), dim=1)
    parts = [_linear(weight.clone()) for weight in weights]
    if linear.bias is not None:
        parts[0].bias = nn.Parameter(linear.bias.detach().clone())
    return parts


def _linear(weight: Tensor) -> nn.Linear:
    linear = nn.Linear(weight.shape[1], weight.shape[0], bias=False)
    linear.weight = nn.Parameter(weight)
    return linear


# --8<-- [end:split]


# --8<-- [start:join]
def join(parts: Sequence[nn.Linear]) -> nn.Linear:
    """The one Linear on the concatenation; the biases of the parts add up.

    Raises RuntimeError if the parts' outputs differ in size.
    """
    weights = [part.weight.detach() for part in parts]
    linear = _linear(torch.cat(weights, dim=1))
    biases = [part.bias.detach() for part in parts if part.bias is not None]
    if biases:
        linear.bias = nn.Parameter(torch.stack(biases).sum(dim=0))
    return linear


# --8<-- [end:join]


if __name__ == "__main__":
    torch.manual_seed(0)
    linear = nn.Linear(5 + 6, 10)
    first, second = split(linear, [5, 6])
    x, y = torch.randn(5, 3, 5), torch.randn(5, 1, 6)
    both = torch.cat([x, y.expand(-1, 3, -1)], dim=-1)
    print(torch.allclose(first(x) + second(y), linear(both), atol=1e-6))
    print(torch.equal(join([first, second]).weight, linear.weight))
