"""All attacks that we know of at one server, in one command: counts, times, and exit 1 where one
gets through.

    .venv/bin/python evals/attack.py [--short] [--only NAME]...

The server is started here, on the loopback, in a home of its own, with users and private things
(attack_server.py), and stopped at the end. The lists are attack_lists.py's, the statements
guard_sets.py's. `--short` takes what needs no minute; CI runs that.

The one rule: a hit is what an attacker could see or change (a word of somebody else's, a request
that reached this machine, an effect on a database, a fault, a reply that is late or larger than
what was asked for), whatever status came with it.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import re
import resource
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx

from attack_lists import BODIES, Operation, addresses, body_of, naughty, operations
from attack_server import PATIENCE, SECRET, Attacked, Canary, attacked, state_of
from citewell.errors import StatementRefused
from citewell.sql.guard.check import check_statement
from guard_sets import DIALECTS, open_folder, scene, statements

LATE = 20.0  # seconds; a reply that takes longer holds somebody up
LARGEST_REFUSAL = 64_000  # bytes
# what answers who has not signed in; the last one here only
OPEN = {"/api/health", "/api/ready", "/api/sign-in", "/metrics"}
# nobody, a token that is none, a reader, an editor, a reviewer
FOREIGN = ("", "forged", "eve", "bob", "rob")
WHOLE = {"Accept": "application/json"}


@dataclass(slots=True)
class Tally:
    """What came of a list. `refused`: by a status of 4xx, or by the guard; `harmless`: done,
    without effect on others.
    """

    name: str
    tried: int = 0
    refused: int = 0
    harmless: int = 0
    hits: list[str] = field(default_factory=list)
    seconds: float = 0.0
    slowest: float = 0.0
    note: str = ""

    def count(self, what: str, wrong: str, *, refused: bool) -> None:
        self.tried += 1
        if wrong:
            self.hits.append(f"{what}: {wrong}")
        elif refused:
            self.refused += 1
        else:
            self.harmless += 1


def wrong_with(reply: httpx.Response, *, forbidden: tuple[str, ...] = (), sent: str = "") -> str:
    """Why a reply is a hit; empty where it is none. `forbidden`: what must not be in it, unless it
    was sent.
    """
    told = reply.text
    if reply.status_code >= 500:
        return f"{reply.status_code} {told[:200]}"
    if reply.status_code >= 400 and len(reply.content) > LARGEST_REFUSAL:
        return f"{reply.status_code} with {len(reply.content):,} bytes"
    if reply.elapsed.total_seconds() > LATE:
        return f"{reply.status_code} after {reply.elapsed.total_seconds():.0f} s"
    seen = next((each for each in forbidden if each in told and each not in sent), "")
    return f"{reply.status_code} tells {seen!r}" if seen else ""


# ---------------------------------------------------------------- another user's things


def crossing(
    there: Attacked,
    tally: Tally,
    *,
    short: bool,
    callers: tuple[str, ...] = (),
    methods: tuple[str, ...] = (),
) -> None:
    """Every operation, for what is Ann's, by everybody who is not Ann. `methods`: only these;
    empty: all.
    """
    described, callers = (
        _described(there),
        callers or tuple(each for each in FOREIGN if not short or each != "forged"),
    )
    every = [each for each in operations(described) if not methods or each.method in methods]
    forbidden = (
        SECRET,
        *(
            each
            for name, ids in there.hers.items()
            if name.endswith("_id") and name != "user_id"
            for each in ids
        ),
    )
    with there.client("ann") as ann:
        before = state_of(ann, there.hers)
        for who in callers:
            with there.client(who) as client:
                for operation in every:
                    for path, body in _asked(operation, described, there, most=1 if short else 8):
                        reply = _send(client, operation, path, body)
                        sent = f"{path} {json.dumps(body)}"
                        wrong = wrong_with(reply, forbidden=forbidden, sent=sent)
                        if (
                            who in {"", "forged"}
                            and reply.is_success
                            and operation.path not in OPEN
                        ):
                            wrong = wrong or f"{reply.status_code} for who has not signed in"
                        tally.count(
                            f"{who or 'nobody'}: {operation.method} {path}",
                            wrong,
                            refused=reply.is_client_error,
                        )
                        tally.slowest = max(tally.slowest, reply.elapsed.total_seconds())
        after = state_of(ann, there.hers)
    tally.hits += [f"{path}: changed" for path in before if before[path] != after[path]]
    tally.note = f"{len(every)} operations, {len(callers)} callers"


def _asked(
    operation: Operation, described: dict[str, Any], there: Attacked, most: int
) -> Iterator[tuple[str, Any]]:
    """The addresses and bodies that name what is Ann's; of each parameter each of her ids, at most
    so many.
    """
    names = re.findall(r"\{(\w+)\}", operation.path)
    known = {
        "number": ["1"],
        "agent": ["qa"],
        "model": ["citewell/ann-notes", "citewell/data:ann-table"],
    }
    everything = [each for name in ("doc_id", "session_id") for each in there.hers[name]]
    choices = [(known.get(name) or there.hers.get(name) or everything) for name in names]
    ids = max([len(there.hers[each]) for each in ("collection", "trace_id", "session_id")])
    rounds = list(itertools.islice(itertools.product(*choices), most if names else min(most, ids)))
    for n, values in enumerate(rounds or [()]):
        path = operation.path
        for name, value in zip(names, values, strict=False):
            path = path.replace(f"{{{name}}}", value)
        fill = {name: each[n % len(each)] for name, each in there.hers.items()} | {
            "name": there.hers["name"][0]
        }
        asked = {name: fill[name] for name in operation.query if name in fill}
        asked |= (
            {"table": "ann-table", "start": "0", "end": "20"}
            if {"table", "start"} & {*operation.query}
            else {}
        )
        query = "&".join(f"{name}={value}" for name, value in asked.items())
        body = None if operation.schema is None else body_of(operation.schema, described, fill)
        yield f"{path}?{query}" if query else path, body


def _send(client: httpx.Client, operation: Operation, path: str, body: Any) -> httpx.Response:
    quoted = httpx.URL(path.encode("utf-8", "replace").decode())
    headers = WHOLE | ({"Content-Type": "application/json"} if body is not None else {})
    data = None if body is None else json.dumps(body).encode()
    return client.request(operation.method, quoted, content=data, headers=headers)


def _described(there: Attacked) -> dict[str, Any]:
    with there.client("boss") as boss:
        described: dict[str, Any] = boss.get("/api/openapi.json").json()
    return described


# ---------------------------------------------------------------- requests to inner networks


def ssrf(there: Attacked, tally: Tally, *, short: bool) -> None:
    """Each address as a page, a paper, a database, and where a question starts; nobody may come to
    the canary's port.
    """
    canary = Canary()
    try:
        with there.client("bob") as bob:
            urls = addresses(canary.port, short=short)
            waiting = []
            for n, url in enumerate(urls):
                ways: list[tuple[str, Any]] = [("/api/collections/inner/documents", {"url": url})]
                if not short or n % 5 == 0:
                    ways += [
                        ("/api/papers", {"url": url}),
                        ("/api/data/sources", {"url": url, "name": f"inner{n}"}),
                    ]
                    asked = {"question": "What is there?", "agent": "website"}
                    ways.append(
                        ("/api/ask", asked | {"options": {"start_urls": [url], "max_seconds": 5}})
                    )
                for path, body in ways:
                    reply = bob.post(
                        path,
                        content=json.dumps(body).encode(),
                        headers={"Content-Type": "application/json"},
                    )
                    told = reply.json() if reply.content else {}
                    job = told.get("job_id") or (told.get("job") or {}).get("job_id")
                    if job:
                        waiting.append((f"{path} {url}", job))
                    else:
                        # the other side is not there, which is what it says
                        outside = reply.status_code in {502, 504}
                        wrong = (
                            ""
                            if outside
                            else wrong_with(reply)
                            or ("answered" if told.get("status") == "answered" else "")
                        )
                        tally.count(f"{path} {url}", wrong, refused=reply.is_error)
            for what, job in waiting:
                state = _ended(bob, job)
                added = [
                    each
                    for each in (state["result"] or {}).get("files", [])
                    if each.get("status") != "failed"
                ]
                tally.count(what, f"was fetched: {added}" if added else "", refused=not added)
        if canary.visits:
            tally.hits.append(f"{canary.visits} requests reached the port of this machine")
        tally.note = f"{len(urls)} addresses"
    finally:
        canary.close()


def _ended(client: httpx.Client, job_id: str) -> dict[str, Any]:
    end = time.monotonic() + PATIENCE
    while True:
        job: dict[str, Any] = client.get(f"/api/jobs/{job_id}").json()
        if job.get("state") in {"done", "failed", "cancelled"} or time.monotonic() > end:
            return job
        time.sleep(0.05)


# ---------------------------------------------------------------- statements


def sql(_: Attacked, tally: Tally, *, short: bool) -> None:
    """All statements at the guard; what it lets pass at the engines that are here, where it must
    have no effect.
    """
    attacks, thrown = statements("attacks"), 0
    for dialect in DIALECTS:
        passed = []
        for item in (each for each in attacks if each.dialect == dialect):
            try:
                check_statement(item.sql, dialect)
                passed.append(item)
            except StatementRefused:
                tally.count(str(item), "", refused=True)
        if dialect in {"postgres", "mysql"} or short:  # no server of theirs here
            for item in passed:
                tally.count(str(item), "", refused=False)
            continue
        thrown += len(passed)
        with open_folder() as folder:
            stage = scene(dialect, folder)
            for item in passed:
                effect = asyncio.run(stage.throw(item)).effect
                tally.count(
                    str(item),
                    "" if effect in {"ran", "stopped"} else effect,
                    refused=effect == "stopped",
                )
            stage.close()
    tally.note = (
        f"{len(attacks)} statements, {thrown} of those that the guard lets pass thrown at an engine"
    )


# ---------------------------------------------------------------- strings and bodies


def strings(there: Attacked, tally: Tally, *, short: bool) -> None:
    """Each string in every field of an operation that takes text; short: by one operation in
    eight.
    """
    described = _described(there)
    taking = [each for each in operations(described) if each.schema is not None or "{" in each.path]
    taking = [each for each in taking if each.method != "DELETE" and "/users" not in each.path]
    with there.client("rob") as rob:
        for n, said in enumerate(naughty(short=short)):
            for operation in taking[n % 8 :: 8] if short else taking:
                path = re.sub(r"\{\w+\}", lambda _, said=said: _in_path(said), operation.path)  # type: ignore[misc]
                body = (
                    None
                    if operation.schema is None
                    else body_of(operation.schema, described, {}, said)
                )
                reply = _send(rob, operation, path, body)
                tally.count(
                    f"{operation} {said[:40]!r}", wrong_with(reply), refused=reply.is_client_error
                )
                tally.slowest = max(tally.slowest, reply.elapsed.total_seconds())
    tally.note = f"{len(taking)} operations"


def _in_path(said: str) -> str:
    return "".join(f"%{byte:02X}" for byte in said.encode("utf-8", "replace")[:200]) or "%20"


def bodies(there: Attacked, tally: Tally, *, short: bool) -> None:
    """Bodies that are none, too deep, too many, too long: before anybody has signed in, and
    after.
    """
    described = _described(there)
    taking = [each for each in operations(described) if each.schema is not None]
    for n, (name, data) in enumerate(BODIES.items()):
        chosen = [
            each
            for each in taking
            if not short
            or each.path in {"/api/sign-in", "/api/ask"}
            or zlib.crc32(each.path.encode()) % 12 == n % 12
        ]
        for operation in chosen:
            path = re.sub(r"\{\w+\}", "x", operation.path)
            for who in ("", "rob") if operation.path == "/api/sign-in" else ("rob",):
                with there.client(who) as client:
                    reply = client.request(
                        operation.method,
                        path,
                        content=data,
                        headers={"Content-Type": "application/json"},
                    )
                tally.count(
                    f"{who or 'nobody'}: {operation} {name}",
                    wrong_with(reply),
                    refused=reply.is_client_error,
                )
                tally.slowest = max(tally.slowest, reply.elapsed.total_seconds())
    tally.note = f"{len(BODIES)} bodies, {len(taking)} operations"


LISTS: dict[str, Callable[..., None]] = {
    "crossing": crossing,
    "ssrf": ssrf,
    "sql": sql,
    "strings": strings,
    "bodies": bodies,
}


def run(there: Attacked, name: str, *, short: bool) -> Tally:
    """One list; a server that is gone after it is a hit of its own."""
    tally, began = Tally(name), time.monotonic()
    LISTS[name](there, tally, short=short)
    tally.seconds = time.monotonic() - began
    with there.client() as anybody:
        if anybody.get("/api/health").status_code != 200:
            tally.hits.append("the server is not well afterwards")
    return tally


def table(tallies: list[Tally]) -> str:
    rows = [
        "| list | tried | refused | harmless | hits | seconds | slowest reply | of |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for each in tallies:
        slowest = f"{each.slowest:.1f} s" if each.slowest else ""
        counts = f"{each.tried} | {each.refused} | {each.harmless} | {len(each.hits)}"
        rows.append(f"| {each.name} | {counts} | {each.seconds:.0f} | {slowest} | {each.note} |")
    return "\n".join(rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--short", action="store_true", help="what needs no minute")
    parser.add_argument(
        "--only", action="append", choices=list(LISTS), help="this list; may be said several times"
    )
    options = parser.parse_args()
    with attacked() as there:
        tallies = [run(there, name, short=options.short) for name in options.only or LISTS]
    print(table(tallies))
    own, server = (
        resource.getrusage(of) for of in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    print(
        f"\nprocessor seconds: {own.ru_utime + own.ru_stime:.0f} "
        f"here, {server.ru_utime + server.ru_stime:.0f} of the server"
    )
    hits = [f"{each.name}: {hit}" for each in tallies for hit in each.hits]
    print("\n".join(hits[:50]) if hits else "\nno attack got through")
    return 1 if hits else 0


if __name__ == "__main__":
    sys.exit(main())
