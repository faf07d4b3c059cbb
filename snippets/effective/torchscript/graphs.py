"""Count the graphs that torch.compile makes of a function (E5.2)."""

# --8<-- [start:imports]
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, fx

# --8<-- [end:imports]


# --8<-- [start:counter]
Run = Callable[..., Any]


class GraphCounter:
    """A backend for torch.compile: counts graphs, and runs each as it is.

    One more graph during one call is a graph break, in a later call a recompile.
    """

    def __init__(self) -> None:
        self.graphs = 0

    def __call__(self, graph: fx.GraphModule, inputs: Sequence[Any]) -> Run:
        """Called by torch.compile, once for every graph."""
        self.graphs += 1
        return graph.forward


# --8<-- [end:counter]


# --8<-- [start:double]
def double(x: Tensor) -> Tensor:
    """Twice x."""
    return 2 * x


# --8<-- [end:double]


if __name__ == "__main__":
    counter = GraphCounter()
    compiled = torch.compile(double, backend=counter)
    for size in (3, 4, 5, 6):
        compiled(torch.ones(size))
        print(f"size {size}: {counter.graphs} graphs so far")
