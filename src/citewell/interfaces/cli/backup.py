"""`citewell backup` and `citewell restore`. The one rule: what was done is told in a line or two,
with what to do next.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import typer

from citewell.errors import StorageError
from citewell.interfaces.cli.progress import watching_bytes
from citewell.interfaces.cli.run import DONE, boundary
from citewell.interfaces.cli.terminal import out, print_json, styled, warn, write
from citewell.service.admin import backup as service
from citewell.service.admin.backup_audit import note_backup, note_restore
from citewell.service.admin.backup_list import Manifest
from citewell.service.admin.backup_restore import (
    free_to_restore,
    migrated,
    put_in_place,
    restored,
    unpacked,
)
from citewell.service.admin.backup_verify import rotate
from citewell.service.admin.backup_verify import verify as verified
from citewell.service.admin.hidden_copies import sweep, told_of
from citewell.store.copies import SCHEMA


def make(file: str | None, *, keep: int | None, json: bool) -> None:
    with boundary(json=json) as settings:
        for left in sweep(settings.home):
            warn(told_of(left))
        with watching_bytes("packing") as tell:
            made = service.backup(settings.home, Path(file) if file else None, tell)
        if keep is not None:
            with watching_bytes("checking") as tell:
                verified(Path(made.file), settings.home, tell)
            made = made.model_copy(
                update={"verified": True, "removed": rotate(Path(made.file).parent, keep)}
            )
        _noted(settings.home, made)
        for name in made.left_out[:10]:
            warn(f"left out, for it is none of Citewell's: {name}")
        if len(made.left_out) > 10:
            warn(f"and {len(made.left_out) - 10} more")
        if json:
            print_json(made.model_dump(mode="json"))
        else:
            write(
                out(),
                styled(
                    f"{made.file}: {_size(made.bytes)} of {_size(made.unpacked)}, "
                    f"in {made.seconds:.1f} s"
                ),
            )
            write(
                out(), styled(f"{_counted(made.counts)}; it is as private as the home: keep it so")
            )
            if made.verified:
                write(out(), styled(f"verified; {len(made.removed)} older removed"))
        raise typer.Exit(DONE)


def verify(file: str, *, json: bool) -> None:
    with boundary(json=json) as settings:
        archive = Path(file).expanduser()
        with watching_bytes("checking") as tell:
            manifest = verified(archive, settings.home, tell)
        if json:
            print_json({"file": str(archive), "ok": True} | _shown(manifest))
        else:
            write(
                out(),
                styled(
                    f"{archive}: whole; of {manifest.created_at}, by Citewell {manifest.version}"
                ),
            )
            write(out(), styled(_counted(manifest.counts)))
        raise typer.Exit(DONE)


def restore(file: str, home: str | None, *, force: bool, json: bool) -> None:
    named = str(Path(home).expanduser().absolute()) if home else None
    with boundary(json=json, home=named) as settings:
        archive, place = Path(file).expanduser(), settings.home.expanduser().resolve()
        free_to_restore(place, force=force)
        with (
            watching_bytes("restoring") as tell,
            unpacked(archive, place, tell) as (made, manifest),
        ):
            asyncio.run(migrated(made))
            asyncio.run(note_restore(made, place, archive, manifest))
            before = put_in_place(made, place, force=force)
        done = restored(archive, place, manifest, before)
        for warning in done.warnings:
            warn(warning)
        if json:
            print_json(done.model_dump(mode="json"))
        else:
            write(
                out(),
                styled(
                    f"{place}: restored, as it was "
                    f"{manifest.created_at}; {_counted(manifest.counts)}"
                ),
            )
            if done.migrated_from is not None:
                write(
                    out(),
                    styled(f"brought from schema {done.migrated_from} to {done.schema_version}"),
                )
            if before is not None:
                write(out(), styled(f"the home of before is {before}: remove it when all is well"))
        raise typer.Exit(DONE)


def _noted(home: Path, made: service.BackupMade) -> None:
    """In the log of administration. A home that cannot be written to has a backup all the same, and
    one of an earlier version is not brought up to date by it.
    """
    if made.schema_version != SCHEMA:
        return
    try:
        asyncio.run(note_backup(home, made))
    except StorageError as error:
        warn(f"the backup is not in the log of administration: {error.message}")


def _shown(manifest: Manifest) -> dict[str, object]:
    return manifest.model_dump(mode="json", exclude={"files", "format"}) | {
        "files": len(manifest.files),
        "unpacked": manifest.size,
    }


def _counted(counts: dict[str, int]) -> str:
    names = ("documents", "sessions", "traces", "confirmed", "sources", "users")
    return (
        ", ".join(f"{counts[name]} {name}" for name in names if counts.get(name))
        or "nothing is in it yet"
    )


def _size(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 100_000 else f"{size / 1e3:.0f} kB"
