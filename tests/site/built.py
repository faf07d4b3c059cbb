"""What the tests of the built site share: the site, its addresses, and its readers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripts.paths import DOCS, LANGUAGES

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

MOUNT = "/sub/"


@dataclass(frozen=True)
class Site:
    """The built site: where it lies, and where it is served."""

    folder: Path
    url: str

    def html(self, address: str) -> str:
        """The HTML of a page, by its address below the site's root."""
        return self.file(address).read_text(encoding="utf-8")

    def file(self, address: str) -> Path:
        """The file that an address below the site's root is served from."""
        folder = not address or address.endswith("/")
        return self.folder / (f"{address}index.html" if folder else address)


def page_addresses(language: str = "*") -> list[str]:
    """The addresses of all pages of a language or of both, below the site's root."""
    sources = [
        path.relative_to(DOCS).with_suffix("")
        for each in LANGUAGES
        if language in ("*", each)
        for path in sorted((DOCS / each).rglob("*"))
        if path.suffix in (".md", ".ipynb") or (path.suffix == ".py" and "labs" in path.parts)
    ]
    return [
        f"{(source.parent if source.name == 'index' else source).as_posix()}/" for source in sources
    ]


class Visitor:
    """A reader with a browser of their own, whose complaints and requests are kept."""

    def __init__(self, context: BrowserContext, site: Site) -> None:
        self.context = context
        self.site = site
        self.complaints: list[str] = []
        self.outside: list[str] = []
        context.on("request", self._check_request)
        context.on("console", self._note_console)
        context.on("weberror", lambda error: self.complaints.append(str(error.error)))
        self.page: Page = context.new_page()

    def _check_request(self, request: Any) -> None:
        if not request.url.startswith((self.site.url, "data:", "blob:")):
            self.outside.append(request.url)

    def _note_console(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def open(self, address: str) -> Page:
        """Goes to an address below the site's root, and forgets what was noted before."""
        self.complaints.clear()
        self.outside.clear()
        self.page.goto(self.site.url + address, wait_until="load")
        return self.page

    @property
    def place(self) -> str:
        """Where the reader is, below the site's root."""
        return self.page.url.removeprefix(self.site.url)
