"""Questions to tables that people keep: the statement, how its rows are drawn, whose it is. One
that is shared is shown to whoever may see its tables, and to nobody else; only its owner changes
it. Tables that are gone are seen by nobody.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping
from typing import Any, Literal

from sqlalchemy import Connection, Row, and_, bindparam, delete, exists, func, or_, select

from citewell.errors import InvalidInput, NotAllowed, NotFound
from citewell.messages import Text
from citewell.store.db import Database
from citewell.store.dialects.locks import hold
from citewell.store.dialects.upserts import upsert
from citewell.store.schema.data_tables import saved_questions, sources
from citewell.store.users.visibility import may_see
from citewell.types import Chart, Shown

LONGEST_NAME = 200
LONGEST_STATEMENT = 50_000
MOST_SAVED = 1_000  # of one owner
# What `user` may see with the eyes of `viewer` (None: all tables).
SEEN = or_(
    saved_questions.c.owner == bindparam("user"),
    and_(
        saved_questions.c.shared != 0,
        exists().where(sources.c.name == saved_questions.c.source, may_see(sources.c.owner)),
    ),
)


class SavedQuestion(Shown):
    """`question`: what was asked, empty where only a statement was written. `edited`: a person
    wrote the statement, not the agent. `chart`: None: whichever fits. `lang`: of its headings.
    """

    saved_id: str
    name: str
    source: str
    sql: str
    question: str = ""
    edited: bool = False
    chart: Chart | None = None
    lang: Literal["en", "zh"] = "en"
    owner: str
    shared: bool = False
    created_at: float
    updated_at: float


class SavedQuestions:
    """Each verb is one transaction. Raises NotFound for what is none or may not be seen, NotAllowed
    where another's is changed, InvalidInput, StorageError. `user_id`: who asks.
    """

    def __init__(
        self, db: Database, clock: Callable[[], float] = time.time, *, viewer: str | None = None
    ) -> None:
        self._db, self._clock, self._viewer = db, clock, viewer

    def restrict_to_viewer(self, viewer: str) -> SavedQuestions:
        """The same, with this user's eyes."""
        return SavedQuestions(self._db, self._clock, viewer=viewer)

    async def list_seen(self, user_id: str) -> list[SavedQuestion]:
        """Their own and what is shared, by name."""
        values = {"user": user_id, "viewer": self._viewer}
        return await self._db.read(
            lambda connection: [parse_saved(row) for row in connection.execute(_ALL, values)]
        )

    async def get(self, saved_id: str, user_id: str) -> SavedQuestion:
        return await self._db.read(
            lambda connection: get_saved(connection, saved_id, user_id, self._viewer)
        )

    async def add(self, user_id: str, values: Mapping[str, Any]) -> SavedQuestion:
        """`values`: fields of a SavedQuestion without its id, owner and times."""
        now = self._clock()
        made = check_saved(
            SavedQuestion(
                saved_id=f"sq_{secrets.token_hex(8)}",
                owner=user_id,
                created_at=now,
                updated_at=now,
                **values,
            )
        )

        def add(connection: Connection) -> SavedQuestion:
            hold_boards(connection)
            count = connection.execute(_COUNT, {"user": user_id}).scalar_one()
            if count >= MOST_SAVED:
                raise InvalidInput(
                    Text("{most:,} questions are saved already", most=MOST_SAVED),
                    hint=Text("delete some"),
                )
            connection.execute(_PUT, _build_row(made))
            return made

        return await self._db.write_beside(add)

    async def change(self, saved_id: str, user_id: str, values: Mapping[str, Any]) -> SavedQuestion:
        """Those fields anew; the others stay."""

        def change(connection: Connection) -> SavedQuestion:
            hold_boards(connection)
            before = self._get_own(connection, saved_id, user_id)
            changed = {**before.model_dump(), **values, "updated_at": self._clock()}
            after = check_saved(SavedQuestion.model_validate(changed))
            connection.execute(_PUT, _build_row(after))
            return after

        return await self._db.write_beside(change)

    async def remove(self, saved_id: str, user_id: str) -> SavedQuestion:
        """With its cards on boards."""

        def remove(connection: Connection) -> SavedQuestion:
            hold_boards(connection)
            before = self._get_own(connection, saved_id, user_id)
            connection.execute(_REMOVE, {"id": saved_id})
            return before

        return await self._db.write_beside(remove)

    def _get_own(self, connection: Connection, saved_id: str, user_id: str) -> SavedQuestion:
        found = get_saved(connection, saved_id, user_id, self._viewer)
        check_owner(found.owner, user_id, found.name)
        return found


def hold_boards(connection: Connection) -> None:
    """Boards and saved questions: how many a user has, which stand on which, which are shared."""
    hold(connection, "boards")


def get_saved(
    connection: Connection, saved_id: str, user_id: str, viewer: str | None
) -> SavedQuestion:
    values = {"id": saved_id, "user": user_id, "viewer": viewer}
    row = connection.execute(_GET, values).one_or_none()
    if row is None:
        raise NotFound(Text("no saved question {saved_id!r}", saved_id=saved_id[:40]))
    return parse_saved(row)


def check_owner(owner: str, user_id: str, name: str) -> None:
    """Raises NotAllowed."""
    if owner != user_id:
        raise NotAllowed(
            Text("{name!r} belongs to {owner}", name=name, owner=owner),
            hint=Text("save a copy of your own"),
        )


def check_name(name: str) -> str:
    """On one line. Raises InvalidInput."""
    flat = " ".join(name.split())
    if not flat or len(flat) > LONGEST_NAME or not flat.isprintable():
        raise InvalidInput(
            Text("a name has 1 to {longest} printable characters", longest=LONGEST_NAME)
        )
    return flat


def check_saved(saved: SavedQuestion) -> SavedQuestion:
    """Raises InvalidInput."""
    if not saved.sql.strip() or len(saved.sql) > LONGEST_STATEMENT:
        raise InvalidInput(
            Text("a statement has 1 to {longest:,} characters", longest=LONGEST_STATEMENT)
        )
    return saved.model_copy(update={"name": check_name(saved.name)})


def parse_saved(row: Row[Any]) -> SavedQuestion:
    chart = Chart.model_validate_json(row.chart) if row.chart else None
    return SavedQuestion(
        **{name: getattr(row, name) for name in SavedQuestion.model_fields if name != "chart"},
        chart=chart,
    )


def _build_row(saved: SavedQuestion) -> dict[str, Any]:
    return {
        **saved.model_dump(),
        "chart": saved.chart.model_dump_json() if saved.chart else "",
        "edited": int(saved.edited),
        "shared": int(saved.shared),
    }


_ALL = (
    select(saved_questions).where(SEEN).order_by(saved_questions.c.name, saved_questions.c.saved_id)
)
_ONE = saved_questions.c.saved_id == bindparam("id")
_GET = select(saved_questions).where(SEEN, _ONE)
_COUNT = (
    select(func.count())
    .select_from(saved_questions)
    .where(saved_questions.c.owner == bindparam("user"))
)
_KEPT = {"rowid", "saved_id", "owner", "created_at"}
_PUT = upsert(
    saved_questions,
    saved_questions.c.saved_id,
    update=[each for each in saved_questions.c if each.name not in _KEPT],
)
_REMOVE = delete(saved_questions).where(_ONE)
