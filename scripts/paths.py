"""Where things are in this project."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
DATA = DOCS / "data"
TIMINGS = DOCS / "timings"
SNIPPETS = ROOT / "snippets"
BENCHMARKS = ROOT / "tests" / "benchmarks"

LANGUAGES = ("zh", "en")


def pages(docs: Path = DOCS) -> list[Path]:
    """Every Markdown page of both languages, sorted."""
    return sorted(page for language in LANGUAGES for page in (docs / language).rglob("*.md"))


def shown(path: Path) -> str:
    """The path as messages show it: relative to the project, with slashes."""
    try:
        return path.resolve().relative_to(ROOT).as_posix()
    except ValueError:
        return path.as_posix()
