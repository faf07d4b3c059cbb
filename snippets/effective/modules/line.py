"""A line a * x + b as a module with two parameters (E2.1)."""

# --8<-- [start:imports]
import torch
from torch import Tensor, nn

# --8<-- [end:imports]


# --8<-- [start:line]
class Line(nn.Module):
    """The line a * x + b, for ``x`` of any shape. (E2.1)"""

    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Parameter(torch.zeros(()))
        self.b = nn.Parameter(torch.zeros(()))

    def forward(self, x: Tensor) -> Tensor:
        """The result has the shape of ``x``. (E2.1)"""
        return self.a * x + self.b


# --8<-- [end:line]


def main() -> None:
    """Print the parameters of a line, and its value at 0 and 1."""
    line = Line()
    nn.init.constant_(line.a, 5)
    nn.init.constant_(line.b, 3)
    for name, parameter in line.named_parameters():
        print(name, parameter)
    print(line(torch.tensor([0.0, 1.0])))


if __name__ == "__main__":
    main()
