"""Reading the hand-written YAML of docs/data, with errors that name the place."""

import html
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import yaml

from scripts.paths import LANGUAGES, shown

HAN = re.compile(r"[\u3400-\u9fff]")


class DataError(ValueError):
    """A data file says something that the pages cannot use."""


class Text(NamedTuple):
    """One text in both languages."""

    en: str
    zh: str

    def in_language(self, language: str) -> str:
        """The text in ``language``, which is "en" or "zh"."""
        check_language(language)
        return self.zh if language == "zh" else self.en


class _Loader(yaml.SafeLoader):
    """SafeLoader that refuses a key given twice instead of keeping the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[object, object]:
        seen: set[object] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if key in seen:
                line = key_node.start_mark.line + 1
                raise DataError(f"line {line}: the key {key!r} is given twice; keep one")
            seen.add(key)
        return super().construct_mapping(node, deep)


def read(path: Path) -> object:
    """The contents of a YAML file; DataError names the file and the line."""
    try:
        source = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise DataError(f"{shown(path)}: there is no such file") from None
    try:
        return yaml.load(source, Loader=_Loader)
    except yaml.YAMLError as error:
        raise DataError(f"{shown(path)}: not valid YAML: {error}") from error
    except DataError as error:
        raise DataError(f"{shown(path)}: {error}") from error


def version(path: Path) -> int:
    """A number that changes when the file does, 0 when there is none: a key for caches."""
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:
        return 0


def fields(
    value: object, where: str, required: Iterable[str], optional: Iterable[str] = ()
) -> dict[str, object]:
    """``value`` as a mapping with all ``required`` keys and no unknown ones."""
    required, optional = tuple(required), tuple(optional)
    if not isinstance(value, dict):
        raise DataError(f"{where}: expected keys {', '.join(required)}; got {value!r}")
    for key in required:
        if key not in value:
            raise DataError(f'{where}: "{key}" is missing; add it')
    for key in value:
        if key not in required and key not in optional:
            known = ", ".join((*required, *optional))
            raise DataError(f'{where}: unknown key "{key}"; the keys are {known}')
    return value


def items(value: object, where: str) -> list[object]:
    """``value`` as a list that is not empty."""
    if not isinstance(value, list) or not value:
        raise DataError(f"{where}: expected a list with at least one entry; got {value!r}")
    return value


def string(value: object, where: str) -> str:
    """``value`` as one line of text without spaces around it."""
    if not isinstance(value, str) or not value.strip():
        raise DataError(f"{where}: expected a text; got {value!r} (quote it?)")
    if value != " ".join(value.split()):
        raise DataError(f"{where}: single spaces only, and none around the text: {value!r}")
    return value


def text(value: object, where: str, names_only: bool = False) -> Text:
    """``value`` as a text in both languages, each in its own script.

    With ``names_only`` the Chinese may do without Chinese characters, as "torch 2.0" does.
    """
    if not isinstance(value, dict):
        raise DataError(f'{where}: expected "en" and "zh"; got {value!r}')
    for language in LANGUAGES:
        if language not in value:
            raise DataError(f'{where}: "{language}" is missing; give both languages')
    fields(value, where, ("en", "zh"))
    both = Text(string(value["en"], f"{where}, en"), string(value["zh"], f"{where}, zh"))
    if HAN.search(both.en):
        raise DataError(f"{where}, en: Chinese characters in the English text: {both.en}")
    if not names_only and not HAN.search(both.zh):
        raise DataError(f"{where}, zh: no Chinese in the Chinese text: {both.zh}")
    for language, side in zip(("en", "zh"), both, strict=True):
        if side.count("`") % 2:
            raise DataError(f"{where}, {language}: a backtick is not closed: {side}")
    return both


def check_language(language: str) -> None:
    """ValueError for a language in which there are no pages."""
    if language not in LANGUAGES:
        raise ValueError(f"language is {language!r}; pages are in {', '.join(LANGUAGES)}")


def inline_html(source: str) -> str:
    """``source`` as HTML: what stands in backticks becomes code, all is escaped."""
    parts = source.split("`")
    return "".join(
        f"<code>{html.escape(part)}</code>" if place % 2 else html.escape(part)
        for place, part in enumerate(parts)
    )
