"""`/api/data/saved` and `/api/data/boards`: questions to tables that people keep, and boards of
them. What is shared is seen by whoever may see its tables, and changed by its owner alone.
"""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Request
from pydantic import Field

from citewell.interfaces.http.body import Closed, JSONRoute
from citewell.interfaces.http.deps import Asking, Citewell
from citewell.interfaces.http.routes.ask_routes import run_while_connected
from citewell.service.tables.query_tables import Result, run_saved_question
from citewell.store.boards.boards import MOST_CARDS, Board
from citewell.store.boards.saved_questions import LONGEST_NAME, LONGEST_STATEMENT, SavedQuestion
from citewell.store.source_rows import LONGEST_NAME as LONGEST_SOURCE
from citewell.types import Chart

router = APIRouter(prefix="/api/data", tags=["data"], route_class=JSONRoute)
SavedId = Annotated[str, Path(description="a saved question's id, as the list tells it")]
BoardId = Annotated[str, Path(description="a board's id, as the list tells it")]
DAY = 86_400


class NewSavedQuestion(Closed):
    """`edited`: a person wrote the statement. `chart`: none given: whichever fits."""

    name: str = Field(min_length=1, max_length=LONGEST_NAME)
    source: str = Field(min_length=1, max_length=LONGEST_SOURCE)
    sql: str = Field(min_length=1, max_length=LONGEST_STATEMENT)
    question: str = Field("", max_length=LONGEST_STATEMENT)
    edited: bool = True
    chart: Chart | None = None
    lang: Literal["en", "zh"] = "en"
    shared: bool = False


class SavedChange(Closed):
    """What is left out stays as it is; a `chart` of null is whichever fits."""

    name: str | None = Field(None, min_length=1, max_length=LONGEST_NAME)
    sql: str | None = Field(None, min_length=1, max_length=LONGEST_STATEMENT)
    chart: Chart | None = None
    shared: bool | None = None


class SavedList(Closed):
    saved: list[SavedQuestion]


class NewBoard(Closed):
    name: str = Field(min_length=1, max_length=LONGEST_NAME)


class BoardChange(Closed):
    """What is left out stays as it is. `cards`: ids of saved questions, in order."""

    name: str | None = Field(None, min_length=1, max_length=LONGEST_NAME)
    shared: bool | None = None
    refresh_seconds: int | None = Field(None, ge=0, le=DAY)
    cards: list[str] | None = Field(None, max_length=MOST_CARDS)


class Pinned(Closed):
    saved_id: str = Field(max_length=100)


class BoardList(Closed):
    boards: list[Board]


@router.get("/saved")
async def list_saved_questions(app: Citewell, caller: Asking) -> SavedList:
    """One's own, and those that are shared, by name."""
    return SavedList(saved=await app.saved_questions.list_seen(caller.user_id))


@router.post("/saved", status_code=201)
async def save_question(body: NewSavedQuestion, app: Citewell, caller: Asking) -> SavedQuestion:
    """Keep a statement under a name. It is not run."""
    source = await app.sources.get(body.source)
    values = {**body.model_dump(exclude={"chart"}), "chart": body.chart, "source": source.name}
    return await app.saved_questions.add(caller.user_id, values)


@router.get("/saved/{saved_id}")
async def get_saved_question(saved_id: SavedId, app: Citewell, caller: Asking) -> SavedQuestion:
    """One of them."""
    return await app.saved_questions.get(saved_id, caller.user_id)


@router.patch("/saved/{saved_id}")
async def change_saved_question(
    saved_id: SavedId, body: SavedChange, app: Citewell, caller: Asking
) -> SavedQuestion:
    """Name, statement, chart, whether others see it. A statement that was changed is a person's."""
    given = {name: getattr(body, name) for name in body.model_fields_set}
    values = {name: each for name, each in given.items() if each is not None or name == "chart"}
    if "sql" in values:
        before = await app.saved_questions.get(saved_id, caller.user_id)
        values["edited"] = before.edited or before.sql != values["sql"]
    return await app.saved_questions.change(saved_id, caller.user_id, values)


@router.delete("/saved/{saved_id}", status_code=204)
async def delete_saved_question(saved_id: SavedId, app: Citewell, caller: Asking) -> None:
    """With its cards on boards."""
    await app.saved_questions.remove(saved_id, caller.user_id)


@router.post("/saved/{saved_id}/run", operation_id="run_saved_question")
async def run_saved(saved_id: SavedId, request: Request, app: Citewell, caller: Asking) -> Result:
    """What it gives now."""
    saved = await app.saved_questions.get(saved_id, caller.user_id)
    return await run_while_connected(request, run_saved_question(app, saved))


@router.get("/boards")
async def list_boards(app: Citewell, caller: Asking) -> BoardList:
    """One's own, and those that are shared, by name."""
    return BoardList(boards=await app.boards.list_seen(caller.user_id))


@router.post("/boards", status_code=201)
async def create_board(body: NewBoard, app: Citewell, caller: Asking) -> Board:
    """An empty one."""
    return await app.boards.add(caller.user_id, body.name)


@router.get("/boards/{board_id}")
async def get_board(board_id: BoardId, app: Citewell, caller: Asking) -> Board:
    """With its cards in order; each is run by `POST /api/data/saved/{saved_id}/run`."""
    return await app.boards.get(board_id, caller.user_id)


@router.patch("/boards/{board_id}")
async def change_board(
    board_id: BoardId, body: BoardChange, app: Citewell, caller: Asking
) -> Board:
    """Name, cards, how often it is read anew, whether others see it. Sharing a board shares what
    its owner put on it.
    """
    values = {name: getattr(body, name) for name in body.model_fields_set}
    given = {name: each for name, each in values.items() if each is not None}
    return await app.boards.change(board_id, caller.user_id, given)


@router.post("/boards/{board_id}/cards")
async def pin_card(board_id: BoardId, body: Pinned, app: Citewell, caller: Asking) -> Board:
    """Put a saved question behind the others."""
    return await app.boards.pin(board_id, caller.user_id, body.saved_id)


@router.delete("/boards/{board_id}", status_code=204)
async def delete_board(board_id: BoardId, app: Citewell, caller: Asking) -> None:
    """Its questions stay."""
    await app.boards.remove(board_id, caller.user_id)
