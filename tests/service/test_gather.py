"""Which files a list of paths means."""

from __future__ import annotations

import inspect
import os
import sys
from pathlib import Path

import pytest

from citewell.runtime.app import App
from citewell.service.library.add import add_paths
from citewell.service.library.expand_paths import gather_files, to_display_name, to_uri


def write(path: Path, text: str = "x") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def test_folder_is_walked_in_order_without_hidden_and_unknown_files(tmp_path: Path) -> None:
    """Known files of all depths come by name; hidden ones are left out, unknown kinds are
    counted.
    """
    first, second = write(tmp_path / "a.md"), write(tmp_path / "sub" / "B.TXT")
    for name in (".hidden.md", ".git/config.md", "photo.xyz", "sub/other.xyz", "Makefile"):
        write(tmp_path / name)
    found = gather_files([str(tmp_path)])
    assert found.files == [first, second]
    assert found.failed == []
    assert found.skipped == {".xyz": 2, "(no suffix)": 1}


def test_links_are_followed_once(tmp_path: Path) -> None:
    """A link to a folder above, a link to itself and a second link to one file do no harm."""
    real = write(tmp_path / "real" / "a.md")
    (tmp_path / "real" / "up").symlink_to(tmp_path)
    (tmp_path / "real" / "self").symlink_to(tmp_path / "real" / "self")
    (tmp_path / "again.md").symlink_to(real)
    assert gather_files([str(tmp_path)]).files == [real]


def test_links_out_of_a_folder(tmp_path: Path) -> None:
    """They are told of and not followed, unless that is wanted; one that is named itself is
    meant.
    """
    secret, own = write(tmp_path / "elsewhere" / "secret.md"), write(tmp_path / "mine" / "own.md")
    links = [tmp_path / "mine" / name for name in ("a folder", "b.md")]
    links[0].symlink_to(tmp_path / "elsewhere")
    links[1].symlink_to(secret)
    (tmp_path / "mine" / "within.md").symlink_to(own)
    (tmp_path / "beside").symlink_to(tmp_path / "mine")
    for folder in ("mine", "beside"):
        found = gather_files([str(tmp_path / folder)])
        assert (found.files, found.links) == ([own], [str(link) for link in links])
    found = gather_files([str(tmp_path / "mine")], links=True)
    assert (sorted(found.files), found.links) == (sorted([secret, own]), [])
    assert gather_files([str(links[1])]).files == [secret]


def test_named_paths_are_answered_for(tmp_path: Path) -> None:
    """What is named and cannot be added fails by name and with a reason."""
    unknown, empty = write(tmp_path / "photo.xyz"), tmp_path / "empty"
    empty.mkdir()
    os.mkfifo(tmp_path / "pipe.md")
    named = [
        str(unknown),
        str(empty),
        str(tmp_path / "none.md"),
        str(tmp_path / "pipe.md"),
        "ftp://example.com/a",
        "a\0b",
    ]
    found = gather_files(named)
    assert found.files == []
    assert [path for path, _ in found.failed] == named
    reasons = [reason for _, reason in found.failed]
    assert "unknown kind" in reasons[0]
    assert "md" in reasons[0]
    assert "holds no file" in reasons[1]
    assert reasons[2] == "no such file or folder"
    assert reasons[3] == "not a file or a folder"
    assert "only http and https are fetched" in reasons[4]


def test_web_addresses_are_taken_once(tmp_path: Path) -> None:
    """In their canonical form, beside files; nothing is fetched here."""
    path = write(tmp_path / "a.md")
    found = gather_files(
        ["https://Example.com:443/a?utm_source=x#top", str(path), "https://example.com/a"]
    )
    assert [(each.uri, each.url, each.path) for each in found.found] == [
        ("https://example.com/a", "https://example.com/a", None),
        (str(path), "", path),
    ]
    assert (found.files, found.failed) == ([path], [])


def test_same_file_twice_is_one(tmp_path: Path, monkeypatch: object) -> None:
    """A relative path, an absolute one and its folder mean one file, under one lasting name."""
    path = write(tmp_path / "a.md")
    relative = os.path.relpath(path)
    assert gather_files([relative, str(path), str(tmp_path)]).files == [path]
    assert to_uri(path) == str(path)


def test_name_of_other_bytes_has_an_address(tmp_path: Path) -> None:
    """A file name that is not UTF-8 can be written down."""
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xb5\xc6.md"))
    path.write_text("x", "utf-8")
    [found] = gather_files([str(tmp_path)]).files
    assert to_uri(found).encode("utf-8").endswith(b"/\\xb5\\xc6.md")


@pytest.fixture
def chinese(tmp_path: Path) -> Path:
    """A file whose name is in GBK bytes."""
    path = Path(os.fsdecode(os.fsencode(tmp_path) + "/灯塔.txt".encode("gbk")))
    path.write_text("塔身为红色，高三十米。\n", "utf-8")
    return path


async def test_chinese_name_of_an_old_system_is_read(app: App, chinese: Path) -> None:
    """A file name in GBK bytes is a title in Chinese."""
    assert to_display_name(chinese) == "灯塔.txt"
    [report] = (await add_paths(app, [str(chinese.parent)], "docs")).files
    assert report.status == "added"
    assert (await app.catalog.document(report.doc_id)).title == "灯塔"


def test_folders_deeper_than_calls_may_be(tmp_path: Path) -> None:
    """Folders in each other are walked to the last, with room for far fewer calls than there are
    folders.
    """
    deep = tmp_path.joinpath(*["d"] * 300)
    deep.mkdir(parents=True)
    write(deep / "a.md")
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + 100)
    try:
        found = gather_files([str(tmp_path)]).files
    finally:
        sys.setrecursionlimit(before)
    assert [path.name for path in found] == ["a.md"]


def test_pipes_and_sockets_in_a_folder_are_passed_over(tmp_path: Path) -> None:
    """A folder's named pipe is no file, whatever its name."""
    os.mkfifo(tmp_path / "pipe.md")
    write(tmp_path / "a.md")
    assert [path.name for path in gather_files([str(tmp_path)]).files] == ["a.md"]


def test_pictures_of_a_folder_are_taken_when_wanted(tmp_path: Path) -> None:
    """Without OCR a folder's pictures are counted among the unknown; one that is named itself is
    answered for.
    """
    text, picture = write(tmp_path / "a.md"), write(tmp_path / "b.PNG")
    assert gather_files([str(tmp_path)]).files == [text]
    assert gather_files([str(tmp_path)]).skipped == {".png": 1}
    assert gather_files([str(tmp_path)], pictures=True).files == [text, picture]
    assert gather_files([str(picture)]).files == [picture]
    text.unlink()
    [(_, reason)] = gather_files([str(tmp_path)]).failed
    assert "png" not in reason
    assert "ingest.ocr" in reason


def test_a_named_file_without_a_suffix_is_taken(tmp_path: Path) -> None:
    """What it is shows when it is read; of a folder's such files nobody asked for each."""
    (tmp_path / "LICENSE").write_text("All is permitted.", "utf-8")
    assert [each.reason for each in gather_files([str(tmp_path / "LICENSE")]).found] == [""]
