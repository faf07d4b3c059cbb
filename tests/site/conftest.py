"""The site, built once and served below a path, as GitHub Pages serves it; and a browser."""

from __future__ import annotations

import functools
import http.server
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from scripts.paths import ROOT
from tests.site.built import MOUNT, Site, Visitor

if TYPE_CHECKING:
    from playwright.sync_api import Browser

CHROMIUMS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)


class _Handler(http.server.SimpleHTTPRequestHandler):
    """Serves a folder below MOUNT, with its 404.html for what it lacks."""

    def translate_path(self, path: str) -> str:
        clean = path.partition("?")[0].partition("#")[0]
        inside = clean.removeprefix(MOUNT[:-1]) if clean.startswith(MOUNT) else "/none"
        return super().translate_path(inside)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        body = (Path(self.directory) / "404.html").read_bytes()
        self.send_response(code)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("site")
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(_Handler, directory=str(folder))
    )
    url = f"http://127.0.0.1:{server.server_port}{MOUNT}"
    # Without --quiet: it silences the warnings before --strict can count them.
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "SITE_URL": url, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, f"mkdocs build --strict failed:\n{built.stdout}{built.stderr}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield Site(folder, url)
    server.shutdown()
    server.server_close()


def find_chromium() -> str | None:
    """The browser that the system has; CHROMIUM names another."""
    names = (os.environ.get("CHROMIUM", ""), *CHROMIUMS)
    return next((path for name in names if name and (path := shutil.which(name))), None)


def required() -> bool:
    """Whether a missing browser is an error, as it is in CI."""
    return any(os.environ.get(name) in ("1", "true") for name in ("REQUIRE_BROWSER", "CI"))


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    executable = find_chromium()
    if executable is None:
        reason = "no Chromium found: install chromium, or set CHROMIUM to its path"
        if required():
            pytest.fail(f"{reason} (REQUIRE_BROWSER or CI is set)")
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=executable,
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        yield launched
        launched.close()


@pytest.fixture
def visit(browser: Browser, site: Site) -> Iterator[Callable[..., Visitor]]:
    """Makes visitors: ``visit(width=360, color_scheme="dark", locale="zh-CN")``."""
    visitors = []

    def new(width: int = 1280, **options: Any) -> Visitor:
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        context.set_default_timeout(10_000)
        visitors.append(Visitor(context, site))
        return visitors[-1]

    yield new
    for visitor in visitors:
        visitor.context.close()


@pytest.fixture(scope="session")
def desk(browser: Browser, site: Site) -> Iterator[Visitor]:
    """One visitor at a desk for all pages, because a new one takes time."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    yield Visitor(context, site)
    context.close()


@pytest.fixture(scope="session")
def phone(browser: Browser, site: Site) -> Iterator[Visitor]:
    """One visitor with a phone for all pages."""
    context = browser.new_context(viewport={"width": 360, "height": 740}, has_touch=True)
    yield Visitor(context, site)
    context.close()
