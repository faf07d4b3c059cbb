"""The one way into what this project makes: `python -m scripts.build COMMAND`.

Commands print what they changed and exit with 1 where a check fails.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

if __package__ in (None, ""):
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from scripts import records
from scripts.paths import DOCS, ROOT, TIMINGS, pages, shown


def site(arguments: argparse.Namespace) -> int:
    """Build the site into site/, strictly."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--clean"]
    if arguments.folder:
        command += ["--site-dir", str(Path(arguments.folder).resolve())]
    return subprocess.run(command, cwd=ROOT, env=mkdocs_environment()).returncode


def serve(arguments: argparse.Namespace) -> int:
    """Serve the site with live reload."""
    command = [sys.executable, "-m", "mkdocs", "serve", "--livereload", "-a", arguments.address]
    try:
        return subprocess.run(command, cwd=ROOT, env=mkdocs_environment()).returncode
    except KeyboardInterrupt:
        return 0


def mkdocs_environment() -> dict[str, str]:
    """The environment for MkDocs: without the banner about MkDocs 2."""
    return {**os.environ, "NO_MKDOCS_2_WARNING": "1"}


def outputs(arguments: argparse.Namespace) -> int:
    """Write what blocks print into the pages; with --check only tell which differ."""
    from scripts import outputs as writer
    from scripts.blocks import BlockError
    from scripts.page_runs import BlockFailure

    chosen = [_page(name) for name in arguments.pages] or pages()
    try:
        changed = writer.write(chosen, check=arguments.check)
    except (BlockFailure, BlockError) as error:
        print(error, file=sys.stderr)
        return 1
    for name in changed:
        print(f"{name}: {'outputs differ; run `make outputs`' if arguments.check else 'written'}")
    if not changed:
        print(f"outputs of {len(chosen)} pages are up to date")
    return 1 if changed and arguments.check else 0


def agree(arguments: argparse.Namespace) -> int:
    """Take both languages of pages as agreed; with --check only tell what is not."""
    from scripts import pairs
    from scripts.blocks import BlockError

    try:
        if arguments.check:
            for name in pairs.page_names():
                pairs.compare(name)
            messages = pairs.disagreements()
            return _tell(messages, "all pairs are agreed")
        changed = pairs.agree([pairs.name_of(name) for name in arguments.pages])
    except (pairs.PairError, BlockError) as error:
        print(error, file=sys.stderr)
        return 1
    print("\n".join(f"{name}: agreed" for name in changed) or "all pairs were agreed already")
    return 0


def timings(arguments: argparse.Namespace) -> int:
    """Check every record: unedited, and of the code as it is now."""
    try:
        messages = [m for each in records.load_all() if (m := records.staleness(each))]
    except records.RecordError as error:
        messages = [str(error)]
    return _tell(messages, "all records are up to date")


def _tell(messages: list[str], otherwise: str) -> int:
    print("\n".join(messages) or otherwise, file=sys.stderr if messages else sys.stdout)
    return 1 if messages else 0


def forget(arguments: argparse.Namespace) -> int:
    """Take benchmarks that no longer exist out of the records."""
    found = False
    for path in sorted(TIMINGS.glob("*.json")):
        try:
            record = records.read(path)
        except records.RecordError as error:
            return _tell([str(error)], "")
        kept = {
            key: entry
            for key, entry in record["benchmarks"].items()
            if key.partition("@")[0] not in arguments.benchmarks
        }
        if len(kept) < len(record["benchmarks"]):
            found = True
            records.replace(path, {**record, "benchmarks": kept})
            print(f"{shown(path)}: written")
    if not found:
        print(f"no record holds {', '.join(arguments.benchmarks)}", file=sys.stderr)
    return 0 if found else 1


def environment(arguments: argparse.Namespace) -> int:
    """Print this machine as records describe it."""
    from scripts import measuring

    print(json.dumps(measuring.environment(arguments.device), indent=1, ensure_ascii=False))
    return 0


def clean(arguments: argparse.Namespace) -> int:
    """Delete what builds and tests leave behind (not .venv)."""
    for name in (
        "site",
        ".figure_cache",
        ".notebook_cache",
        ".pytest_cache",
        ".ruff_cache",
        ".mypy_cache",
        ".hypothesis",
    ):
        shutil.rmtree(ROOT / name, ignore_errors=True)
    return 0


def _page(name: str) -> Path:
    for candidate in (ROOT / name, DOCS / name, Path(name)):
        if candidate.is_file():
            return candidate.resolve()
    raise SystemExit(f"there is no page {name}")


def main(argv: list[str] | None = None) -> int:
    """Carry out a command; its exit status."""
    parser = argparse.ArgumentParser(prog="python -m scripts.build", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(function: object, *flags: str, **positional: str) -> argparse.ArgumentParser:
        name = function.__name__  # type: ignore[attr-defined]
        made = commands.add_parser(name, help=function.__doc__)
        made.set_defaults(run=function)
        for flag in flags:
            made.add_argument(flag, action="store_true")
        for key, explanation in positional.items():
            made.add_argument(key, nargs="*", help=explanation)
        return made

    command(site).add_argument("--folder", help="where to, instead of site/")
    command(serve).add_argument("--address", default="localhost:8000")
    command(outputs, "--check", pages="pages, all if none is named")
    command(agree, "--check", pages="pages below the language, such as effective/operators.md")
    command(timings)
    command(forget).add_argument("benchmarks", nargs="+", help="such as part/chapter/idea")
    command(environment).add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    command(clean)
    arguments = parser.parse_args(argv)
    status: int = arguments.run(arguments)
    return status


if __name__ == "__main__":
    sys.exit(main())
