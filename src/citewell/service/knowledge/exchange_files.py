"""Export what people confirmed as plain files, and import such files: a folder that works in git. A
file is a stranger's word. It is checked like one (form, guard, engine, quotes), and counts no more
than the person who imports it: confirmations in it are taken over only where that person could make
it count alone.
"""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

import anyio.to_thread

from citewell.errors import InvalidInput, StatementRefused, StorageError
from citewell.runtime.app import App
from citewell.service.knowledge.give_feedback import normalize_user
from citewell.service.knowledge.import_confirmed import ImportedFile, import_item, import_rule
from citewell.store.confirmed import items as confirmed
from citewell.store.confirmed import rules
from citewell.store.confirmed.exchange import (
    MOST_BYTES,
    read_item,
    read_rule,
    render_item_file,
    render_rule_file,
)
from citewell.store.confirmed.item_files import has_same_content, write_file
from citewell.types import Shown

ITEMS, RULES = "confirmed_qa", "rules"  # folders below the one named
MOST_FILES = 20_000
MOST_TOTAL = 200_000_000  # bytes of all files together
_OURS = re.compile(
    r"(?:confirmed_qa/(?P<item>[A-Za-z0-9][A-Za-z0-9_-]{0,99})|rules/"
    r"(?P<rule>rule_[0-9a-f]{1,64}))\.md"
)


class Exported(Shown):
    """`written` files are new or changed, `left` are of items that are not here (any more)."""

    folder: str
    items: int
    rules: int
    written: list[str]
    left: list[str]
    pruned: list[str]


class Imported(Shown):
    files: list[ImportedFile]

    @property
    def failed(self) -> list[ImportedFile]:
        return [each for each in self.files if each.status == "failed"]


async def export_knowledge(app: App, folder: Path, *, prune: bool = False) -> Exported:
    """Active and pending items, active and waiting rules, one file each. `prune`: files of what is
    not here go; files that are not Citewell's stay. Raises StorageError.
    """
    items = [i for i in await app.db.read(confirmed.list_items) if i.state in {"active", "pending"}]
    known = [r for r in await app.db.read(rules.list_rules) if r.state in {"active", "waiting"}]
    wanted = {Path(ITEMS, f"{item.trace_id}.md"): render_item_file(item) for item in items}
    wanted |= {Path(RULES, f"{rule.rule_id}.md"): render_rule_file(rule) for rule in known}

    def put() -> tuple[list[str], list[str], list[str]]:
        folder.mkdir(parents=True, exist_ok=True)
        written = [
            str(name)
            for name, text in sorted(wanted.items())
            if not has_same_content(folder / name, text.encode())
        ]
        for name in written:
            write_file(folder / name, wanted[Path(name)])
        left = sorted(
            name
            for name in _list_files(folder)
            if Path(name) not in wanted and _is_exported_file(folder, name)
        )
        if prune:
            for name in left:
                (folder / name).unlink(missing_ok=True)
        return written, [] if prune else left, left if prune else []

    try:
        written, left, pruned = await anyio.to_thread.run_sync(put)
    except OSError as error:
        raise StorageError(
            f"{folder}: {error.strerror or error}", hint="name a folder that can be written to"
        ) from None
    return Exported(
        folder=str(folder),
        items=len(items),
        rules=len(known),
        written=written,
        left=left,
        pruned=pruned,
    )


async def import_knowledge(app: App, folder: Path, user_id: str = "local") -> Imported:
    """Every file for itself: faults are told, others go on. Raises InvalidInput (no folder)."""
    user = normalize_user(user_id)
    if not await anyio.to_thread.run_sync(folder.is_dir):
        raise InvalidInput(
            f"{folder}: no such folder", hint="name the one that `citewell knowledge export` wrote"
        )
    names = await anyio.to_thread.run_sync(_list_files, folder)
    if len(names) > MOST_FILES:
        raise InvalidInput(
            f"{folder}: {len(names):,} files are more than the {MOST_FILES:,} allowed",
            hint="import a part of it",
        )
    if (total := await anyio.to_thread.run_sync(_count_bytes, folder, names)) > MOST_TOTAL:
        raise InvalidInput(
            f"{folder}: {total:,} bytes are more than the {MOST_TOTAL:,} allowed",
            hint="import a part of it",
        )
    if not names:
        raise InvalidInput(
            f"{folder}: no files in {ITEMS} or {RULES}", hint="name the folder that holds these two"
        )
    return Imported(files=[await _import_file(app, folder, name, user) for name in names])


def _list_files(folder: Path) -> list[str]:
    """Files of ours, by their names below the folder; what is hidden is left out."""
    return sorted(
        f"{part}/{file.name}"
        for part in (ITEMS, RULES)
        if (folder / part).is_dir()
        for file in (folder / part).iterdir()
        if file.suffix == ".md" and not file.name.startswith(".")
    )


def _count_bytes(folder: Path, names: list[str]) -> int:
    """Bytes that would be read: of each file no more than one may have."""
    total = 0
    for name in names:
        with suppress(OSError):
            total += min((folder / name).lstat().st_size, MOST_BYTES)
    return total


def _is_exported_file(folder: Path, name: str) -> bool:
    """Whether an export wrote this file: name of our form, front matter with our mark and id."""
    found, path = _OURS.fullmatch(name), folder / name
    if found is None or path.is_symlink() or not path.is_file():
        return False
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            head = file.read(MOST_BYTES)
    except OSError:
        return False
    front, end, _ = head.partition("\n---\n")
    lines = front.split("\n")
    mine = f"id: {found['rule'] or 'qa_confirmed_' + found['item']}"
    return (
        bool(end)
        and lines[0] == "---"
        and mine in lines
        and any(line.startswith("citewell: ") for line in lines)
    )


async def _import_file(app: App, folder: Path, name: str, user: str) -> ImportedFile:
    try:
        data = await anyio.to_thread.run_sync(_read_bytes, folder / name)
        if name.startswith(f"{RULES}/"):
            return await import_rule(
                app, name, await anyio.to_thread.run_sync(read_rule, data, Path(name).stem), user
            )
        return await import_item(
            app, name, await anyio.to_thread.run_sync(read_item, data, Path(name).stem), user
        )
    except (InvalidInput, StatementRefused) as error:
        why = error.explanation
        return ImportedFile(path=name, status="failed", reason=why)
    except OSError as error:
        return ImportedFile(path=name, status="failed", reason=error.strerror or str(error))


def _read_bytes(path: Path) -> bytes:
    if path.is_symlink() or not path.is_file():
        raise InvalidInput("not a plain file", hint="links are not followed")
    with path.open("rb") as file:
        return file.read(MOST_BYTES + 1)
