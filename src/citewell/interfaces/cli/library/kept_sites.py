"""`citewell sites`: web sites that are kept. A site is not deleted unasked."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from citewell.errors import InvalidInput
from citewell.interfaces.cli.arguments import Json, Yes, argument
from citewell.interfaces.cli.group import create_group
from citewell.interfaces.cli.output.progress import show_progress
from citewell.interfaces.cli.output.terminal import (
    ask_confirmation,
    escape_line_breaks,
    format_minute,
    get_stderr,
    print_json,
    print_parts,
    print_text,
    print_warning,
    write_paragraph,
)
from citewell.interfaces.cli.output.text_file import open_whole_file
from citewell.interfaces.cli.run import DONE, ERROR, command
from citewell.runtime.app import App
from citewell.service.sites import refresh_site as refresh
from citewell.service.sites import sites as service
from citewell.service.sites.refresh_site import Refreshed
from citewell.service.sites.sites import SiteInfo

SUFFIXES = {".jsonl", ".ndjson"}
Name = Annotated[str, argument("The site: its collection.", "NAME")]


@command
async def show_sites(app: App, json: Json = False) -> int:
    """List sites: their pages, and when those were last asked for."""
    sites = await service.list_sites(app)
    if json:
        return print_json({"sites": sites})
    if not sites:
        print_text(
            "no sites yet; `citewell site URL -q QUESTION` explores one, `citewell add URL` "
            "adds a page"
        )
    for site in sites:
        print_parts((site.collection, "bold"), (f" {_format_facts(site)}", "dim"))
        for url in site.start_urls:
            print_text(escape_line_breaks(url), indent=2)
    return DONE


@command
async def show_pages(app: App, name: Name, json: Json = False) -> int:
    """List the pages of a site, and what could not be read."""
    site, pages = await service.get_site(app, name), await service.list_pages(app, name)
    if json:
        return print_json({"site": site, "pages": pages})
    for page in pages:
        print_parts((escape_line_breaks(page.url), "cyan"), f" {escape_line_breaks(page.title)}")
        if page.doc_id:
            print_text(
                f"{page.doc_id}, fetched {format_minute(page.fetched_at)}, "
                f"checked {format_minute(page.checked_at)}",
                "dim",
                indent=2,
            )
        if page.problem:
            print_text(f"{format_minute(page.checked_at)}: {page.problem}", "yellow", indent=2)
    return DONE


@command
async def refresh_site(app: App, name: Name, json: Json = False) -> int:
    """Ask for every page anew; what is gone from the site is removed."""
    async with show_progress() as tell:
        done = await refresh.refresh_site(app, name, tell)
    if json:
        print_json(done)
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


@command
async def export_site(
    app: App,
    name: Name,
    file: Annotated[str, argument("A .jsonl file; - for standard output.", "FILE")],
    json: Json = False,
) -> int:
    """Write the pages of a site, one JSON object a line: text, links, address, time, hash."""
    if json and file == "-":
        raise typer.BadParameter("--json prints one object, and - prints the pages; choose one")
    if file == "-":
        async for line in service.export_site(app, name):
            sys.stdout.write(line.encode("utf-8", "replace").decode("utf-8"))
        sys.stdout.flush()
        return DONE
    path, pages = _check_export_path(file), 0
    with open_whole_file(path) as target:
        async for line in service.export_site(app, name):
            target.write(line)
            pages += 1
    if json:
        return print_json({"collection": name, "file": str(path), "pages": pages})
    print_text(f"{_format_count(pages, 'page')} written to {path}")
    return DONE


def _check_export_path(named: str) -> Path:
    path = Path(named).expanduser()
    if path.suffix.lower() not in SUFFIXES:
        raise InvalidInput(
            f"{named}: not a name for lines of JSON",
            hint="name it NAME.jsonl, or - for standard output",
        )
    return path


@command
async def delete_site(app: App, name: Name, yes: Yes = False, json: Json = False) -> int:
    """Delete a site with its pages; files that were added to its collection stay."""
    info = await service.get_site(app, name)
    if not yes and not ask_confirmation(
        f"Delete site {escape_line_breaks(name)} with {_format_count(info.pages, 'page')}? [y/N] ",
        "deletes",
    ):
        write_paragraph(get_stderr(), "nothing deleted")
        return ERROR
    gone = await service.delete_site(app, name)
    if json:
        return print_json(gone)
    kept = (
        f"; {_format_count(gone.kept, 'other document')} of the collection stay"
        if gone.kept
        else ""
    )
    print_text(f"deleted {escape_line_breaks(name)} ({_format_count(gone.pages, 'page')}){kept}")
    return DONE


def _show_refresh(done: Refreshed) -> None:
    for url in done.removed:
        print_parts(("removed   ", "yellow"), escape_line_breaks(url))
    for problem in done.failed:
        print_parts(("failed    ", "red"), f"{escape_line_breaks(problem.url)}: {problem.reason}")
    sums = {
        "changed": done.changed,
        "unchanged": done.unchanged,
        "removed": len(done.removed),
        "failed": len(done.failed),
    }
    print_text(
        ", ".join(f"{count} {what}" for what, count in sums.items() if count) or "no pages", "bold"
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
        days = [format_minute(site.oldest), format_minute(site.newest)]
        parts.append("checked " + " to ".join(dict.fromkeys(days)))
    return ", ".join(parts)


def _format_count(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count:,} {what}s"


group = create_group(
    "Web sites that are kept.",
    {
        "list": show_sites,
        "pages": show_pages,
        "refresh": refresh_site,
        "export": export_site,
        "delete": delete_site,
    },
)
