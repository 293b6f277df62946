"""Files that hold others: what comes out becomes documents of its own."""

from __future__ import annotations

import io
import zipfile
from email.message import EmailMessage
from pathlib import Path

import anyio
import pytest

from citewell.config import IngestSettings
from citewell.ingest.archive.unpack import unpack
from citewell.ingest.archive.unpacked import Taken
from citewell.runtime.app import App
from citewell.service.library.add import add_paths
from citewell.service.library.add_report import FileReport
from citewell.service.library.documents import delete_document, find_documents
from citewell.service.library.intake import Intake

NOTES = {
    "a.md": "# Lighthouse\n\nIt was built in 1857.\n",
    "sub/灯塔.txt": "灯塔建于一八五七年。塔身为红色。\n",
}


def archive(path: Path, files: dict[str, str]) -> str:
    with zipfile.ZipFile(path, "w") as target:
        for name, text in files.items():
            target.writestr(name, text)
    return str(path)


def mail(path: Path, attached: str) -> str:
    message = EmailMessage()
    message["Subject"], message["From"], message["To"] = (
        "The lighthouse",
        "a@example.org",
        "b@example.org",
    )
    message.set_content("Please find the notes about the lighthouse attached.")
    message.add_attachment(
        attached.encode(), maintype="text", subtype="markdown", filename="notes.md"
    )
    path.write_bytes(message.as_bytes())
    return str(path)


def brief(files: list[FileReport], root: Path) -> dict[str, str]:
    return {file.path.removeprefix(f"{root}/"): file.status for file in files}


@pytest.fixture
def unpackings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the containers that were opened."""
    opened: list[str] = []

    async def counted(
        data: bytes, name: str, settings: IngestSettings, taken: Taken | None
    ) -> object:
        opened.append(name)
        return await unpack(data, name, settings, taken)

    monkeypatch.setattr("citewell.service.library.intake.unpack", counted)
    return opened


async def test_members_are_documents(app: App, tmp_path: Path, unpackings: list[str]) -> None:
    """Each member is reported and kept under the archive's address; unchanged, the archive is not
    opened again.
    """
    path = archive(tmp_path / "notes.zip", NOTES)
    report = await add_paths(app, [path], "docs")
    assert brief(report.files, tmp_path) == {
        "notes.zip!/a.md": "added",
        "notes.zip!/sub/灯塔.txt": "added",
    }
    assert {info.uri for info in await app.catalog.documents("docs")} == {
        file.path for file in report.files
    }
    again = await add_paths(app, [path], "docs")
    assert {file.status for file in again.files} == {"unchanged"}
    assert [file.doc_id for file in again.files] == [file.doc_id for file in report.files]
    assert unpackings == ["notes.zip"]


async def test_priority_of_what_is_unchanged(app: App, tmp_path: Path) -> None:
    """A priority given later holds for the members too."""
    path = archive(tmp_path / "notes.zip", NOTES)
    await add_paths(app, [path], "docs")
    await add_paths(app, [path], "docs", priority=7)
    assert {info.priority for info in await app.catalog.documents("docs")} == {7}


async def test_mails_in_an_archive_share_its_limits(app: App, tmp_path: Path) -> None:
    """What mails hold counts with what the archive held: many small bombs are one large one."""
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("z.txt", "word " * 100_000)
    message = EmailMessage()
    message.set_content("text")
    message.add_attachment(
        inner.getvalue(), maintype="application", subtype="zip", filename="z.zip"
    )
    path = archive(tmp_path / "mails.zip", {f"{n}.eml": message.as_string() for n in range(3)})
    ingest = app.settings.ingest.model_copy(update={"max_unpacked": 1_000_000})
    app.settings = app.settings.model_copy(update={"ingest": ingest})
    taken = Taken(1_000_000)
    reports = await Intake(app, "docs").file(
        await anyio.Path(path).read_bytes(), "mails.zip", path, taken=taken
    )
    assert [report.status for report in reports if report.status == "failed"] == ["failed"] * 2
    assert 500_000 < taken.bytes < 1_000_000


async def test_new_version_of_an_archive(app: App, tmp_path: Path) -> None:
    """A changed member is replaced, one that is gone is removed, one that is as it was is left
    alone.
    """
    path = archive(tmp_path / "notes.zip", NOTES | {"old.md": "# Old\n\nIt will go.\n"})
    await add_paths(app, [path], "docs")
    archive(tmp_path / "notes.zip", NOTES | {"a.md": "# Lighthouse\n\nIt was built in 1858.\n"})
    report = await add_paths(app, [path], "docs")
    assert brief(report.files, tmp_path) == {
        "notes.zip!/a.md": "replaced",
        "notes.zip!/sub/灯塔.txt": "unchanged",
    }
    assert len(await app.catalog.documents("docs")) == 2


async def test_bad_member_costs_only_itself(
    app: App, tmp_path: Path, unpackings: list[str]
) -> None:
    """It fails by its name; because it may be readable next time, the archive is opened again."""
    path = archive(tmp_path / "notes.zip", NOTES | {"broken.docx": "PK\x03\x04 not a document"})
    for status in ("added", "unchanged"):
        files = brief((await add_paths(app, [path], "docs")).files, tmp_path)
        assert files == {
            "notes.zip!/a.md": status,
            "notes.zip!/sub/灯塔.txt": status,
            "notes.zip!/broken.docx": "failed",
        }
    assert len(unpackings) == 2


async def test_archive_of_nothing_readable_fails(app: App, tmp_path: Path) -> None:
    """It is answered for itself, with what it held."""
    [report] = (
        await add_paths(app, [archive(tmp_path / "pictures.zip", {"a.xyz": "x"})], "docs")
    ).files
    assert report.status == "failed"
    assert "nothing that can be read" in report.reason
    assert ".xyz" in report.reason


async def test_mail_is_a_document_and_its_attachments_are_others(
    app: App, tmp_path: Path, unpackings: list[str]
) -> None:
    """Also where the mail itself stands in an archive."""
    mail(tmp_path / "note.eml", "# Lighthouse\n\nThe lamp is electric.\n")
    report = await add_paths(app, [str(tmp_path / "note.eml")], "docs")
    assert brief(report.files, tmp_path) == {"note.eml": "added", "note.eml!/notes.md": "added"}
    assert {
        file.status for file in (await add_paths(app, [str(tmp_path / "note.eml")], "docs")).files
    } == {"unchanged"}
    assert unpackings == ["note.eml"]
    with zipfile.ZipFile(tmp_path / "mails.zip", "w") as target:
        target.write(tmp_path / "note.eml", "note.eml")
    inside = await add_paths(app, [str(tmp_path / "mails.zip")], "docs")
    assert brief(inside.files, tmp_path) == {
        "mails.zip!/note.eml": "added",
        "mails.zip!/note.eml!/notes.md": "added",
    }


async def test_archive_stands_for_its_members(
    app: App, tmp_path: Path, unpackings: list[str]
) -> None:
    """Its path finds them all, and after a member was removed the archive is opened again and
    brings it back.
    """
    path = archive(tmp_path / "notes.zip", NOTES)
    await add_paths(app, [path], "docs")
    assert len(await find_documents(app, path)) == 2
    [info] = await find_documents(app, f"{path}!/a.md")
    await delete_document(app, info.doc_id)
    assert (
        brief((await add_paths(app, [path], "docs")).files, tmp_path)["notes.zip!/a.md"] == "added"
    )
    assert len(unpackings) == 2


async def test_the_same_file_under_another_path_is_told(app: App, tmp_path: Path) -> None:
    """It is added, for a path of its own may change alone; but not without a word."""
    (tmp_path / "copy").mkdir()
    paths = [tmp_path / "a.md", tmp_path / "copy" / "a.md"]
    for path in paths:
        path.write_text(NOTES["a.md"], "utf-8")
    first, second = [await add_paths(app, [str(path)], "default") for path in paths]
    assert [each.files[0].status for each in (first, second)] == ["added", "added"]
    assert first.files[0].warnings == []
    assert [str(each) for each in second.files[0].warnings] == [
        f"the same file is in this collection already, as {paths[0]}; answers may quote either"
    ]
    elsewhere = await add_paths(app, [str(paths[0])], "other")
    assert elsewhere.files[0].warnings == []
    again = await add_paths(app, [str(paths[1])], "default")
    assert again.files[0].status == "unchanged"
