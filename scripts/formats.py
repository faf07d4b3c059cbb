"""How measured numbers are written."""

from __future__ import annotations

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_BYTES = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B"))


def significant(value: float, digits: int) -> str:
    """The value rounded to that many significant digits, without an exponent."""
    text = f"{value:.{digits}g}"
    return f"{float(text):,.0f}" if "e" in text else f"{float(text):g}"


def seconds(value: float, digits: int = 3) -> str:
    """A time with the unit that suits it: 0.00123 is `1.23 ms`."""
    return _with_unit(value, digits, _UNITS)


def size_in_bytes(value: float, digits: int = 3) -> str:
    """An amount of memory with the unit that suits it: 201_326_592 is `201 MB`."""
    return _with_unit(value, digits, _BYTES)


def _with_unit(value: float, digits: int, units: tuple[tuple[float, str], ...]) -> str:
    rounded = float(f"{value:.{digits}g}")
    scale, unit = next((each for each in units if rounded >= each[0]), units[-1])
    return f"{significant(value / scale, digits)} {unit}"


def ratio(value: float) -> str:
    """A ratio with as many digits as it deserves: 0.043, 1.04, 3.8, 38, 380."""
    if value >= 99.5:
        return significant(value, 2)
    if value >= 9.95:
        return f"{value:.0f}"
    if value >= 1.95:
        return f"{value:.1f}"
    return f"{value:.2f}" if value >= 0.1 else significant(value, 2)


def ratios(values: list[float]) -> str:
    """One or more machines' ratios: 38, or 38–52 where they differ."""
    low, high = ratio(min(values)), ratio(max(values))
    return low if low == high else f"{low}–{high}"


def size(value: object) -> str:
    """A size on an axis: 50,000 for large numbers, else as it is."""
    if isinstance(value, int) and abs(value) >= 10_000:
        return f"{value:,}"
    return str(value)


def tick(value: object) -> str:
    """A size under a chart's axis, where room is short: 50k, 2M."""
    if isinstance(value, int):
        for scale, unit in ((10**6, "M"), (10**3, "k")):
            if value >= 10 * 10**3 and value >= scale and value % (scale // 10) == 0:
                return f"{value / scale:g}{unit}"
    return str(value)
