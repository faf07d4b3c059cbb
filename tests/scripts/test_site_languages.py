from __future__ import annotations

from typing import Any

import pytest
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Navigation, get_navigation

from scripts import site_languages

NAMES = {
    "zh": {"name": "中文", "short": "中", "site_name": "实测", "site_description": "描述"},
    "en": {"name": "English", "short": "EN", "site_name": "Measured", "site_description": "About"},
}


def _config(**options: Any) -> MkDocsConfig:
    config = MkDocsConfig()
    config.load_dict(
        {
            "site_name": "x",
            "site_url": "https://example.org/sub/",
            "docs_dir": "docs",
            "extra": {"languages": NAMES},
            **options,
        }
    )
    assert not config.validate()[0]
    return config


@pytest.fixture
def config() -> MkDocsConfig:
    return _config(
        nav=[
            {"zh": ["zh/index.md", {"部分": ["zh/a.md", "zh/only.md"]}]},
            {"en": ["en/index.md", {"Part": ["en/a.md"]}]},
        ]
    )


@pytest.fixture
def nav(config: MkDocsConfig) -> Navigation:
    sources = ["index.md", "zh/index.md", "zh/a.md", "zh/only.md", "en/index.md", "en/a.md"]
    files = Files([File(source, "docs", "site", True) for source in sources])
    return get_navigation(files, config)


@pytest.mark.parametrize(
    ("path", "language"),
    [("zh/a.md", "zh"), ("en/index.md", "en"), ("index.md", None), ("english/a.md", None)],
)
def test_a_path_tells_its_language(path: str, language: str | None) -> None:
    assert site_languages.language_of(path) == language


def test_previous_and_next_stay_in_one_language(nav: Navigation) -> None:
    chain = [
        (
            page.previous_page and page.previous_page.url,
            page.url,
            page.next_page and page.next_page.url,
        )
        for page in site_languages.separate(nav).pages
    ]
    assert chain == [
        (None, "zh/", "zh/a/"),
        ("zh/", "zh/a/", "zh/only/"),
        ("zh/a/", "zh/only/", None),
        (None, "en/", "en/a/"),
        ("en/", "en/a/", None),
    ]


def test_a_branch_holds_one_language(nav: Navigation) -> None:
    own = site_languages.branch(nav, "en")
    assert [page.url for page in own.pages] == ["en/", "en/a/"]
    assert own.homepage is own.pages[0]
    assert len(own.items) == 2
    assert not site_languages.branch(nav, None).items


def _links(nav: Navigation, config: MkDocsConfig, source: str) -> dict[str, str]:
    found = site_languages.alternates(nav, config, source)
    return {
        entry["lang"]: entry["link"].removeprefix("https://example.org/sub/") for entry in found
    }


def test_alternates_are_the_same_page(nav: Navigation, config: MkDocsConfig) -> None:
    same = {"zh": "zh/a/", "en": "en/a/", "x-default": "en/a/"}
    assert _links(nav, config, "zh/a.md") == _links(nav, config, "en/a.md") == same


def test_home_pages_share_the_root_page(nav: Navigation, config: MkDocsConfig) -> None:
    homes = {"zh": "zh/", "en": "en/", "x-default": ""}
    for source in ("index.md", "zh/index.md", "en/index.md"):
        assert _links(nav, config, source) == homes


def test_a_page_without_a_twin_has_no_alternate(nav: Navigation, config: MkDocsConfig) -> None:
    assert _links(nav, config, "zh/only.md") == {"zh": "zh/only/"}


def test_a_page_gets_its_own_configuration(nav: Navigation, config: MkDocsConfig) -> None:
    page = nav.pages[1]
    context: Any = site_languages.localize({}, nav, config, page)
    assert context["config"].site_name == "实测"
    assert context["config"].site_description == "描述"
    assert context["config"].theme["language"] == "zh"
    assert [entry["current"] for entry in context["config"].extra["alternate"]][:2] == [True, False]
    assert config.site_name == "x"  # other pages are not touched
    assert "alternate" not in config.extra


def test_markdown_writes_in_the_pages_language(nav: Navigation) -> None:
    config = _config(markdown_extensions=[{"toc": {"permalink": "#"}}])
    site_languages.set_markdown_texts(config, nav.pages[0])
    assert config.mdx_configs["toc"] == {"permalink": "#", "permalink_title": "本节链接"}
    site_languages.set_markdown_texts(config, nav.pages[-1])
    assert config.mdx_configs["toc"]["permalink_title"] == "Link to this section"


def test_sitemap_starts_with_the_root_page(nav: Navigation, config: MkDocsConfig) -> None:
    entries = site_languages.sitemap_entries(nav, config)
    assert [entry["link"] for entry in entries][:2] == [
        "https://example.org/sub/",
        "https://example.org/sub/zh/",
    ]
    assert len(entries) == 6
