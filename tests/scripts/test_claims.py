from __future__ import annotations

from pathlib import Path

import pytest

from scripts import claims, records
from scripts.claims import Claim, ClaimError, verdict
from scripts.data_files import DataError
from scripts.records import Summary
from tests.projects import Project

CLAIM = """
E1.1-loop:
  point: E1.1
  stated: {en: "`sum` is twice as fast", zh: "`sum` 快一倍"}
  setting: {en: "500 × 10 <small>", zh: "500 × 10 <small>"}
  ratio: 2
  benchmark: part/chapter/idea
  where: {rows: 500}
  slow: loop
  fast: sum
"""


@pytest.mark.parametrize(
    ("stated", "measured", "expected"),
    [
        (1.3, 1.19, "smaller"),
        (1.3, 1.21, "holds"),
        (1.3, 1.44, "holds"),
        (1.3, 1.46, "larger"),
        (100, 66, "smaller"),
        (100, 68, "holds"),
        (100, 149, "holds"),
        (100, 150, "larger"),
        (2, 1.0, "does not hold"),
        (2, 0.5, "does not hold"),
        (2, 1.01, "smaller"),
        (None, 1.01, "holds"),
        (None, 1.0, "does not hold"),
    ],
)
def test_verdicts(stated: float | None, measured: float, expected: str) -> None:
    assert verdict(stated, Summary(measured, measured, measured)) == expected


@pytest.mark.parametrize("stated", [1.5, None])
def test_a_gain_within_the_spread_is_none(stated: float | None) -> None:
    assert verdict(stated, Summary(1.5, 0.99, 2.0)) == "does not hold"
    assert verdict(stated, Summary(1.5, 1.0, 2.0)) == "holds"


def test_a_claim_is_read(project: Project) -> None:
    path = project.write("docs/data/claims.yml", CLAIM)
    claim = claims.load(path)["E1.1-loop"]
    assert (claim.ratio, claim.where, claim.quantity) == (2.0, {"rows": 500}, "time")
    assert claim.stated.en == "`sum` is twice as fast"
    path.write_text(CLAIM.replace("ratio: 2", "ratio: 3"), encoding="utf-8")
    assert claims.load(path)["E1.1-loop"].ratio == 3.0


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("  ratio: 2\n", "", 'docs/data/claims.yml, E1.1-loop: "ratio" is missing'),
        ("ratio: 2", "ratoi: 2", '"ratio" is missing'),
        ("  point:", "  extra: 1\n  point:", 'unknown key "extra"'),
        ("ratio: 2", "ratio: fast", "ratio: expected null or a gain above 1; got 'fast'"),
        ("ratio: 2", "ratio: 0.5", "ratio: expected null or a gain above 1; got 0.5"),
        ("{rows: 500}", "rows", "where: expected a value for each axis; got 'rows'"),
        (', zh: "`sum` 快一倍"', "", 'stated: "zh" is missing'),
        ("`sum` 快一倍", "twice as fast", "stated, zh: no Chinese"),
        ("  fast: sum", "  fast: sum\n  quantity: size", "quantity: expected one of"),
        (CLAIM, "- a\n", "docs/data/claims.yml: expected claims by name"),
        ("ratio: 2", "ratio: 2\n  ratio: 3", "given twice"),
    ],
)
def test_claims_that_are_refused(project: Project, old: str, new: str, message: str) -> None:
    path = project.write("docs/data/claims.yml", CLAIM.replace(old, new))
    with pytest.raises(DataError) as caught:
        claims.load(path)
    assert "docs/data/claims.yml" in str(caught.value)
    assert message in str(caught.value)


@pytest.fixture
def claim(project: Project) -> Claim:
    return claims.load(project.write("docs/data/claims.yml", CLAIM))["E1.1-loop"]


def case(slow: float, fast: float, rows: int = 500) -> dict[str, object]:
    return {"where": {"rows": rows}, "samples": {"loop": [slow] * 3, "sum": [fast] * 3}}


def measured(path: Path) -> list[records.Measured]:
    return records.load_all(path.parent)


@pytest.mark.parametrize(
    ("slow", "en", "zh"),
    [
        (2.0, ">holds<", ">成立<"),
        (1.2, ">smaller than claimed<", ">比所说的小<"),
        (5.0, ">larger than claimed<", ">比所说的大<"),
        (0.9, ">does not hold here<", ">在该机器上不成立<"),
    ],
)
def test_the_box_says_what_was_measured(
    project: Project, claim: Claim, slow: float, en: str, zh: str
) -> None:
    project.record([case(slow, 1.0)], machine="a")
    found = measured(project.record([case(2.0, 1.0)], machine="b"))
    html = claims.claim_html(claim, found, "en")
    assert html.count("<tr>") == 3
    assert "<code>sum</code> is twice as fast" in html
    assert "500 × 10 &lt;small&gt;" in html
    assert en in html
    assert "Test CPU, 4" in html
    assert zh in claims.claim_html(claim, found, "zh")


def test_a_claim_that_no_record_measures(project: Project, claim: Claim) -> None:
    left_out = {
        "where": {"rows": 500},
        "samples": {"loop": [1.0]},
        "missing": {"sum": {"reason": "x"}},
    }
    found = measured(project.record([left_out]))
    with pytest.raises(ClaimError, match=r"claims\.yml: no record measures E1\.1-loop: make bench"):
        claims.claim_html(claim, found, "en")


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (case(1, 1, rows=5), "was not measured at {'rows': 500}; there are {'rows': [5]}"),
        (
            {"where": {"rows": 500}, "samples": {"loop": [1.0]}},
            "part/chapter/idea has no contender 'sum': it has loop",
        ),
        (
            {"where": {"rows": 500, "width": 1}, "samples": {"loop": [1.0], "sum": [1.0]}},
            "`where` leaves width open",
        ),
    ],
)
def test_a_claim_that_does_not_fit_its_benchmark(
    project: Project, claim: Claim, record: dict[str, object], message: str
) -> None:
    found = measured(project.record([record]))
    with pytest.raises(ClaimError) as caught:
        claims.claim_html(claim, found, "en")
    assert str(caught.value).startswith("docs/data/claims.yml: E1.1-loop: ")
    assert message in str(caught.value)
