"""Reads tars as on Windows: no pread, spawned workers. Arguments: the tars."""

from __future__ import annotations

import json
import os
import sys
import tarfile

if hasattr(os, "pread"):  # also in the workers, which import this file anew
    del os.pread

from torch.utils.data import DataLoader

from snippets.effective.loading.indexed_tar import ExactBatches, IndexedTar


def as_bytes(data: bytes) -> bytes:
    assert not hasattr(os, "pread")
    return data


def main() -> None:
    expected = {}
    for number, path in enumerate(sys.argv[1:]):
        with tarfile.open(path) as tar:
            for member in tar:
                file = tar.extractfile(member)
                assert file is not None
                expected[number, member.name] = file.read()
    data = IndexedTar(sys.argv[1:], as_bytes)
    data[0]
    loader = DataLoader(
        data,
        batch_sampler=ExactBatches(len(data), 4, shuffle=True),
        num_workers=2,
        multiprocessing_context="spawn",
    )
    wrong = read = 0
    first_of_second = len([key for key in expected if key[0] == 0])
    for batch in loader:
        for name, data_, number, valid in zip(
            batch.name, batch.data, batch.number.tolist(), batch.valid.tolist(), strict=True
        ):
            read += valid
            wrong += expected[int(number >= first_of_second), name] != data_
    print(json.dumps({"read": read, "wrong": wrong}))


if __name__ == "__main__":
    main()
