"""`citewell backup` and `citewell restore`. What was done is told, with what to do next."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from citewell.config import Settings
from citewell.errors import StorageError
from citewell.interfaces.cli.arguments import Json, argument, option
from citewell.interfaces.cli.output.progress import show_byte_progress
from citewell.interfaces.cli.output.terminal import print_json, print_text, print_warning
from citewell.interfaces.cli.run import DONE, guard_command
from citewell.runtime.app import make_database
from citewell.service.admin import backup as service
from citewell.service.admin.backup_list import DATABASE, Manifest
from citewell.service.admin.backup_read import read_manifest
from citewell.service.admin.backup_restore import (
    Restored,
    build_restore_result,
    check_restore_target,
    migrate_home,
    put_in_place,
    unpack_archive,
)
from citewell.service.admin.backup_verify import (
    note_backup,
    note_restore,
    remove_old_backups,
    unpack_inside,
)
from citewell.service.admin.backup_verify import verify_backup as verified
from citewell.service.admin.hidden_copies import describe_copy, sweep_hidden_copies
from citewell.service.shared_home.backup_shared import choose_copy
from citewell.service.shared_home.restore_shared import restore_shared_home
from citewell.store.copies import SCHEMA
from citewell.store.db import Database


def run_backup(
    file: Annotated[
        str | None, argument("The archive; a folder, or none: named by the moment.", "[FILE]")
    ] = None,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify", help="Write nothing: check FILE, unpack it, open what it makes and ask it."
        ),
    ] = False,
    keep: Annotated[
        int | None,
        option(
            "Verify what was written; then remove all but so many in its folder, named by "
            "their moment.",
            min=1,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Put all that is kept into one archive, also while the server runs (docs/backup.md)."""
    if verify and file is None:
        raise typer.BadParameter("name the archive to check: citewell backup --verify FILE")
    if verify and keep is not None:
        raise typer.BadParameter("--keep goes with a backup that is written")
    if verify and file is not None:
        verify_backup(file, json=json)
    make_backup(file, keep=keep, json=json)


def run_restore(
    file: Annotated[str, argument("An archive of `citewell backup`.", "FILE")],
    home: Annotated[
        str | None, option("Where to; the home of the settings.", metavar="DIR")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace what is there, and keep that beside it.")
    ] = False,
    json: Json = False,
) -> None:
    """Make a home of an archive: checked first, then in place at once."""
    named = str(Path(home).expanduser().absolute()) if home else None
    with guard_command(json=json, home=named) as settings:
        archive, place = Path(file).expanduser(), settings.home.expanduser().resolve()
        read_manifest(archive)  # one that is none is told before --force is asked for
        if home is None and settings.database_url.get_secret_value():
            done = restore_into_server(settings, archive, place)
        else:
            done = restore_into_folder(archive, place, force=force)
        for warning in done.warnings:
            print_warning(warning)
        if json:
            print_json(done)
        else:
            _show_restored(done)
        raise typer.Exit(DONE)


def restore_into_folder(archive: Path, place: Path, *, force: bool) -> Restored:
    check_restore_target(place, force=force)
    with (
        show_byte_progress("restoring") as tell,
        unpack_archive(archive, place, tell) as (made, manifest),
    ):
        asyncio.run(migrate_home(made))
        asyncio.run(note_restore(Database(made / DATABASE), place, archive, manifest))
        before = put_in_place(made, place, force=force)
    return build_restore_result(archive, place, manifest, before)


def restore_into_server(settings: Settings, archive: Path, place: Path) -> Restored:
    """Into the database and the object store of the settings, which have to be empty."""
    with (
        show_byte_progress("restoring") as tell,
        unpack_inside(archive, place, tell) as (made, manifest),
    ):
        asyncio.run(restore_shared_home(settings, made))
    asyncio.run(note_restore(make_database(settings), place, archive, manifest))
    return build_restore_result(archive, place, manifest, None)


def make_backup(file: str | None, *, keep: int | None, json: bool) -> None:
    with guard_command(json=json) as settings:
        for left in sweep_hidden_copies(settings.home):
            print_warning(describe_copy(left))
        with show_byte_progress("packing") as tell:
            made = service.create_backup(
                settings.home, Path(file) if file else None, tell, choose_copy(settings)
            )
        if keep is not None:
            with show_byte_progress("checking") as tell:
                verified(Path(made.file), settings.home, tell)
            made = made.model_copy(
                update={
                    "verified": True,
                    "removed": remove_old_backups(Path(made.file).parent, keep),
                }
            )
        _record_backup(settings, made)
        for name in made.left_out[:10]:
            print_warning(f"left out, for it is none of Citewell's: {name}")
        if len(made.left_out) > 10:
            print_warning(f"and {len(made.left_out) - 10} more")
        if json:
            print_json(made)
        else:
            print_text(
                f"{made.file}: {_format_size(made.bytes)} of {_format_size(made.unpacked)}, "
                f"in {made.seconds:.1f} s"
            )
            print_text(f"{_format_counts(made.counts)}; it is as private as the home: keep it so")
            if made.verified:
                print_text(f"verified; {len(made.removed)} older removed")
        raise typer.Exit(DONE)


def verify_backup(file: str, *, json: bool) -> None:
    with guard_command(json=json) as settings:
        archive = Path(file).expanduser()
        with show_byte_progress("checking") as tell:
            manifest = verified(archive, settings.home, tell)
        if json:
            print_json({"file": str(archive), "ok": True} | _to_json(manifest))
        else:
            print_text(
                f"{archive}: whole; of {manifest.created_at}, by Citewell {manifest.version}"
            )
            print_text(_format_counts(manifest.counts))
        raise typer.Exit(DONE)


def _show_restored(done: Restored) -> None:
    print_text(f"{done.home}: restored, as it was {done.created_at}; {_format_counts(done.counts)}")
    if done.migrated_from is not None:
        print_text(f"brought from schema {done.migrated_from} to {done.schema_version}")
    if done.replaced:
        print_text(f"the home of before is {done.replaced}: remove it when all is well")


def _record_backup(settings: Settings, made: service.BackupMade) -> None:
    """In the log of administration. A home that cannot be written to has a backup all the same, and
    one of an earlier version is not brought up to date by it.
    """
    if made.schema_version != SCHEMA:
        return
    try:
        asyncio.run(note_backup(make_database(settings), settings.home, made))
    except StorageError as error:
        print_warning(f"the backup is not in the log of administration: {error.message}")


def _to_json(manifest: Manifest) -> dict[str, object]:
    return manifest.model_dump(mode="json", exclude={"files", "format"}) | {
        "files": len(manifest.files),
        "unpacked": manifest.size,
    }


def _format_counts(counts: dict[str, int]) -> str:
    names = ("documents", "sessions", "traces", "confirmed", "sources", "users")
    return (
        ", ".join(f"{counts[name]} {name}" for name in names if counts.get(name))
        or "nothing is in it yet"
    )


def _format_size(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 100_000 else f"{size / 1e3:.0f} kB"
