"""One round of the bench of the server: conversations driven by other processes, and what that
cost.

The one rule: times are the client's, cores and memory are the server's own; what the client takes
is told apart.
"""

from __future__ import annotations

import http.client
import json
import math
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from serve_check import Conversation, answer_of
from serve_client import Plan, Turn
from serve_server import Pace, Server

CLIENT = str(Path(__file__).parent / "serve_client.py")
PROBE = 0.02  # seconds between two looks at how soon the event loop answers


@dataclass(slots=True)
class Round:
    """Seconds unless said otherwise. `overhead`: until the answer, less what the model took by its
    script. `lag`: what /api/health took meanwhile. `waited`: share of the time that the server was
    ready and had no core. `memory` in MiB.
    """

    agent: str
    at_once: int
    asked: int
    seconds: float
    a_second: float
    core_ms: float
    client_core_ms: float
    waited: float
    first: dict[str, float]
    token: dict[str, float]
    answered: dict[str, float]
    overhead: dict[str, float]
    lag: dict[str, float]
    memory: dict[str, float]
    conversations: list[Conversation] = field(default_factory=list, repr=False)

    def told(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if name != "conversations"}


def measure(server: Server, plans: Sequence[Plan]) -> Round:
    """Drive the plans at once, a process each. The first one's agent and the sum of all is what is
    told.
    """
    server.forget_peak()
    before, cpu, waited = server.memory()[0], server.cpu(), server.waited()
    with Lag(server) as lag:
        results = finished([begun(plan) for plan in plans])
    seconds = max(result["seconds"] for result in results)
    conversations = [
        conversation_of(each) for result in results for each in result["conversations"]
    ]
    turns = [turn for each in conversations for turn in each]
    asked = max(1, len(turns))
    now, peak = server.memory()
    return Round(
        agent=plans[0].agent if plans[0].key == "question" else plans[0].path,
        at_once=sum(plan.at_once for plan in plans),
        asked=len(turns),
        seconds=round(seconds, 3),
        a_second=round(len(turns) / seconds, 2),
        core_ms=round((server.cpu() - cpu) / asked * 1000, 2),
        client_core_ms=round(sum(result["cpu"] for result in results) / asked * 1000, 2),
        waited=round((server.waited() - waited) / seconds, 3),
        first=spread([turn.first for turn in turns]),
        token=spread([turn.token for turn in turns]),
        answered=spread([turn.answered for turn in turns]),
        overhead=spread(
            [turn.answered - modelled(turn, server.pace) for turn in turns if turn.answered]
        ),
        lag=spread(lag.seconds),
        memory={"before": before, "peak": peak, "after": now},
        conversations=conversations,
    )


def begun(plan: Plan) -> subprocess.Popen[str]:
    """A client at work on a plan, in a process of its own."""
    pipe = subprocess.PIPE
    process = subprocess.Popen([sys.executable, CLIENT], stdin=pipe, stdout=pipe, text=True)
    assert process.stdin is not None
    process.stdin.write(json.dumps(asdict(plan)))
    process.stdin.close()
    process.stdin = None
    return process


def finished(clients: Sequence[subprocess.Popen[str]]) -> list[dict[str, Any]]:
    """What they have to tell, once all are done."""
    told: list[str] = [""] * len(clients)

    def listen(n: int, client: subprocess.Popen[str]) -> None:
        told[n] = client.communicate()[0]

    threads = [threading.Thread(target=listen, args=pair) for pair in enumerate(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [json.loads(each) for each in told]


def conversation_of(turns: Sequence[dict[str, Any]]) -> Conversation:
    """As the client had it; JSON made lists of its pairs."""
    return [
        Turn(**{**turn, "events": [(name, data) for name, data in turn["events"]]})
        for turn in turns
    ]


def modelled(turn: Turn, pace: Pace) -> float:
    """Seconds that the scripted model took for an answer, by its script."""
    usage = (answer_of(turn) or {}).get("usage", {})
    tokens = sum(name == "token" for name, _ in turn.events)
    return float(usage.get("calls", 0)) * pace.delay + tokens * pace.token


def spread(values: Sequence[float]) -> dict[str, float]:
    """The middle, nine of ten, ninety-nine of a hundred, the longest; nothing of nothing. What
    never came is no time: the checks tell of lost answers, and end the bench with 1.
    """
    ordered = sorted(value for value in values if value > 0)
    if not ordered:
        return {}
    at = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "max": 1.0}
    return {
        name: round(ordered[max(0, math.ceil(share * len(ordered)) - 1)], 4)
        for name, share in at.items()
    }


class Lag:
    """Asks for /api/health all the time: how long the event loop leaves a request waiting."""

    def __init__(self, server: Server) -> None:
        self.seconds: list[float] = []
        self._server = server
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._probe)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _probe(self) -> None:
        while not self._over.wait(PROBE):
            began = time.perf_counter()
            try:
                self._server.get("/api/health")
            except (OSError, http.client.HTTPException, RuntimeError) as error:
                # not to be passed over: a server that does not answer lags most
                print(
                    f"/api/health failed after {time.perf_counter() - began:.1f} s: {error!r}",
                    file=sys.stderr,
                )
            self.seconds.append(time.perf_counter() - began)
