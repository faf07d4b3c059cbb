"""The hooks that MkDocs calls while it builds. What they do is in the modules that they call."""

import sys
from pathlib import Path
from typing import Any

ROOT = str(Path(__file__).resolve().parent.parent)
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)

from mkdocs.config.defaults import MkDocsConfig  # noqa: E402
from mkdocs.exceptions import PluginError  # noqa: E402
from mkdocs.plugins import event_priority  # noqa: E402
from mkdocs.structure.files import Files  # noqa: E402
from mkdocs.structure.nav import Navigation  # noqa: E402
from mkdocs.structure.pages import Page  # noqa: E402

from scripts import (  # noqa: E402
    glossary,
    line_breaks,
    mathml,
    mkdocs_pages,
    offline,
    search_index,
    site_languages,
)
from scripts.paths import LANGUAGES  # noqa: E402


def on_config(config: MkDocsConfig, **_: Any) -> None:
    """The search needs the terms of these pages, and Markdown the directives."""
    if ROOT not in sys.path:
        sys.path.insert(0, ROOT)
    glossary.teach_jieba()
    config.markdown_extensions.append(mkdocs_pages.directive_extension())  # type: ignore[arg-type]


def on_files(files: Files, config: MkDocsConfig, **_: Any) -> Files:
    """The site also offers snippets, and the code of the benchmarks."""
    return mkdocs_pages.add_published_files(files, config)


def on_nav(nav: Navigation, **_: Any) -> Navigation:
    """Previous and next pages stay in one language."""
    return site_languages.separate(nav)


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, **_: Any) -> str:
    """Adds downloads, and sets the language of what Markdown's extensions write."""
    site_languages.set_markdown_texts(config, page)
    return mkdocs_pages.prepare(markdown, page)


def on_page_content(html: str, page: Page, **_: Any) -> str:
    """Formulas become MathML, and long names may break on a phone."""
    try:
        return line_breaks.breakable(mathml.replace_formulas(html))
    except mathml.InvalidFormula as error:
        raise PluginError(f"{page.file.src_uri}: {error}") from error


@event_priority(-50)
def on_page_context(
    context: Any, page: Page, config: MkDocsConfig, nav: Navigation, **_: Any
) -> Any:
    """Gives the page the navigation, names and links of its language."""
    return site_languages.localize(context, nav, config, page)


def on_post_page(output: str, page: Page, **_: Any) -> str:
    """Lets the page search its own language, and fetch nothing from elsewhere."""
    language = site_languages.language_of(page.file.src_uri)
    return search_index.point_to_index(offline.without_outside_scripts(output), language)


def on_template_context(context: Any, template_name: str, config: MkDocsConfig, **_: Any) -> Any:
    """The 404 page belongs to no language; the sitemap lists alternates."""
    nav = context["nav"]
    context["sitemap"] = site_languages.sitemap_entries(nav, config)
    return site_languages.localize(context, nav, config, None)


def on_post_template(output_content: str, template_name: str, **_: Any) -> str:
    """The 404 page searches both languages."""
    if template_name != "404.html":
        return output_content
    return search_index.point_to_index(output_content, None)


@event_priority(-100)  # after the search plugin has written its index
def on_post_build(config: MkDocsConfig, **_: Any) -> None:
    """Divides the search index by language."""
    search_index.write(Path(config.site_dir), LANGUAGES)
