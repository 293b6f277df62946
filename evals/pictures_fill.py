"""An installation for the pictures of the page, filled through the API as people would fill it.

The one rule: everything is of the repository's samples or of `pictures_site.py`, asked of the real
server; no chat model is needed, but for tables, whose statements are named here.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

SAMPLES = Path(__file__).resolve().parents[1] / "samples"
USER = "mei"
PORT = 18_420  # one and the same, for Settings name it
PATIENCE = 300.0  # seconds; a loaded machine
KEPT = ("PATH", "PYTHONPATH", "SYSTEMROOT", "LANG", "VIRTUAL_ENV")
POLICY = "information-security-policy.md"
COSTS = (
    'SELECT "Function", SUM("Cost") AS total FROM "Costs" GROUP BY "Function" ORDER BY total DESC'
)
COSTS_ZH = (
    'SELECT "部门", SUM("金额（元）") AS "合计" FROM "费用明细" GROUP BY "部门" ORDER BY "合计" '
    "DESC"
)
STATEMENTS = (COSTS, COSTS_ZH, COSTS_ZH, COSTS)  # in the order of the looks
ASKED = {
    "en": (
        "May the battery of the Drover 2 be taken on a passenger aircraft?",
        "When is the first service due?",
    ),
    "zh": ("T300载货时，坡度超过多少的坡道上不得停放？", "T300的货厢可以载人吗？"),
}
ALSO = (
    "Within how many days of delivery can a customer in the European Union return a new bike?",
    "国内订单签收后多少天内可以无理由退货？",
    "How many days of annual leave does a full-time employee in Toronto have?",
    "从杭州出差到北京，每天的出差补助是多少？",
)
REMEMBERED = (
    "Remember that our fleet has twelve Drover 2 bikes.",
    "记住我们的办公室在成都。",
    "Remember that my plan is Plus.",
    "Remember that my plan is Premier.",
)


@dataclass
class Server:
    """`citewell serve` on a home; `run` starts it with settings of its own and stops it."""

    home: Path
    client: httpx.Client = field(default_factory=httpx.Client)
    url: str = ""

    @contextmanager
    def run(self, **settings: str) -> Iterator[Server]:
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        own = {
            "CITEWELL_HOME": str(self.home),
            "HOME": str(self.home),
            "CITEWELL_ALLOW_PRIVATE_HOSTS": "127.0.0.0/8",
        }
        more = {f"CITEWELL_{name.upper()}": value for name, value in settings.items()}
        command = [sys.executable, "-m", "citewell", "serve", "--port", str(PORT), "--json"]
        with (self.home / "server.log").open("ab") as log:
            process = subprocess.Popen(
                command, env={**kept, **own, **more}, stdout=subprocess.PIPE, stderr=log
            )
        try:
            assert process.stdout is not None
            told = ""
            while not told.rstrip().endswith("}") and (line := process.stdout.readline()):
                told += line.decode()
            if not (found := re.search(r'"url": "([^"]+)"', told)):
                raise SystemExit(
                    "citewell serve did not "
                    f"start: {told or (self.home / 'server.log').read_text()}"
                )
            self.url = found[1]
            with httpx.Client(
                base_url=f"{self.url}/api", timeout=PATIENCE, trust_env=False
            ) as self.client:
                yield self
        finally:
            process.terminate()
            process.wait(60)

    def api(self, method: str, path: str, **how: Any) -> Any:
        how["params"] = {"user_id": USER, **how.get("params", {})}
        reply = self.client.request(method, path, **how)
        if not reply.is_success:
            raise SystemExit(f"{method} {path}: {reply.status_code} {reply.text}")
        return reply.json() if reply.content else None

    def wait(self, job_id: str) -> None:
        self.client.get(f"/jobs/{job_id}/events", params={"user_id": USER})  # ends when the job has

    def add(self, collection: str, *files: Path) -> None:
        parts = [("file", (path.name, path.read_bytes())) for path in files]
        self.wait(self.api("POST", f"/collections/{collection}/documents", files=parts)["job_id"])

    def ask(self, question: str, **more: Any) -> dict[str, Any]:
        answer: dict[str, Any] = self.api(
            "POST", "/ask", json={"question": question, "user_id": USER, **more}
        )
        return answer

    def watch(self, question: str, **more: Any) -> list[tuple[str, Any]]:
        """Ask, and have every event of the answer; the last one is the answer itself."""
        asked = {"question": question, "user_id": USER, **more}
        text = self.client.post("/ask", json=asked, headers={"Accept": "text/event-stream"}).text
        lines = [part.split("\n") for part in text.split("\n\n") if part.startswith("event:")]
        return [
            (event.removeprefix("event: "), json.loads(data.removeprefix("data: ")))
            for event, data in lines
        ]


def library(server: Server) -> None:
    files = sorted((SAMPLES / "library").iterdir())
    server.add("wainfell", *(path for path in files if path.name != "成都工厂安全生产规定.html"))
    server.add("成都工厂", *(path for path in files if path.name == "成都工厂安全生产规定.html"))


def questions(server: Server) -> dict[str, str]:
    """A conversation of two questions in each language, with the trace of the first and what the
    page was told of it.
    """
    made: dict[str, str] = {}
    for lang, (first, second) in ASKED.items():
        told = server.watch(first, collection="wainfell", agent="dual_loop")
        answer = told[-1][1]
        made[f"session-{lang}"], made[f"trace-{lang}"] = answer["session_id"], answer["trace_id"]
        made[f"told-{lang}"] = json.dumps(half(told), ensure_ascii=False)
        server.ask(
            second, collection="wainfell", agent="dual_loop", session_id=answer["session_id"]
        )
    return made


def half(told: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """The events up to the writing of the answer, and half of its words."""
    steps = [(event, data) for event, data in told if event == "step"]
    written = next(at for at, (_, data) in enumerate(steps) if data["node"] == "generate_response")
    text = re.sub(r"\[\d+\]", "", str(told[-1][1]["answer"]))  # numbers come with the answer
    return [*steps[:written], ("token", {"text": text[: len(text) * 2 // 3]})]


def also(server: Server) -> None:
    for question in ALSO:
        server.ask(question, collection="wainfell", agent="qa")


def words(server: Server) -> None:
    """What people said of answers: two are right, one is wrong, in each language."""
    for trace in server.api("GET", "/traces", params={"limit": "50"})["traces"]:
        right = trace["question"] in (ALSO[0], ALSO[1], ALSO[2])
        wrong = trace["question"] == ALSO[3]
        if right or wrong:
            correction = "每天的出差补助是150元，不含交通。" if wrong else None
            body = {
                "trace_id": trace["trace_id"],
                "is_correct": right,
                "user_correction": correction,
                "user_id": USER,
            }
            server.wait(server.api("POST", "/feedback", json=body)["job_id"])


def papers(server: Server) -> dict[str, str]:
    made = {}
    asked = {
        "en": ("how the model is trained", "How many trips does FleetLog hold?"),
        "zh": ("检索方法", "数据集有多少条查询？"),
    }
    for path in sorted((SAMPLES / "papers").iterdir()):
        lang = "en" if path.name.isascii() else "zh"
        begun = server.api(
            "POST",
            "/papers",
            files={"file": (path.name, path.read_bytes())},
            data={"user_id": USER, "lang": lang},
        )
        server.wait(begun["job"]["job_id"])
        session_id = begun["session"]["session_id"]
        interest, question = asked[lang]
        server.api("POST", f"/papers/{session_id}/plan", json={"interest": interest, "lang": lang})
        server.api("POST", f"/papers/{session_id}/messages", json={"text": question, "lang": lang})
        made[f"paper-{lang}"] = session_id
    return made


def tables(server: Server) -> dict[str, str]:
    """Also a board of one saved question in each language."""
    for name in ("costs.xlsx", "费用.xlsx", "orders.csv"):
        path = SAMPLES / "data" / name
        server.api("POST", "/data/sources", files={"file": (name, path.read_bytes())})
    made = {}
    for lang, name, source, sql in (
        ("en", "Cost of each function", "costs", COSTS),
        ("zh", "各部门费用", "费用", COSTS_ZH),
    ):
        kept = {"name": name, "source": source, "sql": sql, "lang": lang}
        saved = server.api("POST", "/data/saved", json=kept)
        board = server.api("POST", "/data/boards", json={"name": name})["board_id"]
        card = {"saved_id": saved["saved_id"]}
        server.api("POST", f"/data/boards/{board}/cards", json=card)
        made[f"board-{lang}"] = board
    return made


def memories(server: Server) -> None:
    for fact in REMEMBERED:
        server.ask(fact, agent="dual_loop")


# How many days before the pictures each was done.
STAGES: tuple[tuple[float, Callable[[Server], dict[str, str] | None]], ...] = (
    (19.2, library),
    (12.1, papers),
    (6.3, tables),
    (5.0, memories),
    (1.1, also),
    (0.9, words),
    (0.06, questions),
)
