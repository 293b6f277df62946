"""Boards: saved questions side by side, in an order that is kept. Of a shared board everybody sees
the cards whose tables they may see; without any, there is no board for them. Only its owner changes
it.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import Field
from sqlalchemy import Connection, Row, bindparam, delete, func, insert, or_, select, update

from citewell.errors import InvalidInput, NotFound
from citewell.messages import Text
from citewell.store.boards.saved_questions import (
    SEEN,
    SavedQuestion,
    check_name,
    check_owner,
    get_saved,
    hold_boards,
    parse_saved,
)
from citewell.store.db import Database
from citewell.store.schema.data_tables import board_cards, boards, saved_questions
from citewell.types import Shown

MOST_BOARDS = 100  # of one owner
MOST_CARDS = 50


class Board(Shown):
    """`cards`: what who asks may see of it, in order; `hidden`: how many they may not.
    `refresh_seconds`: how often an open page reads it anew; 0: when it is opened.
    """

    board_id: str
    name: str
    owner: str
    shared: bool = False
    refresh_seconds: int = 0
    cards: list[SavedQuestion] = Field(default=[])
    hidden: int = 0
    created_at: float
    updated_at: float


class Boards:
    """Each verb is one transaction. Raises as SavedQuestions does."""

    def __init__(
        self, db: Database, clock: Callable[[], float] = time.time, *, viewer: str | None = None
    ) -> None:
        self._db, self._clock, self._viewer = db, clock, viewer

    def restrict_to_viewer(self, viewer: str) -> Boards:
        """The same, with this user's eyes."""
        return Boards(self._db, self._clock, viewer=viewer)

    async def list_seen(self, user_id: str) -> list[Board]:
        """Their own and those that are shared with them, by name."""

        def read(connection: Connection) -> list[Board]:
            rows = connection.execute(_ALL, {"user": user_id}).all()
            found = [self._build_board(connection, row, user_id) for row in rows]
            return [board for board in found if _is_seen(board, user_id)]

        return await self._db.read(read)

    async def get(self, board_id: str, user_id: str) -> Board:
        return await self._db.read(lambda connection: self._find(connection, board_id, user_id))

    async def add(self, user_id: str, name: str) -> Board:
        """An empty one."""
        now = self._clock()
        board_id = f"bd_{secrets.token_hex(8)}"
        row = {
            "board_id": board_id,
            "name": check_name(name),
            "owner": user_id,
            "shared": 0,
            "refresh_seconds": 0,
            "created_at": now,
            "updated_at": now,
        }

        def add(connection: Connection) -> Board:
            hold_boards(connection)
            if connection.execute(_COUNT, {"user": user_id}).scalar_one() >= MOST_BOARDS:
                raise InvalidInput(
                    Text("there are {most} boards already", most=MOST_BOARDS),
                    hint=Text("delete some"),
                )
            connection.execute(_ADD, row)
            return self._find(connection, board_id, user_id)

        return await self._db.write_beside(add)

    async def change(self, board_id: str, user_id: str, values: Mapping[str, Any]) -> Board:
        """`name`, `shared`, `refresh_seconds`, `cards` (ids in order) that are given. What its
        owner put on a board that is shared is shared with it.
        """

        def change(connection: Connection) -> Board:
            hold_boards(connection)
            before = self._get_own(connection, board_id, user_id)
            row = {
                "id": board_id,
                "name": check_name(values.get("name", before.name)),
                "shared": int(values.get("shared", before.shared)),
                "refresh_seconds": values.get("refresh_seconds", before.refresh_seconds),
                "updated_at": self._clock(),
            }
            connection.execute(_CHANGE, row)
            if "cards" in values:
                self._put_cards(connection, board_id, user_id, values["cards"])
            connection.execute(_SHARE, {"id": board_id, "user": user_id})
            return self._find(connection, board_id, user_id)

        return await self._db.write_beside(change)

    async def pin(self, board_id: str, user_id: str, saved_id: str) -> Board:
        """Put a saved question behind the others; one that is there stays where it is."""

        def pin(connection: Connection) -> Board:
            hold_boards(connection)
            self._get_own(connection, board_id, user_id)
            ids = [*connection.execute(_CARD_IDS, {"id": board_id}).scalars()]
            if saved_id not in ids:
                self._put_cards(connection, board_id, user_id, [*ids, saved_id])
            connection.execute(_SHARE, {"id": board_id, "user": user_id})
            return self._find(connection, board_id, user_id)

        return await self._db.write_beside(pin)

    async def remove(self, board_id: str, user_id: str) -> Board:
        """Its questions stay."""

        def remove(connection: Connection) -> Board:
            hold_boards(connection)
            before = self._get_own(connection, board_id, user_id)
            connection.execute(_REMOVE, {"id": board_id})
            return before

        return await self._db.write_beside(remove)

    def _put_cards(
        self, connection: Connection, board_id: str, user_id: str, ids: Sequence[str]
    ) -> None:
        """In this order; those that the owner may no longer see stay, behind them."""
        if len(ids) > MOST_CARDS or len(set(ids)) < len(ids):
            raise InvalidInput(Text("a board has at most {most} cards, each once", most=MOST_CARDS))
        before = [*connection.execute(_CARD_IDS, {"id": board_id}).scalars()]
        for saved_id in ids:
            if saved_id not in before:
                get_saved(connection, saved_id, user_id, self._viewer)
        values = {"id": board_id, "user": user_id, "viewer": self._viewer}
        seen = {row.saved_id for row in connection.execute(_CARDS, values)}
        kept = [*ids, *(each for each in before if each not in seen and each not in ids)]
        connection.execute(_CLEAR, {"id": board_id})
        rows = [{"board": board_id, "position": at, "card": card} for at, card in enumerate(kept)]
        if rows:
            connection.execute(_CARD, rows)

    def _get_own(self, connection: Connection, board_id: str, user_id: str) -> Board:
        found = self._find(connection, board_id, user_id)
        check_owner(found.owner, user_id, found.name)
        return found

    def _find(self, connection: Connection, board_id: str, user_id: str) -> Board:
        row = connection.execute(_GET, {"id": board_id, "user": user_id}).one_or_none()
        board = None if row is None else self._build_board(connection, row, user_id)
        if board is None or not _is_seen(board, user_id):
            raise NotFound(Text("no board {board_id!r}", board_id=board_id[:40]))
        return board

    def _build_board(self, connection: Connection, row: Row[Any], user_id: str) -> Board:
        values = {"id": row.board_id, "user": user_id, "viewer": self._viewer}
        cards = [parse_saved(each) for each in connection.execute(_CARDS, values)]
        kept = {
            name: getattr(row, name) for name in Board.model_fields.keys() - {"cards", "hidden"}
        }
        return Board(**kept, cards=cards, hidden=row.all_cards - len(cards))


def _is_seen(board: Board, user_id: str) -> bool:
    return board.owner == user_id or bool(board.cards)


_OF_BOARD = board_cards.c.board == bindparam("id")
_ONE = boards.c.board_id == bindparam("id")
_COUNT_CARDS = select(func.count()).where(board_cards.c.board == boards.c.board_id)
_ALL = (
    select(boards, _COUNT_CARDS.scalar_subquery().label("all_cards"))
    .where(or_(boards.c.owner == bindparam("user"), boards.c.shared != 0))
    .order_by(boards.c.name, boards.c.board_id)
)
_GET = _ALL.where(_ONE)
_CARDS = (
    select(saved_questions)
    .join(board_cards, board_cards.c.card == saved_questions.c.saved_id)
    .where(_OF_BOARD, SEEN)
    .order_by(board_cards.c.position)
)
_CARD_IDS = select(board_cards.c.card).where(_OF_BOARD).order_by(board_cards.c.position)
_COUNT = select(func.count()).select_from(boards).where(boards.c.owner == bindparam("user"))
_ADD = insert(boards)
_CHANGE = update(boards).where(_ONE)
_REMOVE = delete(boards).where(_ONE)
_SHARED_CARDS = (
    select(board_cards.c.card)
    .join(boards, boards.c.board_id == board_cards.c.board)
    .where(_OF_BOARD, boards.c.shared != 0)
)
_SHARE = (
    update(saved_questions)
    .where(
        saved_questions.c.owner == bindparam("user"),
        saved_questions.c.saved_id.in_(_SHARED_CARDS),
    )
    .values(shared=1)
)
_CLEAR = delete(board_cards).where(_OF_BOARD)
_CARD = insert(board_cards)
