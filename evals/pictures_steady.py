"""What would differ from one making of the pictures to the next, made the same: times, durations,
ids, ports.

The one rule: it stands between the page and the server, changes what is told in both directions,
and neither of them knows.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Mapping
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from playwright.sync_api import BrowserContext, Route

NOW = 1_792_314_000.0  # 18 October 2026, 09:00 UTC: when all pictures are taken
DAY = 86_400.0
_ID = re.compile(
    r"\b(qa_confirmed_tr|tr|ses|doc|mem|rule|job|fb|chunk|sec|msg|papers)([_-])([0-9a-f]{16})\b"
)
_TIME = re.compile(r'("(?:\w+_at|at|last_updated)": ?)(\d{10}(?:\.\d+)?)')


class Steady:
    """`mark(days)`: what the server does from now on was done that many days before the
    pictures.
    """

    def __init__(self) -> None:
        self._marks: list[tuple[float, float]] = []
        self._shown: dict[str, str] = {}  # as the server says it -> as the page sees it
        self._real: dict[str, str] = {}
        self._count: dict[str, int] = {}

    def mark(self, now: float, days: float) -> None:
        self._marks.append((now, NOW - days * DAY))

    def call(self, real: str, shown: str) -> None:
        """Show a host or an id under another name."""
        self._shown[real], self._real[shown] = shown, real

    def stand_in(self, context: BrowserContext) -> None:
        context.route("**/api/**", self._answer)

    def shown(self, text: str) -> str:
        """A reply of the server as the page is to see it."""
        text = _ID.sub(self._id, text)
        for real, shown in self._shown.items():
            if ":" in real:  # a host; ids are done
                text = text.replace(real, shown).replace(quote(real, safe=""), shown)
        return _TIME.sub(lambda found: f"{found[1]}{self.time(float(found[2]))}", text)

    def real(self, text: str) -> str:
        for shown, real in self._real.items():
            text = text.replace(shown, real)
        return text

    def time(self, real: float) -> float:
        at = bisect_right([begun for begun, _ in self._marks], real) - 1
        if at < 0:
            return real
        begun, shown = self._marks[at]
        return shown + round((real - begun) / DAY) * DAY

    def _id(self, found: re.Match[str]) -> str:
        if found[0] not in self._shown:
            self._count[found[1]] = number = self._count.get(found[1], 0) + 1
            self.call(
                found[0],
                f"{found[1]}{found[2]}{sha256(f'{found[1]} {number}'.encode()).hexdigest()[:16]}",
            )
        return self._shown[found[0]]

    def _answer(self, route: Route) -> None:
        request = route.request
        url = self.real(request.url)
        if re.search(r"/(file|pages/\d+\.png|snapshot)(\?|$)", url):
            route.continue_(url=url)
            return
        body = request.post_data
        reply = route.fetch(
            url=url, post_data=self.real(body) if body is not None else None, timeout=300_000
        )
        text = reply.text()
        kind = reply.headers.get("content-type", "")
        if text and "json" in kind:
            text = json.dumps(even(json.loads(self.shown(text))), ensure_ascii=False)
        elif "event-stream" in kind:
            text = "".join(self._line(line) for line in text.splitlines(keepends=True))
        headers = {
            name: value
            for name, value in reply.headers.items()
            if name not in {"content-length", "content-encoding", "etag"}
        }
        route.fulfill(status=reply.status, headers=headers, body=text)

    def _line(self, line: str) -> str:
        if not line.startswith("data:"):
            return line
        told = json.loads(self.shown(line[5:]))
        return f"data: {json.dumps(even(told), ensure_ascii=False)}\n"


def even(told: Any, name: str = "") -> Any:
    """Every duration in it by its name, never by the clock."""
    if isinstance(told, list):
        return [even(each, name) for each in told]
    if not isinstance(told, dict):
        return told
    own = str(told.get("node", name))
    return {
        key: _seconds(value, own) if key == "seconds" else even(value, key)
        for key, value in told.items()
    }


def _seconds(value: Any, name: str) -> Any:
    if isinstance(value, Mapping):
        each = {key: _seconds(1.0, key) for key in value if key != "total"}
        return {
            **each,
            **({"total": round(sum(each.values()), 3) or 0.4} if "total" in value else {}),
        }
    return (
        int(sha256(name.encode()).hexdigest()[:4], 16) % 240 / 1000 + 0.012
        if isinstance(value, int | float)
        else value
    )
