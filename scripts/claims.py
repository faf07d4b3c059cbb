"""The figures that the notes give, and what the records say of them (docs/data/claims.yml)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any

import yaml

from scripts import formats
from scripts.paths import DATA, shown
from scripts.records import Measured, RecordError, Summary, Where
from scripts.texts import Text, in_language, say
from scripts.timing_views import tab_label

TOLERANCE = 1.5  # a claim holds while the gain is within this factor of the stated gain

_FIELDS = {"point", "stated", "setting", "ratio", "benchmark", "where", "slow", "fast"}


class ClaimError(Exception):
    """A claim that can't be used; the message says where and why."""


@dataclass(frozen=True)
class Claim:
    """A stated speed-up, and the measurement that tests it."""

    name: str
    point: str
    stated: Text
    setting: Text
    ratio: float
    benchmark: str
    where: Where
    slow: str
    fast: str


def verdict(stated: float, measured: Summary) -> str:
    """`holds`, `smaller`, `larger` or `does not hold`, from a stated and a measured ratio.

    The gain over 1 is what counts: 1.3 stated holds from 1.2 to 1.45, 100 from 67 to 149.
    A gain that the lower quartile does not show is none.
    """
    if measured.median <= 1 or measured.first_quartile < 1:
        return "does not hold"
    gain, stated_gain = measured.median - 1, stated - 1
    if gain < stated_gain / TOLERANCE:
        return "smaller"
    return "larger" if gain > stated_gain * TOLERANCE else "holds"


def measured_ratio(claim: Claim, measured: Measured) -> Summary | None:
    """The ratio on one machine, None where it was not measured there."""
    return measured.find(claim.where)[0].ratio(claim.slow, claim.fast)


@lru_cache(maxsize=2)
def _load(path: Path, modified: int) -> dict[str, Claim]:
    entries: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    claims = {}
    for name, entry in entries.items():
        missing, unknown = _FIELDS - set(entry), set(entry) - _FIELDS
        if missing or unknown:
            raise ClaimError(
                f"{shown(path)}: {name} "
                + (f"lacks {', '.join(sorted(missing))}" if missing else "")
                + (f" has unknown {', '.join(sorted(unknown))}" if unknown else "")
            )
        claims[name] = Claim(name=name, **entry)
    return claims


def load(path: Path = DATA / "claims.yml") -> dict[str, Claim]:
    """Every claim by name, as the file has them now; ClaimError where one is incomplete."""
    return _load(path, path.stat().st_mtime_ns)


def claim_html(claim: Claim, measured: list[Measured], language: str) -> str:
    """The box of a claim: what is stated, in which setting, what each machine measured."""
    rows = []
    for each in measured:
        try:
            ratio = measured_ratio(claim, each)
        except RecordError as error:
            raise ClaimError(f"docs/data/claims.yml: {claim.name}: {error}") from error
        if ratio is None:
            continue
        kind = verdict(claim.ratio, ratio)
        times = say("times", language)
        rows.append(
            f"<tr><td>{escape(tab_label(each))}</td>"
            f"<td><b>{formats.ratio(ratio.median)}{times}</b> "
            f"<small>({say('quartiles', language)} {formats.ratio(ratio.first_quartile)}"
            f"–{formats.ratio(ratio.third_quartile)})</small></td>"
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
    stated = in_language(claim.stated, language, f"claim {claim.name}")
    setting = in_language(claim.setting, language, f"claim {claim.name}")
    colon = "：" if language == "zh" else ": "
    return (
        f'<div class="admonition claim" id="claim-{claim.name.lower()}">'
        f'<p class="admonition-title">{say("claim", language)}</p>'
        f"<p><b>{say('claimed', language)}</b>{colon}{escape(stated)}<br>"
        f"<b>{say('setting', language)}</b>{colon}{escape(setting)}</p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )
