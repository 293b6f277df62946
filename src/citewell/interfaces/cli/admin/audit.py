"""`citewell audit`: the log of administration, shown and verified. Exit 1: a broken chain."""

from __future__ import annotations

from typing import Annotated

import typer

from citewell.errors import InvalidInput
from citewell.interfaces.cli.arguments import Json, option
from citewell.interfaces.cli.output.terminal import (
    escape_line_breaks,
    format_time,
    get_stderr,
    print_json,
    print_parts,
    print_text,
    write_paragraph,
)
from citewell.interfaces.cli.run import DONE, ERROR, command
from citewell.runtime.app import App
from citewell.store.users.audit import Audit, Entry, Verified

DAMAGE = {
    "missing": "entries before it are gone",
    "changed": "it is not as it was written",
    "other_key": "it was signed with another key than this home's",
    "renamed": "the name of a person in it is not the one that was written",
    "cut": "entries after it are gone",
    "unexpected": "it is not the entry that was noted",
}
SHOWN = 20  # of what is wrong


@command
async def show_audit(
    app: App,
    verify: Annotated[
        bool, typer.Option("--verify", help="Check the chain; exit 1 where it does not hold.")
    ] = False,
    expect: Annotated[
        str,
        option("With --verify: an entry noted earlier, which must be there.", metavar="SEQ:MAC"),
    ] = "",
    limit: Annotated[int, typer.Option(min=1, max=1_000, help="How many of the newest.")] = 50,
    json: Json = False,
) -> int:
    """Who administered what: users, tokens, collections, sources, backups, restores."""
    if expect and not verify:
        raise typer.BadParameter("--expect goes with --verify")
    if verify:
        return await verify_log(app.audit, expect, json=json)
    return await show_entries(app.audit, limit, json=json)


async def show_entries(audit: Audit, limit: int, *, json: bool) -> int:
    entries = await audit.list(limit)
    if json:
        return print_json({"entries": entries})
    for each in reversed(entries):
        print_parts(
            (f"{each.seq} {format_time(each.at)} ", "dim"), escape_line_breaks(_format_entry(each))
        )
    if not entries:
        print_text("nothing was administered yet")
    return DONE


async def verify_log(audit: Audit, expect: str, *, json: bool) -> int:
    found = await audit.verify()
    wrong = [(each.seq, str(each.what)) for each in found.damage]
    if expect and not await _has_entry(audit, expect):
        wrong.append((int(expect.partition(":")[0]), "unexpected"))
    if json:
        print_json(_to_json(found, wrong))
    elif wrong:
        for seq, what in wrong[:SHOWN]:
            write_paragraph(get_stderr(), f"entry {seq}: {DAMAGE[what]}", "red")
        write_paragraph(
            get_stderr(), f"the log does not hold: {len(wrong)} of {found.entries} entries"
        )
    else:
        print_text(
            f"{found.entries} entries, and the chain holds; note the last one: "
            f"{found.last}:{found.mac}"
        )
    return ERROR if wrong else DONE


async def _has_entry(audit: Audit, expect: str) -> bool:
    seq, _, mac = expect.partition(":")
    if not seq.isdecimal() or not seq.isascii() or len(mac) < 16 or len(seq) > 15:
        raise InvalidInput(
            f"{expect[:80]!r} is no entry", hint="SEQ:MAC, as `citewell audit --verify` told it"
        )
    return any(
        each.seq == int(seq) and each.mac == mac for each in await audit.list(1, int(seq) + 1)
    )


def _to_json(found: Verified, wrong: list[tuple[int, str]]) -> dict[str, object]:
    damage = [{"seq": seq, "what": what} for seq, what in wrong]
    return found.model_dump(mode="json") | {"damage": damage, "ok": not wrong}


def _format_entry(entry: Entry) -> str:
    forgotten = {"server": "the server", "cli": "somebody forgotten", "http": "somebody forgotten"}
    who = entry.who.removeprefix("os:") + (
        " (at the machine)" if entry.channel == "cli" and entry.who else ""
    )
    detail = ", ".join(
        f"{name} {value}" for name, value in entry.detail.items() if value not in ("", None)
    )
    what = f"{entry.action} {entry.subject or 'somebody forgotten'}"
    return f"{who or forgotten[entry.channel]}: {what}{f' ({detail})' if detail else ''}"
