"""The figures that the notes give, and what the records say of them (docs/data/claims.yml)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from html import escape
from pathlib import Path

from scripts import data_files, formats
from scripts.data_files import DataError, Text, inline_html
from scripts.paths import DATA, shown
from scripts.records import QUANTITIES, Measured, RecordError, Summary, Where
from scripts.texts import say
from scripts.timing_views import tab_label

TOLERANCE = 1.5  # a claim holds while the gain is within this factor of the stated gain

_FIELDS = ("point", "stated", "setting", "ratio", "benchmark", "where", "slow", "fast")


class ClaimError(Exception):
    """A claim that the records can't test; the message says where and why."""


@dataclass(frozen=True)
class Claim:
    """A stated speed-up, and the measurement that tests it.

    `quantity` is what is saved: time, or memory. `ratio` is None where the notes say
    "better" and give no figure.
    """

    name: str
    point: str
    stated: Text
    setting: Text
    ratio: float | None
    benchmark: str
    where: Where
    slow: str
    fast: str
    quantity: str = "time"


def verdict(stated: float | None, measured: Summary) -> str:
    """`holds`, `smaller`, `larger` or `does not hold`, from a stated and a measured ratio.

    The gain over 1 is what counts: 1.3 stated holds from 1.2 to 1.45, 100 from 67 to 149.
    A gain that the lower quartile does not show is none. Where no figure is stated, any
    gain holds.
    """
    if measured.median <= 1 or measured.first_quartile < 1:
        return "does not hold"
    if stated is None:
        return "holds"
    gain, stated_gain = measured.median - 1, stated - 1
    if gain < stated_gain / TOLERANCE:
        return "smaller"
    return "larger" if gain > stated_gain * TOLERANCE else "holds"


@lru_cache(maxsize=2)
def _load(path: Path, modified: int) -> dict[str, Claim]:
    entries = data_files.read(path)
    if not isinstance(entries, dict):
        raise DataError(f"{shown(path)}: expected claims by name, such as `E4.2-unbind:`")
    return {name: _claim(name, entry, f"{shown(path)}, {name}") for name, entry in entries.items()}


def _claim(name: str, entry: object, where: str) -> Claim:
    given = data_files.fields(entry, where, _FIELDS, ("quantity",))
    ratio, case, quantity = given["ratio"], given["where"], given.get("quantity", "time")
    if ratio is not None and (not isinstance(ratio, int | float) or ratio <= 1):
        raise DataError(f"{where}, ratio: expected null or a gain above 1; got {ratio!r}")
    if quantity not in QUANTITIES:
        raise DataError(f"{where}, quantity: expected one of {QUANTITIES}; got {quantity!r}")
    if not isinstance(case, dict):
        raise DataError(f"{where}, where: expected a value for each axis; got {case!r}")
    return Claim(
        name=name,
        point=data_files.string(given["point"], f"{where}, point"),
        stated=data_files.text(given["stated"], f"{where}, stated"),
        setting=data_files.text(given["setting"], f"{where}, setting", names_only=True),
        ratio=None if ratio is None else float(ratio),
        benchmark=data_files.string(given["benchmark"], f"{where}, benchmark"),
        where=case,
        slow=data_files.string(given["slow"], f"{where}, slow"),
        fast=data_files.string(given["fast"], f"{where}, fast"),
        quantity=str(quantity),
    )


def load(path: Path = DATA / "claims.yml") -> dict[str, Claim]:
    """Every claim by name, as the file has them now; DataError where one is incomplete."""
    return _load(path, path.stat().st_mtime_ns)


def claim_html(claim: Claim, measured: list[Measured], language: str) -> str:
    """The box of a claim: what is stated, in which setting, what each machine measured."""
    rows = []
    for each in measured:
        try:
            ratio = each.ratio(claim.slow, claim.fast, claim.where, claim.quantity)
        except RecordError as error:
            raise ClaimError(f"docs/data/claims.yml: {claim.name}: {error}") from error
        if ratio is None:
            continue
        kind = verdict(claim.ratio, ratio)
        times = say("times", language)
        quartiles = ""
        if claim.quantity == "time":
            low, high = formats.ratio(ratio.first_quartile), formats.ratio(ratio.third_quartile)
            quartiles = f" <small>({say('quartiles', language)} {low}–{high})</small>"
        rows.append(
            f"<tr><td>{escape(tab_label(each, language))}</td>"
            f"<td><b>{formats.ratio(ratio.median)}{times}</b>{quartiles}</td>"
            f'<td class="verdict verdict-{kind.replace(" ", "-")}">{say(kind, language)}</td></tr>'
        )
    if not rows:
        raise ClaimError(
            f"docs/data/claims.yml: no record measures {claim.name}: "
            f"make bench ONLY={claim.benchmark}"
        )
    head = "".join(
        f'<th scope="col">{say(key, language)}</th>' for key in ("machine", "measured", "verdict")
    )
    stated = inline_html(claim.stated.in_language(language))
    setting = inline_html(claim.setting.in_language(language))
    title = say("claim" if claim.ratio else "claim without figure", language)
    colon = "：" if language == "zh" else ": "
    return (
        f'<div class="admonition claim" id="claim-{claim.name.lower()}">'
        f'<p class="admonition-title">{title}</p>'
        f"<p><b>{say('claimed', language)}</b>{colon}{stated}<br>"
        f"<b>{say('setting', language)}</b>{colon}{setting}</p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )
