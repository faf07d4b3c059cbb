"""Two languages in one build: each page belongs to the language that its path starts with.

MkDocs knows one language only. These functions give each page the navigation, names and links of
its own language: a page of docs/zh never shows a page of docs/en, except through the switcher.
"""

import copy
from collections.abc import Mapping
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.nav import Navigation, Section
from mkdocs.structure.pages import Page

from scripts.paths import LANGUAGES

# What Python-Markdown writes into pages, for its extensions' options.
MARKDOWN_TEXTS: dict[str, dict[str, dict[str, str]]] = {
    "en": {
        "toc": {"permalink_title": "Link to this section"},
        "footnotes": {"BACKLINK_TITLE": "Back to footnote {} in the text"},
    },
    "zh": {
        "toc": {"permalink_title": "本节链接"},
        "footnotes": {"BACKLINK_TITLE": "回到正文中的脚注 {}"},
    },
}
DEFAULT_LANGUAGE = "en"  # of the root page and the 404 page, and of readers of other languages


def language_of(path: str) -> str | None:
    """The language of a source path or of a URL below the site's root; None for the root page."""
    first = path.partition("/")[0]
    return first if first in LANGUAGES else None


def set_markdown_texts(config: MkDocsConfig, page: Page) -> None:
    """Before a page's Markdown is rendered: what the extensions write is in its language."""
    texts = MARKDOWN_TEXTS[language_of(page.file.src_uri) or DEFAULT_LANGUAGE]
    for extension, options in texts.items():
        config.mdx_configs[extension] = {**config.mdx_configs.get(extension, {}), **options}


def separate(nav: Navigation) -> Navigation:
    """Cuts the chain of previous and next pages where it passes from one language to another."""
    for page in nav.pages:
        language = language_of(page.file.src_uri)
        if page.next_page and language_of(page.next_page.file.src_uri) != language:
            page.next_page = None
        if page.previous_page and language_of(page.previous_page.file.src_uri) != language:
            page.previous_page = None
    return nav


def branch(nav: Navigation, language: str | None) -> Navigation:
    """The navigation of one language, with its home page; an empty one for no language."""
    items = [item for item in nav.items if isinstance(item, Section) and item.title == language]
    if language is None or len(items) != 1:
        return Navigation([], [])
    pages = [page for page in nav.pages if language_of(page.file.src_uri) == language]
    own = Navigation(items[0].children, pages)
    own.homepage = next(page for page in pages if page.file.src_uri == f"{language}/index.md")
    return own


def alternates(nav: Navigation, config: MkDocsConfig, source: str) -> list[dict[str, Any]]:
    """The same page in every language that has it, and the one for readers of neither.

    ``source`` is the page's path below docs/. Each entry has what Material's templates read
    (``lang``, ``link``, ``name``), and ``url`` below the site's root and ``current``.
    """
    language = language_of(source)
    rest = source.partition("/")[2] if language else source
    pages = {page.file.src_uri: page for page in nav.pages}
    names: Mapping[str, Mapping[str, str]] = config.extra["languages"]
    base = (config.site_url or "/").rstrip("/") + "/"
    found = [
        {
            "lang": each,
            "name": names[each]["name"],
            "short": names[each]["short"],
            "url": page.url,
            "link": base + page.url,
            "current": each == language,
        }
        for each in LANGUAGES
        if (page := pages.get(f"{each}/{rest}"))
    ]
    default = next((entry for entry in found if entry["lang"] == DEFAULT_LANGUAGE), None)
    root = {"url": "", "link": base}
    if rest == "index.md" or default:
        target = root if rest == "index.md" else default
        assert target is not None
        found.append(
            {"lang": "x-default", "name": "", "current": not language}
            | {key: target[key] for key in ("url", "link")}
        )
    return found


def localize(context: Any, nav: Navigation, config: MkDocsConfig, page: Page | None) -> Any:
    """The template context of a page with the navigation, names and links of its language.

    The configuration is shared by all pages, so the page gets a copy of it.
    """
    source = page.file.src_uri if page else ""
    language = language_of(source)
    own = copy.copy(config)
    own["extra"] = {**config.extra, "alternate": alternates(nav, config, source) if page else []}
    if language:
        own["theme"] = {**config.theme, "language": language}
        names = config.extra["languages"][language]
        own["site_name"], own["site_description"] = names["site_name"], names["site_description"]
    context["config"] = own
    context["nav"] = branch(nav, language)
    return context


def sitemap_entries(nav: Navigation, config: MkDocsConfig) -> list[dict[str, Any]]:
    """Every page of the site with its alternates: the root page first."""
    sources = ["index.md", *(page.file.src_uri for page in nav.pages)]
    base = (config.site_url or "/").rstrip("/") + "/"
    urls = {page.file.src_uri: page.url for page in nav.pages} | {"index.md": ""}
    return [
        {"link": base + urls[source], "alternates": alternates(nav, config, source)}
        for source in sources
    ]
