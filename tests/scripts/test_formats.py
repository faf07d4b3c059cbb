from __future__ import annotations

import pytest

from scripts import formats


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (1.2345, 3, "1.23"),
        (1234.5, 3, "1,230"),
        (99.96, 3, "100"),
        (0.00123, 2, "0.0012"),
        (5, 3, "5"),
    ],
)
def test_significant(value: float, digits: int, text: str) -> None:
    assert formats.significant(value, digits) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.00123, "1.23 ms"),
        (1.0, "1 s"),
        (0.9996, "1 s"),
        (0.9994, "999 ms"),
        (12.345, "12.3 s"),
        (4321.0, "4,320 s"),
        (2.5e-6, "2.5 µs"),
        (9.996e-7, "1 µs"),
        (3.21e-8, "32.1 ns"),
        (3e-10, "0.3 ns"),
        (0.0, "0 ns"),
    ],
)
def test_seconds(value: float, text: str) -> None:
    assert formats.seconds(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0432, "0.043"),
        (0.5, "0.50"),
        (1.0, "1.00"),
        (1.944, "1.94"),
        (1.96, "2.0"),
        (9.94, "9.9"),
        (9.96, "10"),
        (38.4, "38"),
        (99.4, "99"),
        (99.6, "100"),
        (104.0, "100"),
        (384.0, "380"),
        (12345.0, "12,000"),
    ],
)
def test_ratio(value: float, text: str) -> None:
    assert formats.ratio(value) == text


def test_ratios() -> None:
    assert formats.ratios([38.4]) == "38"
    assert formats.ratios([51.0, 38.4, 44.0]) == "38–51"
    assert formats.ratios([38.4, 38.1]) == "38"


@pytest.mark.parametrize(
    ("value", "text"), [(500, "500"), (9999, "9999"), (10_000, "10,000"), ("a", "a"), (0.5, "0.5")]
)
def test_size(value: object, text: str) -> None:
    assert formats.size(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (50, "50"),
        (5000, "5000"),
        (10_000, "10k"),
        (15_500, "15.5k"),
        (12_345, "12345"),
        (2_000_000, "2M"),
        ("a", "a"),
        (0.5, "0.5"),
    ],
)
def test_tick(value: object, text: str) -> None:
    assert formats.tick(value) == text
