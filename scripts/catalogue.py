"""Every snippet: what it does, what it needs, how fast it is; and the files to download."""

from __future__ import annotations

import ast
import re
import sys
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any

from scripts import benchmark_texts, data_files, formats, records
from scripts.data_files import DataError, inline_html
from scripts.paths import BENCHMARKS, DATA, DOCS, SNIPPETS, TIMINGS, shown
from scripts.texts import in_language, say

_MARK = re.compile(r"^\s*#\s*-+8<-+\s*\[(start|end):[^\]]*\]\s*$")


class CatalogueError(LookupError):
    """A snippet without an entry, or an entry without its snippet."""


def snippet_files() -> list[str]:
    """Every snippet, as a path below snippets/."""
    return sorted(
        path.relative_to(SNIPPETS).as_posix()
        for path in SNIPPETS.rglob("*.py")
        if path.name != "__init__.py"
    )


def download_text(source: str) -> str:
    """A snippet as readers get it: without the section marks."""
    kept = [line for line in source.splitlines() if not _MARK.match(line)]
    text = "\n".join(kept).strip() + "\n"
    return re.sub(r"\n{4,}", "\n\n\n", text)


def published_files() -> dict[str, str]:
    """What the site offers beside its pages: URL below the root → text."""
    files = {
        f"snippets/{name}": download_text((SNIPPETS / name).read_text(encoding="utf-8"))
        for name in snippet_files()
    }
    for path in sorted(BENCHMARKS.rglob("test_*.py")):
        name = path.relative_to(BENCHMARKS).as_posix()
        files[f"benchmarks/{name}"] = path.read_text(encoding="utf-8")
    return files


def packages(source: str) -> list[str]:
    """The packages that a snippet imports, anywhere in it, without the standard library."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return sorted(found - set(sys.stdlib_module_names))


def entries(path: Path = DATA / "snippets.yml") -> dict[str, Any]:
    """docs/data/snippets.yml; CatalogueError unless it lists exactly the snippets there are."""
    found: dict[str, Any] = _load(path, path.stat().st_mtime_ns)
    files = set(snippet_files())
    if files - set(found):
        raise CatalogueError(f"{shown(path)}: add {', '.join(sorted(files - set(found)))}")
    if set(found) - files:
        raise CatalogueError(
            f"{shown(path)}: there is no {', '.join(sorted(set(found) - files))} in snippets/"
        )
    return found


@lru_cache(maxsize=2)
def _load(path: Path, modified: int) -> dict[str, Any]:
    found = data_files.read(path)
    if not isinstance(found, dict):
        raise DataError(f"{shown(path)}: expected snippets by name: `part/chapter/idea.py:`")
    for name, entry in found.items():
        where = f"{shown(path)}, {name}"
        given = data_files.fields(entry, where, ("does",), ("speed",))
        data_files.text(given["does"], f"{where}, does")
        if "speed" in given:
            data_files.fields(
                given["speed"], f"{where}, speed", ("benchmark", "slow", "fast", "where")
            )
    return found


def catalogue_html(language: str, to_root: str) -> str:
    """A table of all snippets for each chapter."""
    listed = entries()
    chapters: dict[str, list[str]] = {}
    for name in snippet_files():
        chapters.setdefault(name.rpartition("/")[0], []).append(name)
    parts = []
    for chapter, names in chapters.items():
        rows = "".join(_row(name, listed[name], language, to_root) for name in names)
        heads = "".join(
            f'<th scope="col">{say(key, language)}</th>'
            for key in ("file", "what it does", "what it needs", "speed")
        )
        link = f"{to_root}{language}/{chapter}/"
        parts.append(
            f'<h2 id="{chapter.replace("/", "-")}">'
            f'<a href="{link}">{escape(_title(chapter, language))}</a></h2>'
            f'<div class="timing-scroll" tabindex="0" role="region" '
            f'aria-label="{escape(say("scrollable table", language))}: {chapter}">'
            f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
        )
    return "".join(parts)


def _title(chapter: str, language: str) -> str:
    """The first heading of a chapter's page."""
    page = DOCS / language / f"{chapter}.md"
    if not page.is_file():
        raise CatalogueError(f"snippets/{chapter}/ has no page: write {shown(page)}")
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            return line.removeprefix("# ").partition("{")[0].strip()
    raise CatalogueError(f"{shown(page)} has no title: a line that starts with `# `")


def _row(name: str, entry: dict[str, Any], language: str, to_root: str) -> str:
    source = (SNIPPETS / name).read_text(encoding="utf-8")
    does = in_language(entry["does"], language, f"snippets.yml: {name}")
    needs = ", ".join(packages(source)) or "Python"
    speed = ""
    if "speed" in entry:
        speed = _speed(entry["speed"], language)
    link = f'<a href="{to_root}snippets/{name}" download><code>{name.rpartition("/")[2]}</code></a>'
    return f"<tr><td>{link}</td><td>{inline_html(does)}</td><td>{needs}</td><td>{speed}</td></tr>"


def _speed(speed: dict[str, Any], language: str) -> str:
    measured = records.of_benchmark(records.load_all(TIMINGS), speed["benchmark"])
    ratios = [
        ratio.median
        for each in measured
        if (ratio := each.ratio(speed["slow"], speed["fast"], speed["where"]))
    ]
    if not ratios:
        return ""
    texts = benchmark_texts.load()
    slow, fast = (
        texts.contender(speed["benchmark"], speed[key], language) for key in ("slow", "fast")
    )
    return escape(
        say("speed sentence", language, ratio=formats.ratios(ratios), slow=slow, fast=fast)
    )
