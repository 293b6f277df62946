"""What is thrown at the server: addresses of inner networks, strings that want to be run, bodies
that are no bodies; and what each operation of its own description takes, so that a new one is
attacked as soon as it is described.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# beside the checkout, where there is one
SHARED = Path(__file__).resolve().parents[2] / "shared" / "data" / "robustness"

ADDRESSES = (
    "http://127.0.0.1:{port}/", "http://localhost:{port}/", "http://0:{port}/",
    "http://127.1:{port}/", "http://0.0.0.0:{port}/", "http://2130706433:{port}/",
    "http://0x7f000001:{port}/", "http://0177.0.0.1:{port}/", "http://[::1]:{port}/",
    "http://[::ffff:127.0.0.1]:{port}/", "http://[::ffff:7f00:1]:{port}/",
    "http://127.0.0.1.:{port}/", "http://１２７.0.0.1:{port}/", "http://①②⑦.⓪.⓪.①:{port}/",
    "http://user@127.0.0.1:{port}/", "http://example.com@127.0.0.1:{port}/",
    "http://127.0.0.1:{port}#@example.com/", "http://[::]:{port}/", "http://[fe80::1]/",
    "http://[fd00::1]/", "http://10.0.0.1/", "http://172.16.0.1/", "http://192.168.0.1/",
    "http://100.64.0.1/", "http://169.254.169.254/latest/meta-data/",
    "http://metadata.google.internal/", "http://[fd00:ec2::254]/", "http://224.0.0.1/",
    "http://255.255.255.255/", "http://0.0.0.0/", "file:///etc/passwd",
    "gopher://127.0.0.1:{port}/_x", "ftp://127.0.0.1:{port}/", "dict://127.0.0.1:{port}/",
    "jar:http://127.0.0.1!/", "data:text/html,x", "javascript:1", "unix:///var/run/docker.sock",
    "http://127.0.0.1:22/", "http://\\127.0.0.1:{port}\\", "//127.0.0.1:{port}/",
)  # fmt: skip

NAUGHTY = (
    "", " ", "\0", "\x1b[31m", "\u202e\u2066x\u2069", "\ud800", "\udfff\ud800",
    "\ufeff\ufffe\uffff", "\U000e0041", "a\u0301", "字", "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>', "javascript:alert(1)", "{{7*7}}${7*7}<%= 7*7 %>",
    "'; DROP TABLE users; --", "1 OR 1=1", "../../../../etc/passwd", "..\\..\\boot.ini",
    "\r\nSet-Cookie: a=b\r\n\r\n", "=HYPERLINK(1)", "__proto__", "constructor", "null", "None",
    "NaN", "1e999", "-1", "9", "true", "[]", "%00%0d%0a", "%s%n%x", "$(id)`id`|id", "CON",
    "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "\u2028\u2029", "ﷺ", "İı", "ẞß",
)  # fmt: skip

# 0.9 MB of names that nobody knows
MANY = json.dumps({str(n): 1 for n in range(90_000)}, separators=(",", ":")).encode()
BODIES: dict[str, bytes] = {
    "empty": b"",
    "no JSON": b"nul",
    "not UTF-8": b"\xff\xfe\x00",
    "half a character": b'{"question": "\\ud800", "token": "\\ud800", "text": "\\ud800"}',
    "a list": b"[1, 2]",
    "a number": b"1e999999",
    "the same name twice": b'{"question": "a", "question": "b"}',
    "deep lists": b"[" * 100_000,
    "deep objects": b'{"question":' * 50_000,
    "deep and whole": b'{"question": ' + b"[" * 5_000 + b"]" * 5_000 + b"}",
    "many unknown names": MANY,
    "many values": b'{"history": [' + b"1," * 200_000 + b"1]}",
    "a long text": b'{"question": "' + b"x" * 5_000_000 + b'", "token": "x"}',
    "a long number": b'{"question": ' + b"9" * 100_000 + b"}",
    "infinity": b'{"question": Infinity, "options": {"max_seconds": NaN}}',
}


@dataclass(frozen=True, slots=True)
class Operation:
    """A method and a path of the description, and the schema of the JSON that it takes, none where
    it takes none.
    """

    method: str
    path: str
    schema: dict[str, Any] | None
    query: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


def operations(described: dict[str, Any]) -> list[Operation]:
    """In the order of their paths; what reads before what writes, what deletes last."""
    order = ("get", "head", "post", "put", "patch", "delete")
    found = []
    for path, methods in described["paths"].items():
        for method, told in methods.items():
            content = _whole(told.get("requestBody", {}), described).get("content", {})
            schema = content.get("application/json", {}).get("schema")
            query = tuple(
                each["name"] for each in told.get("parameters", []) if each.get("in") == "query"
            )
            found.append(
                Operation(
                    method.upper(),
                    path,
                    None if schema is None else _whole(schema, described),
                    query,
                )
            )
    return sorted(found, key=lambda each: (order.index(each.method.lower()), each.path))


def body_of(
    schema: dict[str, Any], described: dict[str, Any], fill: dict[str, Any], text: str | None = None
) -> Any:
    """What fits the schema: required fields; those of `fill` by their names; with `text`, that in
    every field that is text.
    """
    schema = _whole(schema, described)
    kind = schema.get("type")
    if kind == "object" or "properties" in schema:
        required, made = set(schema.get("required", [])), dict[str, Any]()
        for name, each in schema.get("properties", {}).items():
            whole = _whole(each, described)
            if name in fill:
                made[name] = [fill[name]] if whole.get("type") == "array" else fill[name]
            elif name in required or (text is not None and _is_text(whole)):
                made[name] = body_of(whole, described, fill, text)
        return made
    if kind == "array":
        return [body_of(schema.get("items", {}), described, fill, text)]
    if kind == "string" or _is_text(schema):
        return text if text is not None else schema.get("enum", ["lamps"])[0]
    return {"integer": 1, "number": 1.0, "boolean": True}.get(str(kind))


def addresses(port: int, *, short: bool) -> list[str]:
    """Ours, and those of the public list where it lies beside the checkout; short: those that need
    no name looked up.
    """
    found = [each.format(port=port) for each in ADDRESSES]
    listed = SHARED / "ssrf_urls.jsonl"
    if listed.is_file():
        lines = [json.loads(line)["url"] for line in listed.read_text("utf-8").splitlines()]
        found += [
            each
            for each in lines
            if not short or not each.rstrip("/").endswith((".io", ".com", ".net", ".org", ".me"))
        ]
    return list(dict.fromkeys(found))


def naughty(*, short: bool) -> list[str]:
    listed = SHARED / "naughty_strings.jsonl"
    more = [] if short or not listed.is_file() else list(_texts(listed))
    return list(dict.fromkeys([*NAUGHTY, *more]))


def _texts(path: Path) -> Iterator[str]:
    for line in path.read_text("utf-8").splitlines():
        yield from (
            value
            for name, value in json.loads(line).items()
            if name in {"text", "string"} and isinstance(value, str)
        )


def _whole(schema: dict[str, Any], described: dict[str, Any]) -> dict[str, Any]:
    """References followed; of several forms the first that is not null."""
    while True:
        if "$ref" in schema:
            target: Any = described
            for part in str(schema["$ref"]).removeprefix("#/").split("/"):
                target = target[part]
            schema = target
        elif "anyOf" in schema or "oneOf" in schema:
            schema = next(
                each
                for each in schema.get("anyOf") or schema["oneOf"]
                if each.get("type") != "null"
            )
        else:
            return schema


def _is_text(schema: dict[str, Any]) -> bool:
    return schema.get("type") == "string" and "enum" not in schema and "const" not in schema
