"""A model with a batch gather, exported to run without its Python code (E5.2)."""

# --8<-- [start:imports]
from os import PathLike

import torch
from torch import Tensor, nn
from torch.export import Dim, ExportedProgram

# --8<-- [end:imports]


# --8<-- [start:model]
class TopRows(nn.Module):
    """Of each x[b] the k rows that score highest, (B, N, width) to (B, k, width)."""

    def __init__(self, width: int, k: int) -> None:
        super().__init__()
        self.score = nn.Linear(width, 1)
        self.k = k

    def forward(self, x: Tensor) -> Tensor:
        """Score, choose, gather."""
        index = self.score(x).squeeze(2).topk(self.k, dim=1).indices
        batch = torch.arange(x.shape[0], device=x.device).unsqueeze(1)
        return x[batch, index]


# --8<-- [end:model]


# --8<-- [start:export]
def export(model: TopRows, x: Tensor) -> ExportedProgram:
    """The model's graph, for any batch size and any number of rows from k on.

    x is an example, (B, N, width). Take B and N of at least 2: an example's size 0 or
    1 is taken for a constant, and export raises.
    """
    sizes = {0: Dim("batch"), 1: Dim("rows", min=model.k)}
    return torch.export.export(model.eval(), (x,), dynamic_shapes={"x": sizes})


def save(program: ExportedProgram, path: str | PathLike[str]) -> None:
    """Write the program and its weights to one file, by custom with suffix .pt2."""
    torch.export.save(program, path)


# --8<-- [end:export]


if __name__ == "__main__":
    model = TopRows(width=8, k=3)
    program = export(model, torch.randn(2, 10, 8))
    x = torch.randn(5, 20, 8)
    print(torch.equal(program.module()(x), model(x)))
