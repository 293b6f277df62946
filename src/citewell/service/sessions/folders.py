"""Folders of conversations: list, make, rename, delete; put a conversation into one."""

from __future__ import annotations

from citewell.errors import InvalidInput
from citewell.messages import Text
from citewell.runtime.app import App
from citewell.service.sessions.sessions import get_own_session
from citewell.store.conversations.folders import Folder
from citewell.store.session_rows import SessionInfo

LONGEST = 60  # characters of a name


async def list_folders(app: App, user_id: str) -> list[Folder]:
    """By name."""
    return await app.folders.list(user_id)


async def create_folder(app: App, user_id: str, name: str) -> Folder:
    """Raises InvalidInput, Conflict."""
    return await app.folders.create(user_id, check_name(name))


async def rename_folder(app: App, user_id: str, folder_id: str, name: str) -> Folder:
    """Raises NotFound, InvalidInput, Conflict."""
    return await app.folders.rename(user_id, folder_id, check_name(name))


async def delete_folder(app: App, user_id: str, folder_id: str) -> None:
    """Its conversations stay. Raises NotFound."""
    await app.folders.delete(user_id, folder_id)


async def move_session(app: App, session_id: str, folder_id: str, user_id: str) -> SessionInfo:
    """An empty id takes it out of its folder. Raises NotFound."""
    await get_own_session(app, session_id, user_id)
    if folder_id:
        await app.folders.get(user_id, folder_id)
    return await app.sessions.mark(session_id, folder=folder_id)


def check_name(name: str) -> str:
    """Without space around it. Raises InvalidInput."""
    name = name.strip()
    if not name or len(name) > LONGEST or not name.isprintable():
        raise InvalidInput(
            Text("a folder's name has 1 to {longest} printable characters", longest=LONGEST)
        )
    return name
