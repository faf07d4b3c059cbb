"""Small gradients round to 0 in float16; scaling the loss keeps them (E7.3)."""

# --8<-- [start:imports]
import torch
from torch import Tensor

# --8<-- [end:imports]


# --8<-- [start:scaled]
def scaled_gradient(error: Tensor, scale: float = 1.0) -> Tensor:
    """Return the gradient of mean(error ** 2), in float32.

    ``error``: any shape, floating point. The backward pass runs in its
    dtype, on the loss times ``scale``. (E7.3)
    """
    error = error.detach().requires_grad_()
    loss = error.square().mean() * scale
    (gradient,) = torch.autograd.grad(loss, error)
    return gradient.float() / scale


# --8<-- [end:scaled]


def main() -> None:
    """Print one gradient, whose exact value is 2e-8, with and without scaling."""
    for dtype in (torch.float16, torch.bfloat16):
        error = torch.full((1_000_000,), 0.01, dtype=dtype)
        for scale in (1.0, 1024.0):
            print(dtype, scale, f"{scaled_gradient(error, scale)[0].item():.2g}")


if __name__ == "__main__":
    main()
