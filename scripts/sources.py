"""The points of the source notes and what is wrong in them: docs/data/sources.yml.

``fault_html`` renders the boxes that stand beside the right way on the pages.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from scripts.data_files import (
    DataError,
    Text,
    check_language,
    fields,
    inline_html,
    items,
    read,
    string,
    text,
    version,
)
from scripts.paths import DATA, shown

SOURCES = DATA / "sources.yml"

TITLES = {
    "wrong": Text("The notes are wrong", "原笔记有误"),
    "missing": Text("Missing in the notes", "原笔记缺漏"),
    "outdated": Text("The notes are outdated", "原笔记已过时"),
    "unmeasured": Text("Not measured in the notes", "原笔记未作测量"),
}
KINDS = tuple(TITLES)

SAYS = Text("The notes", "原笔记")
RIGHT = Text("Right", "正确")
SINCE = Text("Since", "始于")


@dataclass(frozen=True)
class Notes:
    """One set of source notes."""

    id: str
    name: Text
    about: Text


@dataclass(frozen=True)
class Fault:
    """One thing that the notes get wrong, leave out, or do as was once done."""

    kind: str
    says: Text
    right: Text
    since: Text | None = None
    anchor: str | None = None


@dataclass(frozen=True)
class Point:
    """One point that the notes make, and where it lives on this site."""

    id: str
    chapter: str
    point: Text
    faults: tuple[Fault, ...] = ()


@dataclass(frozen=True)
class Sources:
    """All notes and all their points, in the order of the file."""

    notes: tuple[Notes, ...]
    points: tuple[Point, ...]

    def point(self, point_id: str) -> Point:
        """The point with this id; DataError names the ids that are near."""
        for point in self.points:
            if point.id == point_id:
                return point
        chapter = point_id.split(".")[0] + "."
        near = [p.id for p in self.points if p.id.startswith(chapter)]
        near = near or [note.id + "…" for note in self.notes]
        raise DataError(f'there is no source point "{point_id}"; there are {", ".join(near)}')

    def chapter(self, chapter: str) -> tuple[Point, ...]:
        """The points of a chapter such as ``effective/operators``, in order."""
        found = tuple(point for point in self.points if point.chapter == chapter)
        if not found:
            raise DataError(
                f'no source point is of chapter "{chapter}"; '
                f"the chapters are {', '.join(self.chapters)}"
            )
        return found

    @property
    def chapters(self) -> tuple[str, ...]:
        """The chapters, in the order in which points first name them."""
        return tuple(dict.fromkeys(point.chapter for point in self.points))


def load(path: Path = SOURCES) -> Sources:
    """Read and check the points; DataError names the entry and the field."""
    top = fields(read(path), shown(path), ("notes", "points"))
    notes = []
    for number, entry in enumerate(items(top["notes"], f"{shown(path)}, notes"), 1):
        where = f"{shown(path)}, notes {number}"
        given = fields(entry, where, ("id", "name", "about"))
        notes.append(
            Notes(
                id=_match(given["id"], r"[A-Z]", f"{where}, id", "one capital letter"),
                name=text(given["name"], f"{where}, name"),
                about=text(given["about"], f"{where}, about"),
            )
        )
    _once((note.id for note in notes), f"{shown(path)}, notes")
    letters = "".join(note.id for note in notes)
    points = [
        _point(entry, f"{shown(path)}, point {number}", path, letters)
        for number, entry in enumerate(items(top["points"], f"{shown(path)}, points"), 1)
    ]
    _once((point.id for point in points), f"{shown(path)}, points")
    return Sources(tuple(notes), tuple(points))


def _point(entry: object, where: str, path: Path, letters: str) -> Point:
    if isinstance(entry, dict) and isinstance(entry.get("id"), str):
        where = f"{shown(path)}, {entry['id']}"
    given = fields(entry, where, ("id", "chapter", "point"), ("faults",))
    faults: list[Fault] = []
    if "faults" in given:
        for number, fault in enumerate(items(given["faults"], f"{where}, faults"), 1):
            faults.append(_fault(fault, f"{where}, fault {number}"))
    return Point(
        id=_match(
            given["id"],
            rf"[{letters}]\d+(\.\d+)?",
            f"{where}, id",
            f"the letter of one of the notes ({', '.join(letters)}) and a number, as E4.2",
        ),
        chapter=_match(
            given["chapter"], r"[a-z]+/[a-z]+", f"{where}, chapter", "part/chapter in small letters"
        ),
        point=text(given["point"], f"{where}, point"),
        faults=tuple(faults),
    )


def _fault(entry: object, where: str) -> Fault:
    given = fields(entry, where, ("kind", "says", "right"), ("since", "anchor"))
    return Fault(
        kind=_match(given["kind"], "|".join(KINDS), f"{where}, kind", f"one of {', '.join(KINDS)}"),
        says=text(given["says"], f"{where}, says"),
        right=text(given["right"], f"{where}, right"),
        since=text(given["since"], f"{where}, since", names_only=True)
        if "since" in given
        else None,
        anchor=_match(
            given["anchor"],
            r"[a-z][-_0-9a-z]*",
            f"{where}, anchor",
            "the id of a section, without the hash sign",
        )
        if "anchor" in given
        else None,
    )


def _match(value: object, pattern: str, where: str, expected: str) -> str:
    value = string(value, where)
    if not re.fullmatch(pattern, value):
        raise DataError(f"{where}: {value!r} is not {expected}")
    return value


def _once(ids: Iterable[str], where: str) -> None:
    seen: set[str] = set()
    for one in ids:
        if one in seen:
            raise DataError(f"{where}: {one} stands twice; ids are unique")
        seen.add(one)


def sources() -> Sources:
    """The points of this project, read again only when the file changes."""
    return _load_version(version(SOURCES))


@lru_cache(maxsize=1)
def _load_version(_: int) -> Sources:
    return load()


def fault_html(
    point_id: str, language: str, index: int | None = None, among: Sources | None = None
) -> str:
    """The boxes for the faults of a point, or for its fault number ``index`` (from 1).

    A box says what the notes say, what is right, and since when. DataError when the
    point is unknown or has no such fault.
    """
    check_language(language)
    point = (among or sources()).point(point_id)
    if not point.faults:
        raise DataError(f"{point_id} has no faults in {shown(SOURCES)}; leave the box out")
    if index is None:
        chosen: tuple[Fault, ...] = point.faults
    elif 1 <= index <= len(point.faults):
        chosen = (point.faults[index - 1],)
    else:
        raise DataError(
            f"{point_id} has no fault {index}; its faults are numbered 1 to {len(point.faults)}"
        )
    return "\n".join(_box(fault, point_id, language) for fault in chosen)


def _box(fault: Fault, point_id: str, language: str) -> str:
    rows = [(SAYS, fault.says), (RIGHT, fault.right)]
    if fault.since:
        rows.append((SINCE, fault.since))
    lines = [
        f'<div class="admonition fault fault-{fault.kind}">',
        f'<p class="admonition-title">{TITLES[fault.kind].in_language(language)} '
        f'<span class="fault-point">{point_id}</span></p>',
        "<dl>",
    ]
    for label, said in rows:
        lines.append(f"<dt>{label.in_language(language)}</dt>")
        lines.append(f"<dd>{inline_html(said.in_language(language))}</dd>")
    return "\n".join([*lines, "</dl>", "</div>"])
