"""How the server holds up: many conversations streaming at once against one at a time, from a real
`citewell serve`.

    .venv/bin/python evals/bench_serve.py [--kill] [--conversations 200] [--embedder builtin]
        [--json OUT]

The chat model is scripted, so that what is measured is ours. Every stream is looked into afterwards
(serve_check.py); exit 1 where one is not whole. `--kill`: the server is killed in the middle
instead (serve_kill.py). The one rule: compare within one run only; machines are shared and noisy.
`waited` says how long others had the cores.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from serve_check import NAMED, of_sessions, of_streams
from serve_client import Plan
from serve_gone import leaving, slow
from serve_kill import killed
from serve_library import Subject, subject, write
from serve_round import Round, measure
from serve_server import Pace, Server

AGENTS = ("qa", "dual_loop")
ALONE = 15  # conversations one at a time, to compare with
# of the model where overhead is measured: 200 at once then ask for less than there is
SLOW = Pace(delay=1.0, token=0.4)


@dataclass(slots=True)
class Told:
    """What a run has to tell: lines for people, figures for programs, and what was wrong."""

    figures: dict[str, Any] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    def line(self, name: str, value: str) -> None:
        print(
            f"{name:38} {value}",
            file=sys.stderr if self.figures.get("quiet") else sys.stdout,
            flush=True,
        )


@contextmanager
def serving(
    count: int, embedder: str, pace: Pace | None = None, home: Path | None = None
) -> Iterator[Server]:
    """A server with a document for each conversation, in a home that is gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        server = Server(home or Path(folder) / "home", pace or Pace(), embedder)
        server.add(write(Path(folder) / "library", count))
        try:
            server.start()
            yield server
        finally:
            server.stop()


def plan(server: Server, subjects: Sequence[Subject], at_once: int, agent: str = "qa") -> Plan:
    return Plan(
        server.url, [[asking.question for asking in each.asks] for each in subjects], at_once, agent
    )


def search_plan(server: Server, subjects: Sequence[Subject], at_once: int) -> Plan:
    asks = [[asking.question for asking in each.asks] for each in subjects]
    return Plan(server.url, asks, at_once, path="/api/search", key="query")


def rounds(told: Told, subjects: Sequence[Subject], embedder: str) -> None:
    """Each agent one at a time and all at once; `qa` three times over, so that what is never given
    back shows.
    """
    alone = subjects[:ALONE]
    with serving(len(subjects), embedder) as server:
        told.figures["idle_mib"] = server.memory()[0]
        told.line(
            "server",
            f"answers {server.started:.1f} s after its start, idle {server.memory()[0]:.0f} MiB",
        )
        # loads what the first question needs
        measure(server, [plan(server, alone[:1], 1, agent) for agent in AGENTS])
        for agent in AGENTS:
            one = checked(told, server, plan(server, alone, 1, agent), alone)
            many = checked(told, server, plan(server, subjects, len(subjects), agent), subjects)
            compare(told, agent, one, many)
        one, many = (
            measure(server, [search_plan(server, some, n)])
            for some, n in ((alone, 1), (subjects, len(subjects)))
        )
        compare(told, "search", one, many)
        again = [
            checked(told, server, plan(server, subjects, len(subjects)), subjects) for _ in range(2)
        ]
        after = [round(each.memory["after"]) for each in again]
        told.figures["memory_mib"] = after
        told.line("memory, two rounds of qa later", f"{' then '.join(map(str, after))} MiB")
        for name, value in (*leaving(server, subjects), *slow(server, subjects)):
            told.line(name, value)
            told.figures[name] = value


def paced(told: Told, subjects: Sequence[Subject], embedder: str) -> None:
    """What we add to a model that takes its time."""
    asks = [Subject(each.file, each.text, each.asks[:2]) for each in subjects]
    with serving(len(subjects), embedder, SLOW) as server:
        one = checked(told, server, plan(server, asks[:2], 1), asks[:2])
        many = checked(told, server, plan(server, asks, len(asks)), asks)
    told.figures["paced"] = {"one": one.told(), "many": many.told()}
    model = _p50(many.answered) - _p50(many.overhead)
    told.line(
        f"overhead, {many.at_once} at once, slow model",
        f"p50 {_ms(many.overhead, 'p50')}, p99 {_ms(many.overhead, 'p99')} ms beside {model:.1f} s "
        f"of model (one at a time {_ms(one.overhead, 'p50')}); first event "
        f"p99 {_ms(many.first, 'p99')}, "
        f"/api/health p99 {_ms(many.lag, 'p99')}",
    )


def checked(told: Told, server: Server, plan: Plan, subjects: Sequence[Subject]) -> Round:
    """A round, all of whose streams and sessions are looked into."""
    done = measure(server, [plan])
    found = [
        *of_streams(server, done.conversations, subjects),
        *of_sessions(server, done.conversations),
    ]
    told.wrong += [f"{plan.agent}, {plan.at_once} at once: {each}" for each in found]
    return done


def compare(told: Told, name: str, one: Round, many: Round) -> None:
    told.figures[name] = {"one": one.told(), "many": many.told()}
    memory = many.memory
    told.line(
        f"{name}, {many.at_once} at once, no delay",
        f"{many.a_second:.1f} a second ({many.a_second / one.a_second:.2f} x one at a time), "
        f"{many.core_ms:.1f} ms of a core each ({many.core_ms / one.core_ms:.2f} x), "
        f"client {many.client_core_ms:.1f}",
    )
    told.line(
        "",
        f"p50 {_ms(many.answered, 'p50')}, p99 {_ms(many.answered, 'p99')} ms "
        f"(one {_ms(one.answered, 'p50')}, "
        f"{_ms(one.answered, 'p99')}), /api/health p99 {_ms(many.lag, 'p99')}, "
        f"max {_ms(many.lag, 'max')}; "
        f"{memory['before']:.0f} to {memory['peak']:.0f} MiB; waited {many.waited:.0%} for a core",
    )


def _p50(values: dict[str, float]) -> float:
    return values.get("p50", 0.0)


def _ms(values: dict[str, float], name: str) -> str:
    return f"{values[name] * 1000:.0f}" if name in values else "-"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--kill", action="store_true", help="kill -9 in the middle, and see what is left"
    )
    parser.add_argument("--conversations", type=int, default=200, help="at once; 200 at most")
    parser.add_argument("--embedder", choices=("scripted", "builtin"), default="scripted")
    parser.add_argument("--json", metavar="OUT", help="figures as JSON; - prints them")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the server is ended too
    subjects = [subject(n) for n in range(min(args.conversations, 200))]
    told = Told({"quiet": args.json == "-"})
    told.line(
        "load of the machine",
        f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; embedder {args.embedder}",
    )
    if args.kill:
        with serving(len(subjects), args.embedder, Pace(delay=0.1, token=0.02)) as server:
            after = killed(server, subjects)
        told.wrong += after.wrong
        told.figures["kill"] = after.figures
        for name, value in after.figures.items():
            told.line(name.replace("_", " "), str(value))
    else:
        rounds(told, subjects, args.embedder)
        paced(told, subjects, args.embedder)
    told.figures["wrong"] = told.wrong
    told.line(
        "wrong",
        "nothing" if not told.wrong else f"{len(told.wrong)}: " + "; ".join(told.wrong[:NAMED]),
    )
    if args.json:
        text = json.dumps(
            {name: value for name, value in told.figures.items() if name != "quiet"},
            ensure_ascii=False,
        )
        print(text) if args.json == "-" else Path(args.json).write_text(text, "utf-8")
    sys.exit(1 if told.wrong else 0)


if __name__ == "__main__":
    main()
