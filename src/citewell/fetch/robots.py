"""robots.txt as RFC 9309 says, and `Crawl-delay`. Python's own parser knows no `*` and no `$`,
which most sites use. The longest rule that fits decides, and where a rule to allow is as long, it
wins.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

from citewell.fetch.urls import normalize_escapes

LONGEST = 500_000  # bytes of a robots.txt that count; the RFC wants 500 KiB at least
LONGEST_DELAY = 10.0  # seconds; more would mean never
_MOST_RULES = 20_000
_LINE = re.compile(r"\s*([A-Za-z-]+)\s*:\s*([^#]*)")
_TOKEN = re.compile(r"[a-z_-]+")


@dataclass(slots=True)
class Robots:
    """What one robots.txt says to us. `rules`: (pattern, whether it allows). `delay`: seconds
    between two requests. `sitemaps`: what it names as such, to everyone, as it is written there.
    """

    rules: list[tuple[str, bool]] = field(default_factory=list)
    delay: float = 0.0
    sitemaps: list[str] = field(default_factory=list)

    def is_allowed(self, target: str) -> bool:
        """`target`: path and query of a canonical URL."""
        best, allowed = -1, True
        for pattern, allow in self.rules:
            if (
                len(pattern) < best
                or (len(pattern) == best and not allow)
                or not is_match(pattern, target)
            ):
                continue
            best, allowed = len(pattern), allow
        return allowed


@dataclass(slots=True)
class _Group:
    agents: set[str] = field(default_factory=set)
    robots: Robots = field(default_factory=Robots)


def parse(data: bytes, agent: str) -> Robots:
    """The rules for `agent`: of all groups that name its product (before a `/`), else for `*`."""
    groups: list[_Group] = []
    sitemaps: list[str] = []
    naming = False  # several user-agent lines in a row begin one group
    for line in data[:LONGEST].decode("utf-8", "replace").removeprefix("\ufeff").splitlines():
        match = _LINE.match(line)
        if not match:
            continue
        key, value = match[1].lower(), match[2].strip()
        if key == "user-agent":
            if not naming:
                groups.append(_Group())
            groups[-1].agents.add("*" if value == "*" else get_product_token(value))
            naming = True
        elif key == "sitemap" and value:  # of no group, so it ends none either
            sitemaps.append(value)
        elif groups and key in {"allow", "disallow", "crawl-delay"}:
            naming = False
            _apply_directive(groups[-1].robots, key, value)
    robots = (
        _merge_groups(groups, get_product_token(agent)) or _merge_groups(groups, "*") or Robots()
    )
    robots.sitemaps = sitemaps
    return robots


def get_product_token(agent: str) -> str:
    """`citewell` of `Citewell/1.0 (+https://...)`."""
    match = _TOKEN.match(agent.strip().lower())
    return match[0] if match else ""


def _apply_directive(robots: Robots, key: str, value: str) -> None:
    if key == "crawl-delay":
        try:
            seconds = float(value)
        except ValueError:
            return  # not a number: no delay is asked for
        if math.isfinite(seconds) and seconds > 0:
            robots.delay = max(robots.delay, min(seconds, LONGEST_DELAY))
    elif value and len(robots.rules) < _MOST_RULES:  # an empty one forbids nothing
        robots.rules.append((normalize_escapes(value), key == "allow"))


def _merge_groups(groups: list[_Group], agent: str) -> Robots | None:
    ours = [group.robots for group in groups if agent and agent in group.agents]
    if not ours:
        return None
    return Robots(
        [rule for robots in ours for rule in robots.rules], max(robots.delay for robots in ours)
    )


def is_match(pattern: str, target: str) -> bool:
    """`*` is anything, `$` at the end is the end. Each part is looked for once: cheap."""
    ends = pattern.endswith("$")
    first, *rest = pattern.removesuffix("$").split("*")
    if not target.startswith(first):
        return False
    at = len(first)
    last = rest.pop() if ends and rest else None
    for part in rest:
        found = target.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    if last is not None:
        return len(target) - at >= len(last) and target.endswith(last)
    return not ends or at == len(target)
