"""The matrix of all derivatives from one backward pass an output (E1.4)."""

# --8<-- [start:imports]
from collections.abc import Callable

import torch
from torch import Tensor

# --8<-- [end:imports]


# --8<-- [start:rows]
def jacobian_by_rows(function: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """Collect ``v @ J`` for each unit vector ``v``.

    ``x``: any shape, floating point. The result has the shape of
    ``function(x)`` followed by that of ``x``. (E1.4)
    """
    x = x.detach().requires_grad_()
    y = function(x)
    rows = [
        torch.autograd.grad(y, x, v.view_as(y), retain_graph=True)[0]
        for v in torch.eye(y.numel(), dtype=y.dtype, device=y.device)
    ]
    return torch.stack(rows).reshape(y.shape + x.shape)


# --8<-- [end:rows]


def main() -> None:
    """Print the Jacobian of the products of neighbours."""
    x = torch.tensor([1.0, 2.0, 3.0])
    print(jacobian_by_rows(lambda x: x[1:] * x[:-1], x))


if __name__ == "__main__":
    main()
