"""What happens to a page's Markdown before MkDocs renders it."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from scripts.blocks import included_files, text_blocks
from scripts.texts import say


def with_downloads(markdown: str, page: Path, source_path: str) -> str:
    """The page with a download link under each block that includes a snippet.

    `source_path` is the page's path below docs/. Raises BlockError, naming page and line,
    where an include can't be resolved.
    """
    lines = markdown.splitlines()
    language = source_path.partition("/")[0]
    up = "../" * source_path.count("/")
    for block in reversed(text_blocks(markdown, page)):
        files = included_files(block.fence)
        if not files:
            continue
        links = " ".join(
            f"[{say('download', language, file=PurePosixPath(name).name)}]"
            f'({up}snippets/{name}){{ download="{PurePosixPath(name).name}" }}'
            for name in files
        )
        last = (block.output_fence or block.fence).last_line
        paragraph = f"{block.fence.indent}{links}\n{block.fence.indent}{{ .snippet-source }}"
        lines[last:last] = ["", *paragraph.split("\n"), ""]
    return "\n".join(lines)
