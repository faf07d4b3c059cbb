"""Layers in a plain list, which the module does not know (E2.4)."""

# --8<-- [start:imports]
from collections.abc import Iterable

import torch
from torch import Tensor, nn

# --8<-- [end:imports]


# --8<-- [start:naive]
class NaiveStack(nn.Module):
    """Layers in a list: not trained, not moved, not saved. (E2.4)"""

    layers: Iterable[nn.Module]

    def __init__(self, width: int, depth: int) -> None:
        super().__init__()
        self.layers = [nn.Linear(width, width) for _ in range(depth)]
        self.last = nn.Linear(width, 1)

    def forward(self, x: Tensor) -> Tensor:
        """(..., width) becomes (..., 1). (E2.4)"""
        for layer in self.layers:
            x = torch.relu(layer(x))
        x = self.last(x)
        return x


# --8<-- [end:naive]


# --8<-- [start:list]
class Stack(NaiveStack):
    """The same with the layers in a ModuleList. (E2.4)"""

    def __init__(self, width: int, depth: int) -> None:
        super().__init__(width, depth)
        self.layers = nn.ModuleList(self.layers)


# --8<-- [end:list]


def main() -> None:
    """Print what the state of both holds."""
    for model in (NaiveStack(4, 2), Stack(4, 2)):
        print(type(model).__name__, list(model.state_dict()))


if __name__ == "__main__":
    main()
