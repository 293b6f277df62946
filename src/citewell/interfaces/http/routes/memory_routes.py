"""`/api/memories`: what is remembered of a user: list, read with history, reword, forget. To forget
everything of a user, the user is named.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel

from citewell.interfaces.http.body import Closed, JSONRoute
from citewell.interfaces.http.deps import Asking, Citewell
from citewell.service.sessions import memories as service
from citewell.store.memory import Forgotten
from citewell.store.memory_rows import Memory

router = APIRouter(prefix="/api/memories", tags=["memories"], route_class=JSONRoute)


class Memories(BaseModel):
    memories: list[Memory]


class MemoryWithHistory(Memory):
    history: list[Memory]


class NewText(Closed):
    text: str


@router.get("")
async def list_memories(app: Citewell, caller: Asking, history: bool = False) -> Memories:
    """Newest first; older versions only with `history`."""
    return Memories(memories=await app.memories.list(caller.user_id, history=history))


@router.get("/{memory_id}")
async def get_memory(memory_id: str, app: Citewell, caller: Asking) -> MemoryWithHistory:
    """With its older versions."""
    found = await service.show_memory(app, caller.user_id, memory_id)
    return MemoryWithHistory(**found.memory.model_dump(), history=found.history)


@router.patch("/{memory_id}")
async def edit_memory(memory_id: str, body: NewText, app: Citewell, caller: Asking) -> Memory:
    """Reword a fact; its old words become history."""
    return await service.edit_memory(app, caller.user_id, memory_id, body.text)


@router.delete("/{memory_id}")
async def forget_memory(memory_id: str, app: Citewell, caller: Asking) -> Forgotten:
    """With its history, what was derived from it, and the traces that used any of them."""
    return await app.memories.forget(caller.user_id, memory_id)


@router.delete("", operation_id="forget_all_memories")
async def forget_all(
    app: Citewell, caller: Asking, user_id: Annotated[str, Query(min_length=1)]
) -> Forgotten:
    """Everything that is remembered of a user."""
    return await app.memories.forget_all(caller.resolve_user(user_id))
