"""Nothing on a page may be fetched from another host."""

import re

# mkdocs-jupyter puts MathJax and Mermaid from a CDN on every notebook's page.
_OUTSIDE = r"[\"'](?:https?:)?//"
_SCRIPT = re.compile(r"<script\b([^>]*)>(.*?)</script>", re.DOTALL)
_OUTSIDE_ATTRIBUTES = re.compile(rf"\bsrc\s*=\s*{_OUTSIDE}|text/x-mathjax-config")
_OUTSIDE_IMPORT = re.compile(rf"\bimport\b[^;\n]*{_OUTSIDE}")


def without_outside_scripts(page: str) -> str:
    """The HTML of a page without the scripts that another host would serve."""

    def kept(match: re.Match[str]) -> str:
        attributes, code = match.groups()
        outside = _OUTSIDE_ATTRIBUTES.search(attributes) or _OUTSIDE_IMPORT.search(code)
        return "" if outside else match[0]

    return _SCRIPT.sub(kept, page)
