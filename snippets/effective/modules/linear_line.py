"""The line as nn.Linear(1, 1), between unsqueeze and squeeze (E2.3)."""

# --8<-- [start:imports]
import torch
from torch import Tensor, nn

# --8<-- [end:imports]


# --8<-- [start:linear]
class LinearLine(nn.Module):
    """The line weight * x + bias, for ``x`` of any shape. (E2.3)"""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(1, 1)

    def forward(self, x: Tensor) -> Tensor:
        """The result has the shape of ``x``. (E2.3)"""
        x = self.linear(x.unsqueeze(-1))
        return x.squeeze(-1)


# --8<-- [end:linear]


# --8<-- [start:naive]
class NaiveLinearLine(LinearLine):
    """The same, until some dimension of ``x`` has size 1. (E2.3)"""

    def forward(self, x: Tensor) -> Tensor:
        """The result lacks the dimensions of size 1 that ``x`` has. (E2.3)"""
        x = self.linear(x.unsqueeze(-1))
        return x.squeeze()


# --8<-- [end:naive]


def main() -> None:
    """Print the shapes that both give for batches of four and of one."""
    for model in (LinearLine(), NaiveLinearLine()):
        shapes = [tuple(model(torch.ones(n)).shape) for n in (4, 1)]
        print(type(model).__name__, *shapes)


if __name__ == "__main__":
    main()
