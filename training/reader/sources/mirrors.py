"""Files out of mirrors of public repositories, at the commit that a table names.

A mirror is a bare git directory FOLDER/owner+name, or `repo` in it; the newest commit may be
another one. The one rule: a file that is not there is an error, never an empty text.
"""

from __future__ import annotations

import gzip
import io
import subprocess
import zipfile
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

Texts = dict[str, str]  # path in its repository: what it says


class Source(NamedTuple):
    repository: str  # owner/name on GitHub
    commit: str
    # paths; one with a star stands for every path it matches; "archive.zip!path" is a file of an
    # archive, without a path the first one
    files: tuple[str, ...]


def read_texts(mirrors: Path, sources: tuple[Source, ...]) -> Texts:
    """The files of some sources, in the order of the table. FileNotFoundError where a mirror or a
    file is missing.
    """
    return {path: text for source in sources for path, text in read_source(mirrors, source).items()}


def read_source(mirrors: Path, source: Source) -> Texts:
    folder = find_mirror(mirrors, source.repository)
    paths = [
        path
        for name in source.files
        for path in (list_paths(folder, source.commit, name) if "*" in name else [name])
    ]
    names = "".join(f"{source.commit}:{path.partition('!')[0]}\n" for path in paths)
    found, at = run_git(folder, "cat-file", "--batch", stdin=names.encode()), 0
    texts = Texts()
    for path in paths:
        line, at = found[at : found.index(b"\n", at)], found.index(b"\n", at) + 1
        if line.endswith(b" missing"):
            raise FileNotFoundError(f"{source.repository} has no {path} at {source.commit}")
        size = int(line.split()[-1])
        texts[path], at = decode(unpack(path, found[at : at + size])), at + size + 1
    return texts


def find_mirror(mirrors: Path, repository: str) -> Path:
    folder = mirrors / repository.replace("/", "+")
    for place in (folder, folder / "repo", folder / "repo" / ".git"):
        if (place / "HEAD").is_file():
            return place
    raise FileNotFoundError(f"no mirror of {repository}")


def list_paths(folder: Path, commit: str, pattern: str) -> list[str]:
    start = pattern.split("*", maxsplit=1)[0].rpartition("/")[0] or "."
    listed = run_git(folder, "ls-tree", "-r", "-z", "--name-only", commit, start).decode(
        "utf-8", "replace"
    )
    return [path for path in listed.split("\0") if fnmatchcase(path, pattern)]


def run_git(folder: Path, *command: str, stdin: bytes = b"") -> bytes:
    return subprocess.run(  # noqa: S603
        ["git", f"--git-dir={folder}", *command],  # noqa: S607
        input=stdin,
        capture_output=True,
        check=True,
    ).stdout


def unpack(path: str, content: bytes) -> bytes:
    """What a compressed file holds; of an archive the file that is named, else the first."""
    path, _, member = path.partition("!")
    if path.endswith((".gz", ".gzip")):
        return gzip.decompress(content)
    if path.endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return archive.read(member or archive.namelist()[0])
    return content


def decode(content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")
