"""A tar is a random-access file once its members' places are known (E6.6)."""

from __future__ import annotations

# --8<-- [start:imports]
import os
import tarfile

# --8<-- [end:imports]


# --8<-- [start:find]
def find_members(path: str) -> list[tuple[str, int, int]]:
    """Name, offset and size in bytes of each file in an uncompressed tar.

    Raises tarfile.ReadError if it is compressed or no tar.
    """
    with tarfile.open(path, "r:") as tar:
        return [(m.name, m.offset_data, m.size) for m in tar if m.isfile()]


# --8<-- [end:find]


# --8<-- [start:read]
def read_member(path: str, offset: int, size: int) -> bytes:
    """The bytes of a member, without a look at the rest of the tar."""
    file = os.open(path, os.O_RDONLY)
    try:
        return os.pread(file, size, offset)
    finally:
        os.close(file)


# --8<-- [end:read]


if __name__ == "__main__":
    import io
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "words.tar")
        with tarfile.open(path, "w") as tar:
            for word in ("one", "three", "five"):
                member = tarfile.TarInfo(f"{word}.txt")
                member.size = len(word)
                tar.addfile(member, io.BytesIO(word.encode()))
        for name, offset, size in find_members(path):
            print(name, offset, size, read_member(path, offset, size))
