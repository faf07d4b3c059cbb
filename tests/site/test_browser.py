"""The site as a reader's browser shows it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

import pytest

from tests.site.built import Site, Visitor, page_addresses

pytestmark = pytest.mark.browser

Visit = Callable[..., Visitor]

CONTENT = page_addresses()
ALL = ["", "404.html", *CONTENT]
CHAPTER = "effective/stability/"

# What reaches further right than the screen, unless it can be scrolled or is meant to be cut.
TOO_WIDE = """() => {
  const scrolls = element => {
    for (let e = element.parentElement; e && e !== document.body; e = e.parentElement)
      if (getComputedStyle(e).overflowX !== "visible") return true
    return false
  }
  return [...document.querySelectorAll("main *, footer *, header *")]
    .filter(e => e.checkVisibility() && e.getBoundingClientRect().right > innerWidth + 1)
    .filter(e => !e.closest("svg, math, .md-sidebar, .md-search") && !scrolls(e))
    .map(e => e.outerHTML.slice(0, 120))
}"""


def _set_palette(visitor: Visitor, scheme: str) -> None:
    visitor.page.evaluate("scheme => document.body.dataset.mdColorScheme = scheme", scheme)


# ------------------------------------------------------------------ every page


@pytest.mark.parametrize("address", ALL)
def test_loads_without_complaint_or_outside_request(desk: Visitor, address: str) -> None:
    page = desk.open("" if address == "" else address)
    page.wait_for_load_state("networkidle")
    assert not desk.complaints
    assert not desk.outside


@pytest.mark.parametrize("address", ALL)
def test_fits_a_phone(phone: Visitor, address: str) -> None:
    page = phone.open(address)
    page.evaluate("for (const each of document.querySelectorAll('main details')) each.open = true")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert not page.evaluate(TOO_WIDE)


@pytest.mark.parametrize("address", ALL)
def test_is_accessible_in_both_palettes(desk: Visitor, address: str) -> None:
    from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]

    page = desk.open(address)
    # Each word of a block is an element, which takes minutes. The home page shows one block, and
    # test_colours.py has the colours of all of them.
    context = {"exclude": [[".highlight pre"]]} if len(address) > 3 else None
    everything = {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21aa", "best-practice"]}
    contrast = {"type": "rule", "values": ["color-contrast"]}
    for scheme, rules in (("default", everything), ("slate", contrast)):
        _set_palette(desk, scheme)
        options = {"resultTypes": ["violations"], "runOnly": rules}
        results = Axe().run(page, context=context, options=options)
        serious = [
            f"{scheme}: {violation['id']}: {node['target']} {node['failureSummary']}"
            for violation in results.response["violations"]
            if violation["impact"] in ("serious", "critical")
            for node in violation["nodes"]
        ]
        assert not serious, "\n".join(serious)


# ------------------------------------------------------------------ languages


@pytest.mark.parametrize(("own", "other"), [("en", "zh"), ("zh", "en")])
@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without scripts"])
def test_switching_stays_on_the_page(visit: Visit, own: str, other: str, scripts: bool) -> None:
    visitor = visit(java_script_enabled=scripts)
    page = visitor.open(f"{own}/{CHAPTER}")
    page.click(f"header a[hreflang={other}]")
    page.wait_for_url(f"**/{other}/{CHAPTER}")
    assert page.get_attribute("html", "lang") == other


def test_switching_stays_in_the_section(visit: Visit) -> None:
    visitor = visit()
    page = visitor.open(f"en/{CHAPTER}")
    anchor = page.get_attribute(".md-content h2[id] >> nth=-1", "id")
    page = visitor.open(f"en/{CHAPTER}#{anchor}")
    page.click("header a[hreflang=zh]")
    page.wait_for_url(f"**/zh/{CHAPTER}#{anchor}")
    assert page.evaluate("scrollY") > 0


@pytest.mark.parametrize(
    ("locale", "language"), [("zh-CN", "zh"), ("zh-TW", "zh"), ("en-US", "en"), ("en-GB", "en")]
)
def test_root_page_goes_to_the_browsers_language(visit: Visit, locale: str, language: str) -> None:
    visitor = visit(locale=locale)
    page = visitor.open("")
    page.wait_for_url(f"**/sub/{language}/")
    assert page.evaluate("history.length") <= 2  # back does not lead to the root page again


def test_root_page_remembers_a_choice(visit: Visit) -> None:
    visitor = visit(locale="en-US")
    page = visitor.open(f"en/{CHAPTER}")
    page.click("header a[hreflang=zh]")
    page.wait_for_url(f"**/zh/{CHAPTER}")
    page = visitor.open("")
    page.wait_for_url("**/sub/zh/")


def test_root_page_waits_for_readers_of_other_languages(visit: Visit) -> None:
    visitor = visit(locale="fr-FR")
    page = visitor.open("")
    page.wait_for_load_state("networkidle")
    assert visitor.place == ""
    page.click("main a[hreflang=zh]")
    page.wait_for_url("**/sub/zh/")
    page = visitor.open("")
    page.wait_for_url("**/sub/zh/")


def test_root_page_has_plain_links(visit: Visit) -> None:
    visitor = visit(locale="zh-CN", java_script_enabled=False)
    page = visitor.open("")
    assert visitor.place == ""
    for language in ("zh", "en"):
        assert page.is_visible(f"main a[hreflang={language}]")
    page.click("main a[hreflang=en]")
    assert visitor.place == "en/"


def test_an_unknown_address_is_answered_in_both_languages(visit: Visit, site: Site) -> None:
    visitor = visit()
    response = visitor.page.goto(f"{site.url}zh/no/such/page/")
    assert response is not None
    assert response.status == 404
    page = visitor.page
    assert page.is_visible("section[lang=zh]")
    assert page.is_visible("section[lang=en]")
    assert page.evaluate("document.styleSheets.length") >= 3
    page.click("section[lang=zh] a")
    page.wait_for_url("**/sub/zh/")


# ------------------------------------------------------------------ search


def _search(visitor: Visitor, language: str, query: str) -> list[str]:
    """Where the results of a query lead, below the site's root."""
    page = visitor.open(f"{language}/?q={quote(query)}")
    page.wait_for_function(
        """() => {
          const list = document.querySelector(".md-search-result__list")
          const meta = document.querySelector(".md-search-result__meta").textContent
          return list.children.length || /No matching|没有找到/.test(meta)
        }"""
    )
    links = page.eval_on_selector_all(".md-search-result__link", "links => links.map(a => a.href)")
    plain = (unquote(urlsplit(link)._replace(query="").geturl()) for link in links)
    return [link.removeprefix(visitor.site.url) for link in plain]


@pytest.mark.parametrize("query", ["插值", "数值稳定性", "广播", "溢出", "双线性插值", "反向传播"])
def test_chinese_words_find_chinese_pages(desk: Visitor, query: str) -> None:
    found = _search(desk, "zh", query)
    assert found
    assert all(place.startswith("zh/") for place in found)
    # The English glossary has the Chinese terms too.
    assert all(place.startswith("en/") for place in _search(desk, "en", query))


@pytest.mark.parametrize("query", ["softmax", "overflow", "broadcasting", "cross_entropy"])
def test_english_words_find_english_pages(desk: Visitor, query: str) -> None:
    found = _search(desk, "en", query)
    assert found
    assert all(place.startswith("en/") for place in found)


def test_a_name_of_code_is_found_in_both_languages(desk: Visitor) -> None:
    for language in ("zh", "en"):
        found = _search(desk, language, "torch.softmax")
        assert found
        assert all(place.startswith(f"{language}/") for place in found)


def test_all_parts_of_a_word_are_asked_for(desk: Visitor) -> None:
    """Material would drop the end of 数值稳定性 and find whatever has 数值."""
    _search(desk, "zh", "数值稳定性")
    links = desk.page.eval_on_selector_all(".md-search-result__link", "all => all.map(a => a.href)")
    marked = [
        words[0].split() for link in links if (words := parse_qs(urlsplit(link).query).get("h"))
    ]
    assert marked
    assert all(words == ["数值", "稳定"] for words in marked)


def test_a_typed_query_leads_to_the_marked_section(visit: Visit) -> None:
    visitor = visit()
    page = visitor.open("zh/")
    page.click(".md-search__input")
    page.keyboard.insert_text("数值稳定性")
    page.keyboard.press("Shift")
    page.click(".md-search-result__link")
    page.wait_for_url("**/zh/**")
    page.wait_for_selector("article mark")
    assert "数值" in page.inner_text("article mark >> nth=0")
    assert not visitor.complaints


# ------------------------------------------------------------------ tools of a page


def test_copy_takes_the_code_alone(visit: Visit) -> None:
    visitor = visit(permissions=["clipboard-read", "clipboard-write"])
    page = visitor.open(f"en/{CHAPTER}")
    block = page.locator(".language-python:visible").first
    block.locator("button.md-clipboard, .md-code__button[data-md-type=copy]").first.click()
    page.wait_for_function("navigator.clipboard.readText().then(text => text.length > 0)")
    copied: str = page.evaluate("navigator.clipboard.readText()")
    code: str = block.locator("pre > code").first.evaluate("code => code.textContent")
    assert copied.strip() == code.strip()
    assert ">>>" not in copied
    assert not any(mark in copied for mark in ("​", "⁠", "--8<--"))


def test_first_visit_follows_the_system(visit: Visit) -> None:
    for preferred, scheme in (("light", "default"), ("dark", "slate")):
        page = visit(color_scheme=preferred).open("en/")
        assert page.get_attribute("body", "data-md-color-scheme") == scheme


def test_palette_is_chosen_once_for_both_languages(visit: Visit) -> None:
    visitor = visit(color_scheme="light")
    page = visitor.open("en/")
    colours = set()
    for _ in range(3):  # system, light, dark
        page.click("form[data-md-component=palette] label:visible")
        colours.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        if page.get_attribute("body", "data-md-color-scheme") == "slate":
            break
    assert len(colours) == 2
    for address in (f"en/{CHAPTER}", "zh/"):
        page = visitor.open(address)
        assert page.get_attribute("body", "data-md-color-scheme") == "slate"


def test_charts_follow_the_width(visit: Visit) -> None:
    charts = {}
    for width in (1280, 360):
        page = visit(width=width).open(f"en/{CHAPTER}")
        shown: list[Any] = page.eval_on_selector_all(
            ".chart", "all => all.filter(e => e.checkVisibility()).map(e => e.className)"
        )
        charts[width] = {name for each in shown for name in each.split()}
    assert charts == {1280: {"chart", "chart-wide"}, 360: {"chart", "chart-narrow"}}


def test_without_scripts_a_page_can_be_read(visit: Visit) -> None:
    page = visit(java_script_enabled=False).open(f"zh/{CHAPTER}")
    assert page.is_visible("article h1")
    assert page.is_visible(".md-nav--primary .md-nav__list a[href]")
    assert page.is_visible(".language-python pre")
