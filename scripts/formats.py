"""How measured numbers are written."""

from __future__ import annotations

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def significant(value: float, digits: int) -> str:
    """The value rounded to that many significant digits, without an exponent."""
    text = f"{value:.{digits}g}"
    return f"{float(text):,.0f}" if "e" in text else f"{float(text):g}"


def seconds(value: float, digits: int = 3) -> str:
    """A time with the unit that suits it: 0.00123 is `1.23 ms`."""
    for scale, unit in _UNITS:
        if float(f"{value:.{digits}g}") >= scale:
            break
    return f"{significant(value / scale, digits)} {unit}"


def ratio(value: float) -> str:
    """A ratio with as many digits as it deserves: 1.04, 3.8, 38, 380."""
    if value >= 99.5:
        return significant(value, 2)
    if value >= 9.95:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 1.95 else f"{value:.2f}"


def size(value: object) -> str:
    """A size on an axis: 50,000 for large formats, else as it is."""
    if isinstance(value, int) and abs(value) >= 10_000:
        return f"{value:,}"
    return str(value)
