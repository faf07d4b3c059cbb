"""A picture of what each floating-point type can hold (E7.1, E7.2)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
LEFT, RIGHT = -52.0, 46.0
LABELS = {
    "en": {"normal": "full precision", "subnormal": "subnormal: fewer digits"},
    "zh": {"normal": "完整精度", "subnormal": "次正规数：位数变少"},
}


def exponents(dtype: torch.dtype) -> tuple[float, float, float]:
    """Return log10 of the smallest subnormal, smallest normal and largest number.

    Raises TypeError where ``dtype`` is not a floating-point type. (E7.2)
    """
    info = torch.finfo(dtype)
    normal = math.log10(info.smallest_normal)
    return normal + math.log10(info.eps), normal, math.log10(info.max)


def draw(language: str = "en", width: float = 6.8) -> Figure:
    """Draw a bar for each type on a decimal scale; ``width`` is in inches.

    ``language`` is "en" or "zh", anything else raises KeyError. (E7.2)
    """
    from matplotlib.figure import Figure

    labels = LABELS[language]
    figure = Figure(figsize=(width, 2.5), layout="constrained")
    axes = figure.add_subplot()
    for row, dtype in enumerate(FLOATS):
        subnormal, normal, largest = exponents(dtype)
        start, end = max(normal, LEFT), min(largest, RIGHT)
        axes.barh(row, end - start, left=start, height=0.55, color="C0")
        if subnormal > LEFT:
            step = normal - subnormal
            axes.barh(row, step, left=subnormal, height=0.55, color="C1")
        else:
            info = torch.finfo(dtype)
            left = f"← {info.smallest_normal * info.eps:.1e}"
            style: dict[str, Any] = {"va": "center", "fontsize": 8}
            axes.text(-49, row - 0.47, left, **style)
            axes.text(38, row - 0.47, f"{info.max:.1e} →", ha="right", **style)
    for exponent in (-50, 39):
        axes.axvline(exponent, color="black", linestyle="--", linewidth=1)
        axes.text(exponent, -0.75, f"1e{exponent}", ha="center", fontsize=8)
    axes.set_xlim(LEFT, RIGHT)
    axes.set_ylim(len(FLOATS) - 0.5, -0.65)
    ticks = range(-40, 41, 20)
    axes.set_xticks(list(ticks), [f"1e{tick}" for tick in ticks], fontsize=8)
    names = [str(dtype).removeprefix("torch.") for dtype in FLOATS]
    axes.set_yticks(range(len(FLOATS)), names, fontsize=8)
    axes.tick_params(axis="y", length=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.barh(0, 0, color="C0", label=labels["normal"])
    axes.barh(0, 0, color="C1", label=labels["subnormal"])
    figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=8)
    return figure


def main() -> None:
    """Print the decimal exponents that the picture shows."""
    for dtype in FLOATS:
        print(dtype, [round(exponent, 1) for exponent in exponents(dtype)])


if __name__ == "__main__":
    main()
