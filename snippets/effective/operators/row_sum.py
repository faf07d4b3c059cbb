"""Sum the rows of a tensor by index, over `unbind`, and in one call (E4.2)."""

# --8<-- [start:imports]
import torch
from torch import Tensor

# --8<-- [end:imports]


# --8<-- [start:zero]
def zero_row(x: Tensor) -> Tensor:
    """Zeros of the shape and dtype of x.sum(dim=0), shape x.shape[1:].

    Raises ValueError if x has no dimensions.
    """
    if x.ndim == 0:
        raise ValueError("x has no rows: it has no dimensions")
    return x[:0].sum(dim=0)


# --8<-- [end:zero]


# --8<-- [start:index]
def sum_by_index(x: Tensor) -> Tensor:
    """Sum of the rows of x, shape x.shape[1:], one x[i] at a time."""
    total = zero_row(x)
    for i in range(len(x)):
        total += x[i]
    return total


# --8<-- [end:index]


# --8<-- [start:unbind]
def sum_by_unbind(x: Tensor) -> Tensor:
    """Sum of the rows of x, shape x.shape[1:], over the views that unbind makes."""
    total = zero_row(x)
    for row in x.unbind():
        total += row
    return total


# --8<-- [end:unbind]


# --8<-- [start:split]
def sum_by_split(x: Tensor, size: int = 256) -> Tensor:
    """Sum of the rows of x, shape x.shape[1:], unbinding `size` rows at a time.

    Raises RuntimeError if `size` is not positive.
    """
    total = zero_row(x)
    for part in x.split(size):
        for row in part.unbind():
            total += row
    return total


# --8<-- [end:split]


# --8<-- [start:sum]
def sum_rows(x: Tensor) -> Tensor:
    """Sum of the rows of x, shape x.shape[1:], in one call.

    Raises ValueError if x has no dimensions.
    """
    if x.ndim == 0:
        raise ValueError("x has no rows: it has no dimensions")
    return x.sum(dim=0)


# --8<-- [end:sum]


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(500, 10)
    total = sum_rows(x)
    print(total.shape)
    for loop in (sum_by_index, sum_by_unbind, sum_by_split):
        print(loop.__name__, torch.allclose(loop(x), total, atol=1e-4))
