"""The built files, without a browser."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlsplit
from xml.etree import ElementTree

import html5lib
import pytest

from scripts.paths import LANGUAGES
from tests.site.built import Site, page_addresses

ROOT_PAGE = ""
NOT_FOUND = "404.html"
CONTENT = page_addresses()
ALL = [ROOT_PAGE, NOT_FOUND, *CONTENT]
SITE_NAMES = {"zh": "PyTorch 实测", "en": "PyTorch, Measured"}


@cache
def _parse(path: Path) -> tuple[ElementTree.Element, tuple[str, ...]]:
    text = path.read_text(encoding="utf-8")
    parser = html5lib.HTMLParser(namespaceHTMLElements=False)
    tree = parser.parse(text)
    lines = text.splitlines()
    errors = tuple(
        f"line {line}: {code} {details} in {lines[line - 1].strip()[:100]!r}"
        for (line, _), code, details in parser.errors
    )
    return tree, errors


def _tree(site: Site, address: str) -> ElementTree.Element:
    return _parse(site.file(address))[0]


def _ids(site: Site, address: str) -> list[str]:
    return [e.attrib["id"] for e in _tree(site, address).iter() if "id" in e.attrib]


def _links(tree: ElementTree.Element) -> Iterator[tuple[str, str, str]]:
    """Every address on a page: tag, attribute, value."""
    for element in tree.iter():
        if not isinstance(element.tag, str):  # a comment
            continue
        for name in (
            "href",
            "src",
            "poster",
            "action",
            "data",
            "{http://www.w3.org/1999/xlink}href",
        ):
            if name in element.attrib:
                yield element.tag, name, element.attrib[name]
        for candidate in element.get("srcset", "").split(","):
            if candidate.strip():
                yield element.tag, "srcset", candidate.split()[0]


def _alternates(site: Site, address: str) -> dict[str, str]:
    return {
        link.attrib["hreflang"]: link.attrib["href"]
        for link in _tree(site, address).iter("link")
        if link.get("rel") == "alternate" and "hreflang" in link.attrib
    }


@pytest.mark.parametrize("address", ALL)
def test_parses_as_html_without_an_error(site: Site, address: str) -> None:
    assert not _parse(site.file(address))[1]


@pytest.mark.parametrize("address", ALL)
def test_ids_are_unique_and_references_resolve(site: Site, address: str) -> None:
    ids = Counter(_ids(site, address))
    assert not [each for each, count in ids.items() if count > 1]
    tree = _tree(site, address)
    names = ("for", "aria-labelledby", "aria-describedby", "aria-controls")
    referred = {
        each for e in tree.iter() for name in names for each in e.attrib.get(name, "").split()
    }
    # Material's label of the toc opens a checkbox that the navigation of a phone has.
    assert referred - set(ids) <= {"__toc"}


@pytest.mark.parametrize("address", ALL)
def test_links_and_anchors_resolve(site: Site, address: str) -> None:
    base = site.url + address
    broken = []
    for tag, name, value in _links(_tree(site, address)):
        target, anchor = urldefrag(urljoin(base, value))
        if not target.startswith(site.url):
            if urlsplit(target).netloc == urlsplit(site.url).netloc:
                broken.append(f"<{tag} {name}={value!r}> leaves the site's folder")
            continue
        inside = unquote(urlsplit(target.removeprefix(site.url)).path)
        if not site.file(inside).is_file():
            broken.append(f"<{tag} {name}={value!r}>: there is no such file")
        elif anchor and unquote(anchor) not in _ids(site, inside):
            broken.append(f"<{tag} {name}={value!r}>: there is no such anchor")
    assert not broken


@pytest.mark.parametrize("address", ALL)
def test_nothing_is_fetched_from_elsewhere(site: Site, address: str) -> None:
    tree = _tree(site, address)
    outside = [
        f"<{tag} {name}={value!r}>"
        for tag, name, value in _links(tree)
        if tag != "a" and urlsplit(value).netloc not in ("", urlsplit(site.url).netloc)
    ]
    styles = [style.text or "" for style in tree.iter("style")]
    styles += [e.attrib["style"] for e in tree.iter() if "style" in e.attrib]
    outside += [found for text in styles for found in _outside_css(text)]
    assert not outside


def test_style_sheets_fetch_nothing_from_elsewhere(site: Site) -> None:
    sheets = sorted(site.folder.rglob("*.css"))
    assert sheets
    assert not {
        sheet.name: found for sheet in sheets if (found := _outside_css(sheet.read_text("utf-8")))
    }


def _outside_css(text: str) -> list[str]:
    return re.findall(r"""(?:url\(\s*["']?|@import\s+["'])(?:https?:)?//[^)"']*""", text)


@pytest.mark.parametrize("address", CONTENT)
def test_a_page_speaks_one_language(site: Site, address: str) -> None:
    language = address[:2]
    tree = _tree(site, address)
    assert tree.attrib["lang"] == language
    title = tree.findtext("head/title") or ""
    assert title.strip().endswith(SITE_NAMES[language])
    description = tree.find("head/meta[@name='description']")
    assert description is not None
    assert bool(re.search("[一-鿿]", description.attrib["content"])) == (language == "zh")

    # The switcher and the head's alternates are the only ways to another language.
    others = [each for each in LANGUAGES if each != language]
    for element in tree.iter("a"):
        target = urljoin(site.url + address, element.get("href", "")).removeprefix(site.url)
        if target.startswith(tuple(f"{other}/" for other in others)):
            assert element.get("hreflang") == target[:2], f"{target} from {address}"

    logos = [a for a in tree.iter("a") if "md-logo" in a.get("class", "").split()]
    assert logos
    for logo in logos:
        assert urljoin(site.url + address, logo.attrib["href"]) == f"{site.url}{language}/"


@pytest.mark.parametrize("address", CONTENT)
def test_alternates_are_mutual(site: Site, address: str) -> None:
    own = _alternates(site, address)
    assert own[address[:2]] == site.url + address
    assert set(own) == {*LANGUAGES, "x-default"}
    for target in set(own.values()):
        assert _alternates(site, target.removeprefix(site.url)) == own


def test_readers_of_other_languages_get_the_root_page(site: Site) -> None:
    own = _alternates(site, ROOT_PAGE)
    assert own == {"zh": f"{site.url}zh/", "en": f"{site.url}en/", "x-default": site.url}


def test_sitemap_lists_every_page_with_its_alternates(site: Site) -> None:
    spaces = {
        "s": "http://www.sitemaps.org/schemas/sitemap/0.9",
        "x": "http://www.w3.org/1999/xhtml",
    }
    listed = {}
    for url in ElementTree.parse(site.folder / "sitemap.xml").getroot().findall("s:url", spaces):
        location = url.findtext("s:loc", namespaces=spaces) or ""
        listed[location.removeprefix(site.url)] = {
            link.attrib["hreflang"]: link.attrib["href"] for link in url.findall("x:link", spaces)
        }
    assert listed == {each: _alternates(site, each) for each in [ROOT_PAGE, *CONTENT]}


def test_not_found_works_at_any_depth(site: Site) -> None:
    tree = _tree(site, NOT_FOUND)
    for tag, name, value in _links(tree):
        own = value.startswith(("/sub/", "#")) or (tag == "a" and urlsplit(value).netloc)
        assert own, f"<{tag} {name}={value!r}>"
    sections = {section.get("lang"): section for section in tree.iter("section")}
    for language in LANGUAGES:
        links = [a.get("href") for a in sections[language].iter("a")]
        assert f"/sub/{language}/" in links


def test_an_index_holds_one_language(site: Site) -> None:
    for language in LANGUAGES:
        path = site.folder / language / "search" / "search_index.json"
        entries = json.loads(path.read_text(encoding="utf-8"))["docs"]
        found = {urldefrag(f"{language}/{entry['location']}")[0] for entry in entries}
        assert found == set(page_addresses(language))
        chinese = [e for e in entries if re.search("[一-鿿]", e["title"])]
        share = len(chinese) / len(entries)
        assert share > 0.5 if language == "zh" else share < 0.1
