"""A file's bytes, whatever is done to it meanwhile."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from citewell.errors import UnreadableFile
from citewell.runtime.app import App
from citewell.service.library import read_file as module
from citewell.service.library.add import CHANGED, add_paths
from citewell.service.library.read_file import read_file


def test_pipe_in_the_place_of_a_file_is_refused(tmp_path: Path) -> None:
    """It does not wait for a writer that may never come."""
    os.mkfifo(tmp_path / "a.md")
    with pytest.raises(UnreadableFile, match="not a file"):
        read_file(tmp_path / "a.md", 100)


def test_more_bytes_than_allowed(tmp_path: Path) -> None:
    """By what the folder says of its size, and by what comes out where that is more."""
    (tmp_path / "a.md").write_bytes(b"x" * 101)
    with pytest.raises(UnreadableFile, match="101 bytes is more than the 100"):
        read_file(tmp_path / "a.md", 100)
    assert read_file(tmp_path / "a.md", 101).data == b"x" * 101
    with pytest.raises(UnreadableFile, match="allowed"):
        read_file(Path("/proc/self/maps"), 10)  # says that it is empty


def test_file_written_to_once_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second reading is of one version."""
    path = tmp_path / "a.md"
    path.write_bytes(b"old")
    versions = iter([b"new", b""])
    whole = module._read_once

    def written(path: Path, limit: int) -> object:
        result = whole(path, limit)
        if version := next(versions):
            path.write_bytes(version)
            os.utime(path, ns=(1, 1))
            return result[0], result[1], path.stat()
        return result

    monkeypatch.setattr(module, "_read_once", written)
    monkeypatch.setattr(module, "REST", 0.0)
    got = read_file(path, 100)
    assert (got.data, got.changed) == (b"new", False)


async def test_file_always_written_to_is_added_with_a_warning(
    app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A log that never rests is read as it is."""
    path = tmp_path / "a.log"
    path.write_text("The pump started.\n", "utf-8")
    whole = module._read_once

    def written(path: Path, limit: int) -> object:
        before, data, _ = whole(path, limit)
        with path.open("a", encoding="utf-8") as log:
            log.write("The pump stopped.\n")
        return before, data, path.stat()

    monkeypatch.setattr(module, "_read_once", written)
    monkeypatch.setattr(module, "REST", 0.0)
    [report] = (await add_paths(app, [str(path)], "docs")).files
    assert (report.status, report.warnings) == ("added", [CHANGED])
