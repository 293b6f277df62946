"""`citewell audit`: the log of administration, shown and verified. The one rule: a chain that does
not hold is exit 1.
"""

from __future__ import annotations

import time

from citewell.errors import InvalidInput
from citewell.interfaces.cli.run import DONE, ERROR
from citewell.interfaces.cli.terminal import err, one_line, out, print_json, styled, write
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


async def show(app: App, limit: int, *, json: bool) -> int:
    entries = await app.audit.list(limit)
    if json:
        print_json({"entries": [each.model_dump(mode="json") for each in entries]})
        return DONE
    for each in reversed(entries):
        write(
            out(), styled(f"{each.seq} {_moment(each.at)} ", "dim") + styled(one_line(_told(each)))
        )
    if not entries:
        write(out(), styled("nothing was administered yet"))
    return DONE


async def verified(app: App, expect: str, *, json: bool) -> int:
    found = await app.audit.verify()
    wrong = [(each.seq, str(each.what)) for each in found.damage]
    if expect and not await _is_there(app, expect):
        wrong.append((int(expect.partition(":")[0]), "unexpected"))
    if json:
        print_json(_shown(found, wrong))
    elif wrong:
        for seq, what in wrong[:SHOWN]:
            write(err(), styled(f"entry {seq}: {DAMAGE[what]}", "red"))
        write(err(), styled(f"the log does not hold: {len(wrong)} of {found.entries} entries"))
    else:
        write(
            out(),
            styled(
                f"{found.entries} entries, and the chain holds; note the last one: "
                f"{found.last}:{found.mac}"
            ),
        )
    return ERROR if wrong else DONE


async def _is_there(app: App, expect: str) -> bool:
    seq, _, mac = expect.partition(":")
    if not seq.isdecimal() or not seq.isascii() or len(mac) < 16 or len(seq) > 15:
        raise InvalidInput(
            f"{expect[:80]!r} is no entry", hint="SEQ:MAC, as `citewell audit --verify` told it"
        )
    return any(
        each.seq == int(seq) and each.mac == mac for each in await app.audit.list(1, int(seq) + 1)
    )


def _shown(found: Verified, wrong: list[tuple[int, str]]) -> dict[str, object]:
    damage = [{"seq": seq, "what": what} for seq, what in wrong]
    return found.model_dump(mode="json") | {"damage": damage, "ok": not wrong}


def _told(entry: Entry) -> str:
    forgotten = {"server": "the server", "cli": "somebody forgotten", "http": "somebody forgotten"}
    who = entry.who.removeprefix("os:") + (
        " (at the machine)" if entry.channel == "cli" and entry.who else ""
    )
    detail = ", ".join(
        f"{name} {value}" for name, value in entry.detail.items() if value not in ("", None)
    )
    what = f"{entry.action} {entry.subject or 'somebody forgotten'}"
    return f"{who or forgotten[entry.channel]}: {what}{f' ({detail})' if detail else ''}"


def _moment(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))
