"""Folders and links of conversations, as they are kept."""

from __future__ import annotations

import pytest

from citewell.errors import Conflict, InvalidInput, NotFound
from citewell.store.conversations import folders as folders_module
from citewell.store.conversations.folders import Folders
from citewell.store.conversations.shares import DAY, Shares
from citewell.store.db import Database
from citewell.store.sessions import Sessions


async def test_no_conversation_goes_with_its_folder(db: Database) -> None:
    folders, sessions = Folders(db), Sessions(db)
    work = await folders.create("ann", "Work")
    await folders.create("ann", "allotment")
    assert [each.name for each in await folders.list("ann")] == ["allotment", "Work"]
    session = await sessions.create("qa", "ann")
    await sessions.mark(session.session_id, folder=work.folder_id, pinned=True)
    [listed] = await sessions.list("ann")
    assert (listed.folder, listed.pinned) == (work.folder_id, True)
    assert (await folders.rename("ann", work.folder_id, "Job")).name == "Job"
    await folders.delete("ann", work.folder_id)
    [listed] = await sessions.list("ann")
    assert (listed.folder, listed.pinned) == ("", True)


async def test_a_folder_is_its_users_alone(db: Database) -> None:
    folders = Folders(db)
    work = await folders.create("ann", "Work")
    assert (await folders.create("bob", "Work")).folder_id != work.folder_id
    with pytest.raises(Conflict, match="'Work'"):
        await folders.create("ann", "Work")
    for refused in (
        folders.rename("bob", work.folder_id, "Mine"),
        folders.delete("bob", work.folder_id),
        folders.get("bob", work.folder_id),
    ):
        with pytest.raises(NotFound):
            await refused
    assert [each.name for each in await folders.list("ann")] == ["Work"]


async def test_folders_have_an_end(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders_module, "MOST", 1)
    await Folders(db).create("ann", "one")
    with pytest.raises(InvalidInput, match="1 folders"):
        await Folders(db).create("ann", "two")


async def test_a_link_ends(db: Database) -> None:
    """With its time, by its maker's word, and with its session."""
    now = [1000.0]
    sessions, shares = Sessions(db), Shares(db, clock=lambda: now[0])
    one = (await sessions.create("qa", "ann")).session_id
    other = (await sessions.create("qa", "ann")).session_id
    short = await shares.create(one, "ann", 2, 1, [])
    long = await shares.create(one, "ann", 2, 30, ["bob", "bob"])
    far = await shares.create(other, "ann", 2, 30, [])
    assert long.readers == ["bob"]
    assert len(long.share_id) >= 43
    assert [each.share_id for each in await shares.list(one)] == [long.share_id, short.share_id]
    with pytest.raises(NotFound):
        await shares.revoke(other, long.share_id)
    now[0] += DAY
    with pytest.raises(NotFound, match="leads nowhere"):
        await shares.get(short.share_id)
    assert [each.share_id for each in await shares.list(one)] == [long.share_id]
    await shares.revoke(one, long.share_id)
    await sessions.delete(other)
    for gone in (long.share_id, far.share_id, "", "guess"):
        with pytest.raises(NotFound, match="leads nowhere"):
            await shares.get(gone)


async def test_a_link_whose_readers_are_forgotten_is_nobody_elses(db: Database) -> None:
    """It was for Bob alone; without him it is not for everybody."""
    from sqlalchemy import text

    session = await Sessions(db).create("qa", "ann")
    share = await Shares(db).create(session.session_id, "ann", 2, 30, ["bob"])
    await db.write(lambda connection: connection.execute(text("DELETE FROM share_readers")))
    assert (await Shares(db).get(share.share_id)).readers == ["ann"]
