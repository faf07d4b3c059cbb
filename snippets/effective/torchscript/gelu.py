"""A chain of elementwise operations, which torch.compile makes one loop of (E5.2)."""

# --8<-- [start:imports]
import math

import torch
from torch import Tensor

# --8<-- [end:imports]


# --8<-- [start:gelu]
def gelu(x: Tensor) -> Tensor:
    """GELU by its tanh formula: nine operations, eight intermediate tensors."""
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)
    return 0.5 * x * (1 + torch.tanh(inner))


# --8<-- [end:gelu]


if __name__ == "__main__":
    x = torch.linspace(-2, 2, 5)
    print(gelu(x))
    print(torch.nn.functional.gelu(x, approximate="tanh"))
