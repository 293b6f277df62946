"""Files that hold others: ZIP archives, and mails with what is attached to them. What a container
says of its own sizes is not believed; bytes are counted as they come out, for all that is nested in
it together.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePath
from typing import Final, NamedTuple

from citewell.config import IngestSettings
from citewell.errors import UnreadableFile
from citewell.ingest.archive.unpacked import Member, Taken, Unpacked
from citewell.ingest.archive.zip_members import unzip
from citewell.ingest.bounded import run_bounded
from citewell.ingest.sniff import sniff
from citewell.ingest.web.eml import extract_attachments
from citewell.messages import Text


class Unpacking(NamedTuple):
    """What came out of a container, and what was left out and why."""

    members: list[Member]
    warnings: list[str]
    taken: Taken


def _unpack_mail(data: bytes, name: str, into: Unpacked) -> None:
    for member, content in extract_attachments(data, name):
        into.offer(member, content)


# suffix -> what puts the files that it holds into an `Unpacked`
CONTAINERS: Final[dict[str, Callable[[bytes, str, Unpacked], None]]] = {
    ".zip": unzip,
    ".eml": _unpack_mail,
}


async def unpack(
    data: bytes, name: str, settings: IngestSettings, taken: Taken | None = None
) -> Unpacking:
    """The readable files that `data` holds, and warnings that name what was left out; nothing for a
    file that holds no others.

    `taken`: of a file that came out of another, what came out of the outermost so far. Raises
    UnreadableFile for a bomb, a broken or an encrypted archive. Runs in a worker process.
    """
    taken = taken or Taken(len(data))
    if PurePath(name).suffix.lower() not in CONTAINERS:
        return Unpacking([], [], taken)
    result = await run_bounded(
        "citewell.ingest.archive.unpack:unpack_here", data, name, settings, taken
    )
    assert isinstance(result, Unpacking)
    return result


def unpack_here(
    data: bytes, name: str, settings: IngestSettings, taken: Taken | None = None
) -> Unpacking:
    """The same without a process of its own."""
    suffix, kind = PurePath(name).suffix.lower(), sniff(data)
    if suffix == ".zip" and kind is not None and kind.suffix:
        raise UnreadableFile(
            Text("{name} is {words}", name=name, words=kind.words),
            hint=Text("name it {suffix} and add it again", suffix=kind.suffix),
        )
    into = Unpacked(name, settings, taken or Taken(len(data)))
    try:
        CONTAINERS[suffix](data, name, into)
    except (RecursionError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise UnreadableFile(
            Text(
                "{name} is broken: {type_name}: {error}",
                name=name,
                type_name=type(error).__name__,
                error=error,
            )[:300]
        ) from None
    return Unpacking(into.members, into.get_warnings(), into.taken)
