"""Several servers and workers against one of each, in one run: answers a second and how long they
take.

    python evals/bench_cluster.py [--servers 3] [--workers 2] [--conversations 200]

Each house has its own PostgreSQL and object store; conversations are spread over its servers. The
chat model is scripted. The one rule: compare the two rows of one run only, and mind the cores: what
`cores` servers could do more than one is what is there to be had.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from cluster import Cluster, running
from serve_client import Plan
from serve_library import subject, write
from serve_round import begun, conversation_of, finished, spread


@dataclass(slots=True)
class Row:
    """`wrong`: turns that were lost or answered with an error."""

    name: str
    a_second: float
    p50: float
    p99: float
    wrong: int
    cpu: float


def measure(servers: int, workers: int, conversations: int) -> Row:
    subjects = [subject(n) for n in range(conversations)]
    with running(servers, workers) as cluster, tempfile.TemporaryDirectory() as folder:
        cluster.servers[0].add(write(Path(folder) / "library", conversations))
        plans = [
            Plan(server.url, [[each.question for each in one.asks] for one in some], len(some))
            for server, some in zip(
                cluster.servers, [subjects[n::servers] for n in range(servers)], strict=True
            )
        ]
        finished([begun(Plan(plan.url, plan.conversations[:1], 1)) for plan in plans])  # warm
        before = _count_cpu(cluster)
        results = finished([begun(plan) for plan in plans])
        cpu = _count_cpu(cluster) - before
    turns = [
        turn
        for result in results
        for each in result["conversations"]
        for turn in conversation_of(each)
    ]
    seconds = max(result["seconds"] for result in results)
    times = spread([turn.answered for turn in turns])
    wrong = sum(turn.lost or turn.status != 200 or not turn.answered for turn in turns)
    asked = sum(len(each.asks) for each in subjects)
    return Row(
        f"{servers} servers, {workers} workers",
        len(turns) / seconds,
        times["p50"],
        times["p99"],
        wrong + asked - len(turns),
        cpu / seconds,
    )


def _count_cpu(cluster: Cluster) -> float:
    """Seconds of a core that the servers took so far."""
    return sum(server.cpu() for server in cluster.servers)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--servers", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--conversations", type=int, default=200)
    args = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    rows = [
        measure(1, 1, args.conversations),
        measure(args.servers, args.workers, args.conversations),
    ]
    for row in rows:
        print(
            f"{row.name:24} {row.a_second:6.1f} answers a second, p50 {row.p50:.2f} s, "
            f"p99 {row.p99:.2f} s, {row.cpu:.2f} cores of servers, wrong {row.wrong}"
        )
    print(f"ratio {rows[1].a_second / rows[0].a_second:.2f}")
    if any(row.wrong for row in rows):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
