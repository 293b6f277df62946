"""`citewell audit`: the log of administration, shown and verified. The one rule: a chain that does
not hold is exit 1.
"""

from __future__ import annotations

import time
from typing import Annotated

import typer

from citewell.errors import InvalidInput
from citewell.interfaces.cli.arguments import Json
from citewell.interfaces.cli.run import DONE, ERROR, run
from citewell.interfaces.cli.terminal import (
    escape_line_breaks,
    get_stderr,
    get_stdout,
    print_json,
    style_text,
    write_paragraph,
)
from citewell.runtime.app import App
from citewell.store.users.audit import Entry, Verified

DAMAGE = {
    "missing": "entries before it are gone",
    "changed": "it is not as it was written",
    "other_key": "it was signed with another key than this home's",
    "renamed": "the name of a person in it is not the one that was written",
    "cut": "entries after it are gone",
    "unexpected": "it is not the entry that was noted",
}
SHOWN = 20  # of what is wrong


def run_audit(
    verify: Annotated[
        bool, typer.Option("--verify", help="Check the chain; exit 1 where it does not hold.")
    ] = False,
    expect: Annotated[
        str,
        typer.Option(
            metavar="SEQ:MAC",
            help="With --verify: an entry noted earlier, which must be there.",
            show_default=False,
        ),
    ] = "",
    limit: Annotated[int, typer.Option(min=1, max=1_000, help="How many of the newest.")] = 50,
    json: Json = False,
) -> None:
    """Who administered what: users, tokens, collections, sources, backups, restores."""
    if expect and not verify:
        raise typer.BadParameter("--expect goes with --verify")
    run(
        lambda app: (
            verify_log(app, expect, json=json) if verify else show_entries(app, limit, json=json)
        ),
        json=json,
    )


async def show_entries(app: App, limit: int, *, json: bool) -> int:
    entries = await app.audit.list(limit)
    if json:
        print_json({"entries": [each.model_dump(mode="json") for each in entries]})
        return DONE
    for each in reversed(entries):
        write_paragraph(
            get_stdout(),
            style_text(f"{each.seq} {_format_time(each.at)} ", "dim")
            + style_text(escape_line_breaks(_format_entry(each))),
        )
    if not entries:
        write_paragraph(get_stdout(), style_text("nothing was administered yet"))
    return DONE


async def verify_log(app: App, expect: str, *, json: bool) -> int:
    found = await app.audit.verify()
    wrong = [(each.seq, str(each.what)) for each in found.damage]
    if expect and not await _has_entry(app, expect):
        wrong.append((int(expect.partition(":")[0]), "unexpected"))
    if json:
        print_json(_to_json(found, wrong))
    elif wrong:
        for seq, what in wrong[:SHOWN]:
            write_paragraph(get_stderr(), style_text(f"entry {seq}: {DAMAGE[what]}", "red"))
        write_paragraph(
            get_stderr(),
            style_text(f"the log does not hold: {len(wrong)} of {found.entries} entries"),
        )
    else:
        write_paragraph(
            get_stdout(),
            style_text(
                f"{found.entries} entries, and the chain holds; note the last one: "
                f"{found.last}:{found.mac}"
            ),
        )
    return ERROR if wrong else DONE


async def _has_entry(app: App, expect: str) -> bool:
    seq, _, mac = expect.partition(":")
    if not seq.isdecimal() or not seq.isascii() or len(mac) < 16 or len(seq) > 15:
        raise InvalidInput(
            f"{expect[:80]!r} is no entry", hint="SEQ:MAC, as `citewell audit --verify` told it"
        )
    return any(
        each.seq == int(seq) and each.mac == mac for each in await app.audit.list(1, int(seq) + 1)
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


def _format_time(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))
