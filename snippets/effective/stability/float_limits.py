"""What each floating-point type can hold, asked of torch.finfo (E7.2)."""

# --8<-- [start:imports]
import torch

# --8<-- [end:imports]

# --8<-- [start:limits]
FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def limits(dtype: torch.dtype) -> dict[str, float]:
    """Return the largest number, the smallest ones, and eps.

    eps is the gap between 1 and the next number. Raises TypeError
    unless ``dtype`` is a floating-point type. (E7.2)
    """
    info = torch.finfo(dtype)
    return {
        "largest": info.max,
        "normal": info.smallest_normal,
        "subnormal": info.smallest_normal * info.eps,
        "eps": info.eps,
    }


# --8<-- [end:limits]


def main() -> None:
    """Print the limits of the four types."""
    for dtype in FLOATS:
        print(dtype, {name: f"{value:.4g}" for name, value in limits(dtype).items()})


if __name__ == "__main__":
    main()
