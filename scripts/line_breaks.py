"""Where long names may break on a narrow screen."""

import re

# A name in a sentence or a table cell; in blocks of code every word has its own element.
_LONG_NAME = re.compile(r"(?<=<code>)[\w.]{18,}(?=</code>)")
_SEAM = re.compile(r"(?<=[a-z0-9])(?=\.)|(?<=[a-z0-9]_)(?=[a-z])|(?<=[a-z])(?=[A-Z])")


def breakable(page: str) -> str:
    """The HTML of a page whose long names may break before a dot, after a _, before a capital."""
    return _LONG_NAME.sub(lambda match: _SEAM.sub("<wbr>", match[0]), page)
