"""`citewell sites`: web sites that are kept. The one rule: a site is not deleted unasked."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from citewell.errors import InvalidInput, StorageError
from citewell.interfaces.cli.arguments import Json, Yes
from citewell.interfaces.cli.group import create_group
from citewell.interfaces.cli.progress import show_progress
from citewell.interfaces.cli.run import DONE, ERROR, run
from citewell.interfaces.cli.terminal import (
    ask_confirmation,
    escape_line_breaks,
    get_stderr,
    get_stdout,
    print_json,
    print_warning,
    style_text,
    write_paragraph,
)
from citewell.runtime.app import App
from citewell.service.sites import sites as service
from citewell.service.sites.sites import Refreshed, SiteInfo

SUFFIXES = {".jsonl", ".ndjson"}
Name = Annotated[
    str, typer.Argument(metavar="NAME", help="The site: its collection.", show_default=False)
]


def run_list(json: Json = False) -> None:
    """List sites: their pages, and when those were last asked for."""
    run(lambda app: show_sites(app, json=json), json=json)


def run_pages(name: Name, json: Json = False) -> None:
    """List the pages of a site, and what could not be read."""
    run(lambda app: show_pages(app, name, json=json), json=json)


def run_refresh(name: Name, json: Json = False) -> None:
    """Ask for every page anew; what is gone from the site is removed."""
    run(lambda app: refresh_site(app, name, json=json), json=json)


def run_export(
    name: Name,
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="A .jsonl file; - for standard output.", show_default=False
        ),
    ],
    json: Json = False,
) -> None:
    """Write the pages of a site, one JSON object a line: text, links, address, time, hash."""
    if json and file == "-":
        raise typer.BadParameter("--json prints one object, and - prints the pages; choose one")
    run(lambda app: export_site(app, name, file, json=json), json=json)


def run_delete(name: Name, yes: Yes = False, json: Json = False) -> None:
    """Delete a site with its pages; files that were added to its collection stay."""
    run(lambda app: delete_site(app, name, yes=yes, json=json), json=json)


async def show_sites(app: App, *, json: bool) -> int:
    sites = await service.list_sites(app)
    if json:
        print_json({"sites": [site.model_dump(mode="json") for site in sites]})
        return DONE
    if not sites:
        write_paragraph(
            get_stdout(),
            style_text(
                "no sites yet; `citewell site URL -q QUESTION` explores one, `citewell add URL` "
                "adds a page"
            ),
        )
    for site in sites:
        write_paragraph(
            get_stdout(),
            style_text(site.collection, "bold") + style_text(f" {_format_facts(site)}", "dim"),
        )
        for url in site.start_urls:
            write_paragraph(get_stdout(), style_text(escape_line_breaks(url)), indent=2)
    return DONE


async def show_pages(app: App, name: str, *, json: bool) -> int:
    site, pages = await service.get_site(app, name), await service.list_pages(app, name)
    if json:
        print_json(
            {
                "site": site.model_dump(mode="json"),
                "pages": [page.model_dump(mode="json") for page in pages],
            }
        )
        return DONE
    for page in pages:
        write_paragraph(
            get_stdout(),
            style_text(escape_line_breaks(page.url), "cyan")
            + style_text(f" {escape_line_breaks(page.title)}"),
        )
        if page.doc_id:
            write_paragraph(
                get_stdout(),
                style_text(
                    f"{page.doc_id}, fetched {_format_day(page.fetched_at)}, "
                    f"checked {_format_day(page.checked_at)}",
                    "dim",
                ),
                indent=2,
            )
        if page.problem:
            write_paragraph(
                get_stdout(),
                style_text(f"{_format_day(page.checked_at)}: {page.problem}", "yellow"),
                indent=2,
            )
    return DONE


async def refresh_site(app: App, name: str, *, json: bool) -> int:
    async with show_progress() as tell:
        done = await service.refresh_site(app, name, tell)
    if json:
        print_json(done.model_dump(mode="json"))
    else:
        _show_refresh(done)
    for warning in done.warnings:
        print_warning(warning)
    if done.problem:
        print_warning(
            "the pages can be found by their words; to find them by meaning, refresh again when "
            f"this is solved: {done.problem}"
        )
    return ERROR if done.failed or done.problem else DONE


async def export_site(app: App, name: str, file: str, *, json: bool) -> int:
    """A file appears whole or not at all."""
    if file == "-":
        async for line in service.export_site(app, name):
            sys.stdout.write(line.encode("utf-8", "replace").decode("utf-8"))
        sys.stdout.flush()
        return DONE
    path, pages = _check_export_path(file), 0
    part = path.with_name(path.name + ".part")
    try:
        with part.open("w", encoding="utf-8", errors="replace", newline="\n") as target:
            async for line in service.export_site(app, name):
                target.write(line)
                pages += 1
        part.replace(path)
    except OSError as error:
        why = f"{error.filename or part}: cannot be written: {error.strerror}"
        raise StorageError(
            why, hint="see that the folder is there, can be written to and has room"
        ) from error
    finally:
        part.unlink(missing_ok=True)
    if json:
        print_json({"collection": name, "file": str(path), "pages": pages})
    else:
        write_paragraph(
            get_stdout(), style_text(f"{_format_count(pages, 'page')} written to {path}")
        )
    return DONE


def _check_export_path(named: str) -> Path:
    path = Path(named).expanduser()
    if path.suffix.lower() not in SUFFIXES:
        raise InvalidInput(
            f"{named}: not a name for lines of JSON",
            hint="name it NAME.jsonl, or - for standard output",
        )
    return path


async def delete_site(app: App, name: str, *, yes: bool, json: bool) -> int:
    info = await service.get_site(app, name)
    if not yes and not ask_confirmation(
        f"Delete site {escape_line_breaks(name)} with {_format_count(info.pages, 'page')}? [y/N] ",
        "deletes",
    ):
        write_paragraph(get_stderr(), style_text("nothing deleted"))
        return ERROR
    gone = await service.delete_site(app, name)
    if json:
        print_json(gone.model_dump(mode="json"))
        return DONE
    kept = (
        f"; {_format_count(gone.kept, 'other document')} of the collection stay"
        if gone.kept
        else ""
    )
    write_paragraph(
        get_stdout(),
        style_text(
            f"deleted {escape_line_breaks(name)} ({_format_count(gone.pages, 'page')}){kept}"
        ),
    )
    return DONE


def _show_refresh(done: Refreshed) -> None:
    for url in done.removed:
        write_paragraph(
            get_stdout(), style_text("removed   ", "yellow") + style_text(escape_line_breaks(url))
        )
    for problem in done.failed:
        write_paragraph(
            get_stdout(),
            style_text("failed    ", "red")
            + style_text(f"{escape_line_breaks(problem.url)}: {problem.reason}"),
        )
    sums = {
        "changed": done.changed,
        "unchanged": done.unchanged,
        "removed": len(done.removed),
        "failed": len(done.failed),
    }
    write_paragraph(
        get_stdout(),
        style_text(
            ", ".join(f"{count} {what}" for what, count in sums.items() if count) or "no pages",
            "bold",
        ),
    )


def _format_facts(site: SiteInfo) -> str:
    parts = [
        _format_count(site.pages, "page"),
        f"{site.bytes / 1e6:.1f} MB",
        _format_count(site.chunks, "passage"),
    ]
    if site.chunks > site.embedded:
        parts.append(f"{site.chunks - site.embedded} to embed")
    if site.problems:
        parts.append(f"{site.problems} not readable")
    if site.oldest is not None and site.newest is not None:
        days = [_format_day(site.oldest), _format_day(site.newest)]
        parts.append("checked " + " to ".join(dict.fromkeys(days)))
    return ", ".join(parts)


def _format_count(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count:,} {what}s"


def _format_day(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))


group = create_group(
    "Web sites that are kept.",
    {
        "list": run_list,
        "pages": run_pages,
        "refresh": run_refresh,
        "export": run_export,
        "delete": run_delete,
    },
)
