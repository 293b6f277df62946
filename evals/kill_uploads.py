"""What README promises of uploads, as figures: so many acknowledged, so many kills of the server at
random moments, all there.

    python evals/kill_uploads.py [--uploads 200] [--kills 20] [--wait 0.2] [--seed 1]

The one rule: an upload counts that was answered with 202, and is there when its document has its
own text, whole and once. Exit code 1 where one is missing.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import sqlite3
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from serve_server import Server

LONGEST = 3_600.0  # seconds for the rest, after the last kill
BORDER = "----citewell-kill-uploads"
# opening what was uploaded takes a while, in every process of the server
START = """
import os, sys, time
def look(event, arguments):
    if (event == "open" and str(arguments[0]).startswith({uploads!r})
            and "w" not in str(arguments[1])):
        time.sleep({wait})
sys.addaudithook(look)
"""


class Slow(Server):
    """A server that takes its time to open what was uploaded."""

    wait: float = 0.0

    def environ(self) -> dict[str, str]:
        found = Server.environ(self)
        start = START.format(uploads=f"{self.home / 'uploads'}/", wait=self.wait)
        (self.home.parent / "sitecustomize.py").write_text(start, "utf-8")
        paths = [str(self.home.parent), *filter(None, [found.get("PYTHONPATH")])]
        return found | {"PYTHONPATH": ":".join(paths)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    for name, kind, usual in (
        ("uploads", int, 200),
        ("kills", int, 20),
        ("wait", float, 0.2),
        ("seed", int, 1),
    ):
        parser.add_argument(f"--{name}", type=kind, default=usual)
    asked = parser.parse_args()
    chance = random.Random(asked.seed)
    with tempfile.TemporaryDirectory(prefix="citewell-kill-") as folder:
        server = Slow(home=Path(folder) / "home")
        server.wait = asked.wait
        began = time.perf_counter()
        figures = tried(server, asked.uploads, asked.kills, chance)
        figures["seconds"] = round(time.perf_counter() - began, 1)
    print(json.dumps(figures, indent=1))
    return 0 if figures["there"] == figures["acknowledged"] and figures["database"] == ["ok"] else 1


def tried(server: Slow, uploads: int, kills: int, chance: random.Random) -> dict[str, Any]:
    """Sent in even parts between the kills; each kill comes at a random moment of the first seconds
    of work.
    """
    acknowledged: dict[int, str] = {}
    running = Counter[int]()
    for kill in range(kills):
        with started(server):
            for number in range(uploads * kill // kills, uploads * (kill + 1) // kills):
                with suppress(OSError):
                    acknowledged[number] = sent(server, number)
            time.sleep(chance.random() * 3)
            running[states(server)["running"]] += 1
            server.stop(signal.SIGKILL)
    after = time.perf_counter()
    with started(server):
        while (now := states(server))["queued"] or now["running"]:
            if time.perf_counter() > after + LONGEST:
                break
            time.sleep(0.2)
        server.stop()
    return counted(server, acknowledged) | {
        "uploads": uploads,
        "kills": kills,
        "running_at_kills": sorted(running.elements()),
        "states": dict(now),
        "rest_after_the_last_kill_s": round(time.perf_counter() - after, 1),
    }


@contextmanager
def started(server: Server) -> Iterator[None]:
    server.start()
    try:
        yield
    finally:
        server.stop(signal.SIGKILL)


def text_of(number: int) -> str:
    return f"# Note {number}\n\nThe lighthouse number {number} was built in {1000 + number}.\n"


def sent(server: Server, number: int) -> str:
    """The job, where it was acknowledged. Raises OSError."""
    head = (
        f'--{BORDER}\r\nContent-Disposition: form-data; name="file"; filename="note '
        f'{number}.md"\r\n\r\n'
    )
    body = f"{head}{text_of(number)}\r\n--{BORDER}--\r\n".encode()
    kind = {"Content-Type": f"multipart/form-data; boundary={BORDER}"}
    request = urllib.request.Request(f"{server.url}/api/collections/bench/documents", body, kind)  # noqa: S310 our own server
    with urllib.request.urlopen(request, timeout=60) as reply:  # noqa: S310
        assert reply.status == 202, reply.status
        return str(json.load(reply)["job_id"])


def states(server: Server) -> Counter[str]:
    return Counter(dict(rows(server, "SELECT state, count(*) FROM jobs GROUP BY state")))


def counted(server: Server, acknowledged: dict[int, str]) -> dict[str, Any]:
    """Of the acknowledged ones those whose document is there with its own text; and what the
    database says of itself.
    """
    texts = dict(rows(server, "SELECT uri, text FROM documents"))
    there = [
        number
        for number in acknowledged
        if texts.get(f"upload:note {number}.md", "")
        and str(1000 + number) in texts[f"upload:note {number}.md"]
    ]
    return {
        "acknowledged": len(acknowledged),
        "there": len(there),
        "missing": sorted(set(acknowledged) - set(there)),
        "gave_up": rows(
            server, "SELECT count(*) FROM jobs WHERE json_extract(error, '$.code') = 'gave_up'"
        )[0][0],
        "deaths_of_jobs": dict(rows(server, "SELECT deaths, count(*) FROM jobs GROUP BY deaths")),
        "bytes_left": sum(1 for _ in (server.home / "uploads").iterdir()),
        "database": [row[0] for row in rows(server, "PRAGMA integrity_check")],
    }


def rows(server: Server, query: str) -> list[tuple[Any, ...]]:
    with closing(
        sqlite3.connect(f"file:{server.home / 'citewell.db'}?mode=ro", uri=True, timeout=20)
    ) as database:
        return list(database.execute(query))


if __name__ == "__main__":
    raise SystemExit(main())
