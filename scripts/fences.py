"""Finds the fences of a Markdown page, wherever they stand and whatever they are called."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_OPENING = re.compile(r"^(?P<indent>[ \t>]*)(?P<marker>`{3,}|~{3,})[ \t]*(?P<info>[^`]*?)[ \t]*$")
_LANGUAGE = re.compile(r"\{[^}]*?\.(?P<attribute>[\w#+-]+)|\.?(?P<plain>[\w#+.-]+)(?=[\s{]|$)")

PYTHON_NAMES = frozenset({"python", "py", "python3", "py3", "ipython", "ipython3"})
SHELL_NAMES = frozenset({"sh", "bash", "shell"})


@dataclass(frozen=True)
class Fence:
    """A fenced block. Lines count from 1; `body` has the fence's indentation taken off."""

    line: int
    indent: str
    marker: str
    info: str
    body: tuple[str, ...]
    last_line: int

    @property
    def language(self) -> str:
        """The language in lower case, `python` and `sh` for their other names, '' for none.

        `python title="x"` and `{.python #id}` are Python; `title="x"` names no language.
        """
        match = _LANGUAGE.match(self.info)
        language = (match["attribute"] or match["plain"]).lower() if match else ""
        if language in PYTHON_NAMES:
            return "python"
        return "sh" if language in SHELL_NAMES else language


class UnclosedFence(Exception):
    """A fence without an end; `line` is where it starts."""

    def __init__(self, line: int) -> None:
        super().__init__(f"the fence that starts at line {line} has no end")
        self.line = line


def find_fences(text: str) -> list[Fence]:
    """Every fence of a page in order; raises UnclosedFence."""
    found: list[Fence] = []
    opening: re.Match[str] | None = None
    start = 0
    body: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if opening is None:
            opening = _OPENING.match(line)
            start, body = number, []
        elif _closes(line, opening["indent"], opening["marker"]):
            found.append(
                Fence(
                    start,
                    opening["indent"],
                    opening["marker"],
                    opening["info"],
                    tuple(body),
                    number,
                )
            )
            opening = None
        else:
            body.append(_without_indent(line, opening["indent"]))
    if opening is not None:
        raise UnclosedFence(start)
    return found


def marker_for(body: Iterable[str], marker: str = "```") -> str:
    """The marker, made longer where the body holds as many of its characters in a row."""
    runs = re.findall(re.escape(marker[0]) + "+", "\n".join(body))
    return marker[0] * max(len(marker), *(len(run) + 1 for run in runs), 0)


def _closes(line: str, indent: str, marker: str) -> bool:
    return line.startswith(indent) and line[len(indent) :].rstrip() == marker


def _without_indent(line: str, indent: str) -> str:
    if line.startswith(indent):
        return line[len(indent) :]
    return "" if not line.strip(" \t>") else line.lstrip()
