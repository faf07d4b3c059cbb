"""What happens to a page's Markdown before MkDocs renders it."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from scripts.blocks import included_files, text_blocks
from scripts.texts import say


def prepared(markdown: str, page: Path, source_path: str) -> str:
    """The page with its includes filled in, and a link to download each included snippet.

    What readers see in a fence is then what the tests run. `source_path` is the page's
    path below docs/. Raises BlockError, naming page and line, where an include can't be
    resolved.
    """
    lines = markdown.splitlines()
    language = source_path.partition("/")[0]
    up = "../" * source_path.count("/")
    for block in reversed(text_blocks(markdown, page)):
        files = included_files(block.fence)
        if not files:
            continue
        indent = block.fence.indent
        links = " ".join(
            f"[{say('download', language, file=PurePosixPath(name).name)}]"
            f'({up}snippets/{name}){{ download="{PurePosixPath(name).name}" }}'
            for name in files
        )
        last = (block.output_fence or block.fence).last_line
        lines[last:last] = ["", f"{indent}{links}", f"{indent}{{ .snippet-source }}", ""]
        lines[block.fence.line : block.fence.last_line - 1] = [
            (indent + line).rstrip() for line in block.source.splitlines()
        ]
    return "\n".join(lines)
