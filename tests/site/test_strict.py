"""A strict build refuses what would be broken for a reader, and says what and where."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.exceptions import Abort

from scripts.paths import LANGUAGES, ROOT

SOUND = "# Page {{ #page }}\n\n## Part {{ #part }}\n\n{}\n"


def _build(tmp_path: Path, text: str, extra: dict[str, str]) -> None:
    docs = tmp_path / "docs"
    pages = {f"{language}/{name}.md": "" for language in LANGUAGES for name in ("index", "page")}
    for name, content in {"index.md": "", **pages, "zh/page.md": text, **extra}.items():
        (docs / name).parent.mkdir(parents=True, exist_ok=True)
        (docs / name).write_text(SOUND.format(content), encoding="utf-8")
    nav = [
        {language: [name for name in pages if name.startswith(language)]} for language in LANGUAGES
    ]
    config = load_config(
        str(ROOT / "mkdocs.yml"),
        docs_dir=str(docs),
        site_dir=str(tmp_path / "site"),
        nav=nav,
        extra_css=[],
        extra_javascript=[],
        strict=True,
    )
    build(config)


def test_a_sound_site_is_built(tmp_path: Path) -> None:
    _build(tmp_path, "[that part](page.md#part) and $x^2$", {})
    assert "<math" in (tmp_path / "site" / "zh" / "page" / "index.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("text", "extra", "message"),
    [
        ("[x](page.md#missing)", {}, "#missing"),
        ("[x](#missing)", {}, "#missing"),
        ("[x](missing.md)", {}, "missing.md"),
        ("[x](../missing/)", {}, "missing/"),
        ("[x](/zh/page/)", {}, "/zh/page/"),
        ("", {"zh/forgotten.md": "x"}, "zh/forgotten.md"),
        (r"$\foo{x}$", {}, r"zh/page.md: \foo is not a known command"),
        ('```python\n--8<-- "missing.py"\n```', {}, "missing.py"),
        ('```python\n--8<-- "effective/operators/row_sum.py:missing"\n```', {}, "missing"),
        ('```python\n--8<-- "../README.md"\n```', {}, "README.md"),
    ],
)
def test_a_broken_site_is_not(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    text: str,
    extra: dict[str, str],
    message: str,
) -> None:
    with caplog.at_level(logging.WARNING, "mkdocs"), pytest.raises(Abort) as raised:
        _build(tmp_path, text, extra)
    assert message in caplog.text + str(raised.value)
