"""Joins the pages' own machinery to MkDocs: directives, downloads, generated files."""

from __future__ import annotations

from pathlib import Path

from markdown import Extension
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from scripts import catalogue, directives, page_build
from scripts.blocks import BlockError
from scripts.paths import LANGUAGES

_current: directives.PageContext | None = None


def _page() -> directives.PageContext:
    assert _current is not None, "no page is being built"
    return _current


def directive_extension() -> Extension:
    """The Markdown extension that carries out directives on the page being built."""
    return directives.DirectiveExtension(_page, PluginError)


def add_published_files(files: Files, config: MkDocsConfig) -> Files:
    """Snippets to download, and the benchmarks' code."""
    for name, text in catalogue.published_files().items():
        files.append(File.generated(config, name, content=text))
    return files


def prepare(markdown: str, page: Page) -> str:
    """The page's Markdown ready for rendering, and the context that its directives see.

    Raises PluginError, naming page and line, where an include does not exist.
    """
    global _current
    source = page.file.src_uri
    _current = directives.context_for(source, page.url, page.file.content_string)
    if source.partition("/")[0] not in LANGUAGES or not source.endswith(".md"):
        return markdown
    # MkDocs has taken the front matter off; empty lines in its place keep line numbers right.
    above = page.file.content_string.count("\n") - markdown.count("\n")
    path = Path(page.file.abs_src_path or source)
    try:
        return page_build.prepared("\n" * above + markdown, path, source)
    except BlockError as error:
        raise PluginError(str(error)) from error
