"""Boards and saved questions of several people: who sees what, who may change it, and in which
order.
"""

from __future__ import annotations

import pytest

from citewell.errors import InvalidInput, NotAllowed, NotFound
from citewell.store.boards.boards import MOST_CARDS, Boards
from citewell.store.boards.saved_questions import SavedQuestions
from citewell.store.db import Database
from citewell.store.source_rows import Source
from citewell.store.sources import Sources


async def fill(db: Database) -> tuple[SavedQuestions, Boards, list[str]]:
    """Two sources, one of them Ann's alone; three questions of hers, of which two are to `shop`."""
    sources, saved = Sources(db), SavedQuestions(db, viewer="ann")
    await sources.put(Source(name="shop", dialect="duckdb", location="shop"), "shop")
    await sources.put(Source(name="pay", dialect="duckdb", location="pay", owner="ann"), "pay")
    ids = [
        (await saved.add("ann", {"name": name, "source": source, "sql": "SELECT 1"})).saved_id
        for name, source in (("a", "shop"), ("b", "pay"), ("c", "shop"))
    ]
    return saved, Boards(db, viewer="ann"), ids


async def test_order_is_kept_and_a_card_stands_once(db: Database) -> None:
    _, boards, ids = await fill(db)
    board = await boards.add("ann", "  Sales ")
    for each in (*ids, ids[0]):
        board = await boards.pin(board.board_id, "ann", each)
    assert (board.name, [card.saved_id for card in board.cards]) == ("Sales", ids)
    turned = [ids[2], ids[0], ids[1]]
    board = await boards.change(board.board_id, "ann", {"cards": turned, "refresh_seconds": 60})
    assert [card.saved_id for card in board.cards] == turned
    assert board.refresh_seconds == 60
    with pytest.raises(InvalidInput):
        await boards.change(board.board_id, "ann", {"cards": [ids[0]] * 2})
    with pytest.raises(InvalidInput):
        await boards.change(board.board_id, "ann", {"cards": ["x"] * (MOST_CARDS + 1)})
    with pytest.raises(NotFound):
        await boards.change(board.board_id, "ann", {"cards": ["sq_none"]})


async def test_what_is_shared_follows_the_tables(db: Database) -> None:
    """Bob sees the cards of tables that are everybody's, changes nothing, and nothing at all once
    it is Ann's alone again.
    """
    saved, boards, ids = await fill(db)
    bob, his = saved.restrict_to_viewer("bob"), boards.restrict_to_viewer("bob")
    board = (await boards.add("ann", "Sales")).board_id
    await boards.change(board, "ann", {"cards": ids})
    with pytest.raises(NotFound):
        await his.get(board, "bob")
    await boards.change(board, "ann", {"shared": True})
    seen = await his.get(board, "bob")
    assert ([card.name for card in seen.cards], seen.hidden) == (["a", "c"], 1)
    assert [each.name for each in await bob.list_seen("bob")] == ["a", "c"]
    for change in (
        his.change(board, "bob", {"name": "x"}),
        his.remove(board, "bob"),
        his.pin(board, "bob", ids[0]),
        bob.change(ids[0], "bob", {"name": "x"}),
        bob.remove(ids[0], "bob"),
    ):
        with pytest.raises(NotAllowed):
            await change
    with pytest.raises(NotFound):
        await bob.get(ids[1], "bob")
    for each in (ids[0], ids[2]):
        await saved.change(each, "ann", {"shared": False})
    assert await his.list_seen("bob") == []
    assert [each.name for each in await boards.list_seen("ann")] == ["Sales"]


async def test_tables_that_are_gone_are_seen_by_nobody_else(db: Database) -> None:
    """Whoever brings tables of the same name sees no statement to the old ones... of private ones
    they never saw.
    """
    saved, boards, ids = await fill(db)
    await saved.change(ids[1], "ann", {"shared": True})
    bob = saved.restrict_to_viewer("bob")
    assert await bob.list_seen("bob") == []
    await Sources(db).remove("pay")
    assert await bob.list_seen("bob") == []
    assert (await saved.get(ids[1], "ann")).name == "b"
    board = (await boards.add("ann", "Pay")).board_id
    await boards.pin(board, "ann", ids[1])
    assert len((await boards.get(board, "ann")).cards) == 1
    await saved.remove(ids[1], "ann")
    assert (await boards.get(board, "ann")).cards == []


async def test_a_card_that_may_no_longer_be_seen_stays_hidden(db: Database) -> None:
    """On a board of Bob's own with a question that Ann shared, and took back."""
    saved, boards, ids = await fill(db)
    his = boards.restrict_to_viewer("bob")
    await saved.change(ids[0], "ann", {"shared": True})
    mine = await saved.restrict_to_viewer("bob").add(
        "bob", {"name": "mine", "source": "shop", "sql": "SELECT 2"}
    )
    board = (await his.add("bob", "Bob")).board_id
    await his.change(board, "bob", {"cards": [ids[0], mine.saved_id]})
    await saved.change(ids[0], "ann", {"shared": False})
    seen = await his.change(board, "bob", {"cards": [mine.saved_id], "shared": True})
    assert ([card.name for card in seen.cards], seen.hidden) == (["mine"], 1)
    assert (await saved.get(ids[0], "ann")).shared is False, "only its owner shares it"
