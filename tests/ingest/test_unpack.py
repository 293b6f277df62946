"""Archives, and what comes out of them."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from email.message import EmailMessage

import pytest
from tests.error_codes import get_values, raises_about

from citewell.config import IngestSettings
from citewell.errors import UnreadableFile
from citewell.ingest.archive.unpack import Unpacking, unpack, unpack_here
from citewell.ingest.archive.unpacked import Taken

SETTINGS = IngestSettings()


def zipped(files: dict[str, bytes | str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def names(data: bytes, name: str = "a.zip") -> list[str]:
    return [member.name for member in unpack_here(data, name, SETTINGS).members]


def test_readable_files_come_out() -> None:
    """What can be read comes out with its folder; hidden files go in silence, other kinds are
    counted, empty ones named.
    """
    files: dict[str, bytes | str] = {
        "a.txt": "x",
        "d/b.md": "# y",
        "README": "words",
        "program": b"\x7fELF\0\0",
        "__MACOSX/._a.txt": "z",
        ".git/config.ini": "q",
        "~$a.docx": "lock",
        "x.bin": "1",
        "y.BIN": "1",
        "z.iso": "1",
        "e.txt": "",
    }
    result = unpack_here(zipped(files), "a.zip", SETTINGS)
    assert [member.name for member in result.members] == ["a.txt", "d/b.md", "README"]
    empty, unknown = map(get_values, result.warnings)
    assert empty == {"names": "e.txt"}
    assert (unknown["count"], ".bin (2)" in unknown["kinds"]) == (4, True)


def test_names_stay_below() -> None:
    """A name cannot lead out of where it is put, and two files of one name are two."""
    data = zipped(
        {
            "../../etc/p.txt": "1",
            "/etc/p.txt": "2",
            "C:\\w\\q.txt": "3",
            "a!!//b\u202e.txt": "4",
            "../..": "5",
        }
    )
    assert names(data) == ["etc/p.txt", "etc/p (2).txt", "w/q.txt", "a/b.txt", "unnamed"]


@pytest.mark.parametrize(
    ("shown", "encoding"),
    [
        ("合同文件/付款.txt", "gbk"),
        ("會議記錄.txt", "big5"),
        ("会议.txt", "utf-8"),
        ("résumé.txt", "cp437"),
        ("会議のメモ.txt", "cp932"),
    ],
)
def test_names_without_the_flag(shown: str, encoding: str) -> None:
    """Archives of older programs write names in their own encoding and do not say so."""
    raw = shown.encode(encoding)
    place = b"p" * (len(raw) - 4) + b".txt"
    assert names(zipped({place.decode(): "text"}).replace(place, raw)) == [shown]


def test_nested_archives() -> None:
    """Archives inside archives are opened twice, and no further; names say where a file was."""
    deep = zipped({"deep.txt": "d", "m.zip": zipped({"x.txt": "x"})})
    result = unpack_here(
        zipped({"in.zip": zipped({"i.txt": "i", "n.zip": deep}), "bad.zip": "no zip"}),
        "a.zip",
        SETTINGS,
    )
    assert [member.name for member in result.members] == [
        "in.zip!/i.txt",
        "in.zip!/n.zip!/deep.txt",
    ]
    assert [get_values(each)["names"] for each in result.warnings] == [
        "in.zip!/n.zip!/m.zip",
        "bad.zip",
    ]


def test_bombs() -> None:
    """An archive that unpacks to hundreds of times its size is refused, nested and with overlapping
    entries alike.
    """
    zeros = zipped({"z.txt": b"\0" * 30_000_000})
    for data in (
        zeros,
        zipped({f"{n}.zip": zeros for n in range(16)}),
        overlapping(500, 5_000_000),
    ):
        with raises_about(UnreadableFile, max_ratio=200) as caught:
            unpack_here(data, "a.zip", SETTINGS)
        assert "ingest.max_ratio" in caught.value.hint


def test_bombs_that_cannot_be_counted() -> None:
    """Python unpacks bzip2 and LZMA whole, whatever is asked for: such files are left out before a
    byte of them is unpacked.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, method in (
            ("b.txt", zipfile.ZIP_BZIP2),
            ("l.txt", zipfile.ZIP_LZMA),
            ("s.txt", zipfile.ZIP_STORED),
        ):
            archive.writestr(name, "words", method)
    result = unpack_here(buffer.getvalue(), "a.zip", SETTINGS)
    assert [member.name for member in result.members] == ["s.txt"]
    assert [get_values(each) for each in result.warnings] == [{"names": "b.txt, l.txt"}]


def test_what_came_out_before_counts() -> None:
    """Files inside a file that came out of another share its limits."""
    data = zipped({"a.txt": "word" * 100, "b.txt": "word"})
    taken = unpack_here(data, "a.zip", SETTINGS).taken
    assert (taken.packed, taken.bytes, taken.members) == (len(data), 404, 2)
    with raises_about(UnreadableFile, max_members=3):
        unpack_here(data, "a.zip", IngestSettings(max_members=3), taken)
    with raises_about(UnreadableFile, max_ratio=200):
        unpack_here(data, "a.zip", SETTINGS, Taken(50, 10_000_000))


def overlapping(entries: int, size: int) -> bytes:
    """Many entries that share the same packed bytes."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(b"a" * size) + packer.flush()
    check = zlib.crc32(b"a" * size)
    local = (
        struct.pack("<4s5H3I2H", b"PK\3\4", 20, 0, 8, 0, 0, check, len(packed), size, 5, 0)
        + b"x.txt"
    )
    entry = (
        struct.pack(
            "<4s6H3I5H2I",
            b"PK\1\2",
            20,
            20,
            0,
            8,
            0,
            0,
            check,
            len(packed),
            size,
            5,
            0,
            0,
            0,
            0,
            0,
            0,
        )
        + b"x.txt"
    )
    body, listed = local + packed, entry * entries
    return (
        body
        + listed
        + struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, entries, entries, len(listed), len(body), 0)
    )


def test_a_size_that_lies() -> None:
    """A file that is longer than its header says is broken, not trusted."""
    data = zipped({"z.txt": bytes(range(256)) * 4000}).replace(
        struct.pack("<I", 1_024_000), struct.pack("<I", 10)
    )
    assert unpack_here(data, "a.zip", SETTINGS)[:2] == ([], ["left out (broken): z.txt"])


def test_limits() -> None:
    """Count, bytes and the size of one file are limited by the settings, and the messages name
    them.
    """
    data = zipped({f"{n}.txt": "word" * 10 for n in range(4)})
    with raises_about(UnreadableFile, name="a.zip", max_members=3):
        unpack_here(data, "a.zip", IngestSettings(max_members=3))
    with raises_about(UnreadableFile, name="a.zip", max_unpacked=100):
        unpack_here(data, "a.zip", IngestSettings(max_unpacked=100))
    [warning] = unpack_here(data, "a.zip", IngestSettings(max_bytes=39)).warnings
    assert get_values(warning) == {"most": 39, "names": "0.txt, 1.txt, 2.txt, 3.txt"}


def test_encrypted() -> None:
    """An archive under a password is refused as such; single files under one are named."""
    data = bytearray(zipped({"a.txt": "x", "b.txt": "y"}))
    first = data.find(b"PK\1\2")
    data[first + 8] |= 1
    result = unpack_here(bytes(data), "a.zip", SETTINGS)
    assert result.members[0].name == "b.txt"
    assert [get_values(each) for each in result.warnings] == [{"names": "a.txt"}]
    data[data.find(b"PK\1\2", first + 4) + 8] |= 1
    with pytest.raises(UnreadableFile, match="protected by a password"):
        unpack_here(bytes(data), "a.zip", SETTINGS)


def test_broken_archives_and_others() -> None:
    """What is no archive is refused with what it is."""
    with pytest.raises(UnreadableFile, match=r"a\.zip is broken"):
        unpack_here(b"PK\3\4junk", "a.zip", SETTINGS)
    with pytest.raises(UnreadableFile, match=r"a\.zip is a Word document"):
        unpack_here(
            zipped({"[Content_Types].xml": "x", "word/document.xml": "x"}), "a.zip", SETTINGS
        )


def test_attachments_of_a_mail() -> None:
    """A mail's attachments come out like files of an archive, an archive among them is opened."""
    message = EmailMessage()
    message["Subject"] = "s"
    message.set_content("text")
    for name, content in (
        ("n.txt", b"note"),
        ("x.zip", zipped({"c.txt": "in zip"})),
        ("v.exe", b"MZ"),
    ):
        message.add_attachment(
            content, maintype="application", subtype="octet-stream", filename=name
        )
    result = unpack_here(message.as_bytes(), "m.eml", SETTINGS)
    assert [(member.name, member.data) for member in result.members] == [
        ("n.txt", b"note"),
        ("x.zip!/c.txt", b"in zip"),
    ]
    assert [get_values(each) for each in result.warnings] == [{"count": 1, "kinds": ".exe (1)"}]


async def test_in_a_process_of_its_own() -> None:
    """`unpack` runs in a worker, hands errors through, and gives nothing for a file that holds no
    others.
    """
    assert (await unpack(zipped({"a.txt": "x"}), "a.zip", SETTINGS)).members == [("a.txt", b"x")]
    assert await unpack(b"x", "a.txt", SETTINGS) == Unpacking([], [], Taken(1))
    with pytest.raises(UnreadableFile, match=r"a\.zip is broken"):
        await unpack(b"PK\3\4junk", "a.zip", SETTINGS)
