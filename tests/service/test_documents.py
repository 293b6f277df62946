"""Collections, documents and sessions through the service."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from citewell.errors import Conflict, InvalidInput, NotFound
from citewell.runtime.app import App
from citewell.service.library.add import add_paths
from citewell.service.library.collections import (
    create_collection,
    delete_collection,
    list_collections,
)
from citewell.service.library.documents import (
    delete_document,
    find_documents,
    get_original_file,
)
from citewell.service.sessions.sessions import read_session, rename_session
from citewell.types import Message


async def test_document_is_found_by_id_path_and_address(app: App, library: Path) -> None:
    """Id, absolute path and relative path mean the same document; in two collections they mean
    two.
    """
    path = library / "lighthouse.md"
    await add_paths(app, [str(path)], "one")
    await add_paths(app, [str(path)], "two")
    [info] = await find_documents(app, str(path), "one")
    relative = os.path.relpath(path)  # noqa: ASYNC240  # no disk is asked
    assert await find_documents(app, relative, "one") == [info]
    assert await find_documents(app, info.doc_id) == [info]
    assert len(await find_documents(app, str(path))) == 2
    with pytest.raises(NotFound, match="nothing"):
        await find_documents(app, "nothing.md")


async def test_document_is_read_back_and_deleted(app: App, library: Path) -> None:
    """Text and original bytes come back as they were; after deletion neither does."""
    path = library / "灯塔.txt"
    [report] = (await add_paths(app, [str(path)], "one")).files
    info, data = await get_original_file(app.catalog, report.doc_id)
    assert data == path.read_bytes()
    assert "一八五七年" in (await app.catalog.content(info.doc_id)).text
    await delete_document(app, info.doc_id)
    with pytest.raises(NotFound):
        await app.catalog.content(info.doc_id)


async def test_collections(app: App) -> None:
    """Made once, listed, deleted; names are checked; an unknown one is told with those there
    are.
    """
    await create_collection(app, "手册")
    with pytest.raises(Conflict):
        await create_collection(app, "手册")
    for name in ("", " a", "a/b", "a\nb", "x" * 101):
        with pytest.raises(InvalidInput):
            await create_collection(app, name)
    assert [info.name for info in await list_collections(app)] == ["手册"]
    with pytest.raises(NotFound) as caught:
        await app.collections.get("none")
    assert "手册" in caught.value.hint
    await delete_collection(app, "手册")
    assert await list_collections(app) == []


async def test_session_has_history_and_title(app: App) -> None:
    """What was said is read back; a title is trimmed and may not be empty."""
    info = await app.sessions.create("qa")
    await app.sessions.append(info.session_id, [Message(role="user", content="When?")])
    assert [message.content for message in (await read_session(app, info.session_id)).history] == [
        "When?"
    ]
    assert (await rename_session(app, info.session_id, " Lights ")).title == "Lights"
    with pytest.raises(InvalidInput):
        await rename_session(app, info.session_id, "  ")
    with pytest.raises(NotFound):
        await rename_session(app, "ses_none", "x")
