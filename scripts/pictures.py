"""Figures and tables that snippets make while the site is built."""

from __future__ import annotations

import hashlib
import re
import sys
import types
from functools import lru_cache
from html import escape
from importlib.metadata import version
from pathlib import Path
from typing import Any

from scripts import figures
from scripts.data_files import inline_html
from scripts.paths import SNIPPETS
from scripts.texts import in_language, say


def load_snippet(name: str) -> types.ModuleType:
    """The snippet as its file is now; LookupError where there is none."""
    path = SNIPPETS / f"{name}.py"
    if not path.is_file():
        raise LookupError(f"there is no snippets/{name}.py")
    return _load(path, hashlib.sha256(path.read_bytes()).hexdigest())


@lru_cache(maxsize=256)
def _load(path: Path, content: str) -> types.ModuleType:
    module = types.ModuleType(f"picture_{path.stem}_{content[:8]}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module
    code = compile(path.read_text(encoding="utf-8"), str(path), "exec", dont_inherit=True)
    exec(code, module.__dict__)
    return module


def picture_html(name: str, alt: str, language: str, identifier: str) -> str:
    """The snippet's `draw(language, width)` as a figure, captioned."""
    module = load_snippet(name)
    _require(module, name, "draw")
    svg = _drawn(module, language, identifier, alt)
    return f'<figure class="picture">{svg}<figcaption>{inline_html(alt)}</figcaption></figure>'


def _drawn(module: types.ModuleType, language: str, identifier: str, alt: str) -> str:
    source = Path(str(module.__file__)).read_text(encoding="utf-8")
    content = repr((source, version("torch"), language, identifier, alt))
    return figures.remembered(
        content,
        lambda: figures.responsive_svg(
            lambda width: module.draw(language, width), identifier, alt.replace("`", "")
        ),
    )


def _require(module: types.ModuleType, name: str, *definitions: str) -> None:
    for each in definitions:
        if not hasattr(module, each):
            raise LookupError(f"snippets/{name}.py defines no `{each}`")


def table_html(name: str, language: str) -> str:
    """The snippet's `rows()` as a table with its `COLUMNS` as heads."""
    module = load_snippet(name)
    _require(module, name, "rows", "COLUMNS")
    rows, columns = _rows(module), module.COLUMNS
    head = "".join(
        f'<th scope="col">{inline_html(in_language(text, language, f"{name}: column {key}"))}</th>'
        for key, text in columns.items()
    )
    body = []
    for row in rows:
        if row.keys() != columns.keys():
            raise LookupError(
                f"snippets/{name}.py: a row has the columns {', '.join(row)}, "
                f"but COLUMNS has {', '.join(columns)}"
            )
        body.append("".join(_table_cell(row[key], language) for key in columns))
    return (
        f'<div class="timing-scroll" tabindex="0" role="region" '
        f'aria-label="{escape(say("scrollable table", language))}">'
        f"<table><thead><tr>{head}</tr></thead><tbody>"
        + "".join(f"<tr>{cells}</tr>" for cells in body)
        + "</tbody></table></div>"
    )


@lru_cache(maxsize=64)
def _rows(module: types.ModuleType) -> Any:
    return module.rows()


def _table_cell(value: object, language: str) -> str:
    if isinstance(value, bool):
        text = say("yes" if value else "no", language)
        return f'<td><span role="img" aria-label="{text}">{"✓" if value else "✗"}</span></td>'
    if isinstance(value, dict):
        value = in_language(value, language, "a table cell")
    # Long names such as NotImplementedError may break between their words.
    html = re.sub(r"(?<=[a-z])(?=[A-Z][a-z])", "<wbr>", inline_html(str(value)))
    return f"<td>{html}</td>"
