"""The log of a server: its fields, its ids, and that nothing secret and nothing that somebody wrote
is in it.
"""

from __future__ import annotations

import io
import json
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from pydantic import SecretStr
from tests.interfaces.auth import bearer, done, with_users
from tests.timing import cpu_seconds

from citewell.config import Settings
from citewell.errors import CitewellError, InvalidInput
from citewell.instrumentation import observe_operation
from citewell.interfaces import logs
from citewell.runtime.app import App
from citewell.service.admin.users import add_user
from citewell.service.library.intake import add_data

if TYPE_CHECKING:
    from tests.interfaces.conftest import Served

TEXT = b"The lamp of Norden is 41 metres tall. It was lit in 1857."
QUESTION = "How tall is the lamp of Norden, asks zyzzyva?"
KEY = "sk-quite-secret-key-0815"


class Log:
    """What a server writes, as `serve` sets it up, at its most talkative."""

    def __init__(self, settings: Settings) -> None:
        self.stream = io.StringIO()
        self.handler = logs.build_handler(settings)
        assert isinstance(self.handler, logging.StreamHandler)
        self.handler.setStream(self.stream)

    @property
    def text(self) -> str:
        return self.stream.getvalue()

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text.splitlines()]

    def of(self, logger: str) -> list[dict[str, Any]]:
        return [line for line in self.lines if line["logger"] == logger]


@contextmanager
def logged(settings: Settings) -> Iterator[Log]:
    log, root = Log(settings), logging.getLogger()
    before = {name: logging.getLogger(name).level for name in ("", *logs.OURS, *logs.WORDY)}
    root.addHandler(log.handler)
    logs.set_levels(settings)
    try:
        yield log
    finally:
        root.removeHandler(log.handler)
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """With a key that nobody may see, and an endpoint that nobody answers at."""
    changes = {"log_format": "json", "log_level": "debug", "llm_key": SecretStr(KEY)}
    return settings.model_copy(update=changes)


@pytest.fixture
def log(settings: Settings) -> Iterator[Log]:
    with logged(settings) as found:
        yield found


@pytest.fixture
async def asked(app: App, served: Served) -> httpx.AsyncClient:
    await add_data(app, TEXT, "lamps.txt", "upload:lamps.txt", "lamps")
    return served.client


async def test_one_line_a_request(log: Log, asked: httpx.AsyncClient) -> None:
    reply = await asked.post(
        "/api/ask?x=y",
        json={"question": QUESTION, "collection": "lamps"},
        headers={"X-Request-ID": "mine-7"},
    )
    assert reply.headers["X-Request-ID"] == "mine-7"
    (line,) = log.of("citewell.access")
    seconds, time = line.pop("seconds"), line.pop("time")
    assert line == {
        "level": "info",
        "logger": "citewell.access",
        "message": "POST /api/ask 200",
        "method": "POST",
        "route": "/api/ask",
        "status": 200,
        "user_id": "local",
        "request_id": "mine-7",
        "trace_id": reply.json()["trace_id"],
    }
    assert 0 < seconds < 60
    assert time.endswith("Z")
    assert QUESTION not in log.text


NO_IDS = (
    *(b"", b"a" * 65, b"two words", b'x"}{"level":"error', b"a;b", b"<script>", b"%0a"),
    "é".encode("latin-1"),
)


async def test_an_id_that_is_none_is_not_taken_over(log: Log, client: httpx.AsyncClient) -> None:
    for said in NO_IDS:
        reply = await client.get("/api/version", headers=[(b"X-Request-ID", said)])
        made = reply.headers["X-Request-ID"]
        assert made.startswith("req_"), said
        assert log.of("citewell.access")[-1]["request_id"] == made


async def test_every_reply_has_an_id_whoever_makes_it(client: httpx.AsyncClient) -> None:
    for reply in [
        await client.get("/nope"),
        await client.get("/api/version", headers={"Host": "elsewhere.example"}),
        await client.post("/api/ask", content=b"{"),
        await client.post("/v1/chat/completions", json={}),
        await client.request("BREW", "/api/ask"),
    ]:
        assert reply.headers["X-Request-ID"].startswith("req_"), reply


async def test_probes_are_quiet(log: Log, client: httpx.AsyncClient) -> None:
    for path in ("/api/health", "/api/ready", "/metrics"):
        await client.get(path)
    assert {line["level"] for line in log.of("citewell.access")} == {"debug"}


async def test_a_fault_is_told_once_with_its_traceback(
    log: Log, client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not a second time by the server below; the reply says where to look."""

    async def broken(*_: object) -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr("citewell.store.sessions.Sessions.list", broken)
    reply = await client.get("/api/sessions")
    error, made = reply.json()["error"], reply.headers["X-Request-ID"]
    assert (reply.status_code, error["code"], error["detail"]) == (
        500,
        "internal",
        {"request_id": made},
    )
    assert made in error["hint"]
    (fault,) = [line for line in log.lines if "exception" in line]
    assert (fault["level"], fault["request_id"]) == ("error", made)
    assert fault["exception"].endswith("ZeroDivisionError: oops")
    assert [line["status"] for line in log.of("citewell.access")] == [500]
    assert [line for line in log.of("uvicorn.error") if line["level"] != "info"] == []


async def test_a_fault_in_a_stream_names_the_request(
    log: Log, asked: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object) -> None:
        raise ZeroDivisionError(f"cannot answer {QUESTION!r}")

    monkeypatch.setattr("citewell.service.ask.ask.store_answer", broken)
    headers = {"Accept": "text/event-stream"}
    reply = await asked.post(
        "/api/ask", json={"question": QUESTION, "collection": "lamps"}, headers=headers
    )
    assert f"at request {reply.headers['X-Request-ID']}" in reply.text
    (fault,) = [line for line in log.lines if "exception" in line]
    assert fault["exception"].endswith("ZeroDivisionError: cannot answer '[left out]'")
    assert fault["trace_id"].startswith("tr_")
    assert "zyzzyva" not in log.text


async def test_jobs_say_which_they_are(log: Log, client: httpx.AsyncClient) -> None:
    job = await done(
        client,
        (await client.post("/api/collections/c/documents", files={"file": ("a.txt", TEXT)})).json(),
    )
    told = log.of("citewell.service.jobs.run_job")
    assert [line["message"] for line in told] == ["job begins: upload", "job done: upload"]
    assert {line["job_id"] for line in told} == {job["job_id"]}
    assert all("request_id" not in line for line in told)


class Rude(BaseHTTPRequestHandler):
    """A chat model's server that refuses, and quotes all that it was sent."""

    def do_POST(self) -> None:
        sent = self.rfile.read(int(self.headers["content-length"])).decode()
        body = json.dumps(
            {"error": {"message": f"bad: {self.headers['authorization']} {sent}"}}
        ).encode()
        self.send_response(422)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing on the terminal."""


class TestWithUsers:
    @pytest.fixture
    def settings(self, settings: Settings) -> Iterator[Settings]:
        """Connected to a chat model whose errors quote the prompt, and whose address has a password
        in it.
        """
        with ThreadingHTTPServer(("127.0.0.1", 0), Rude) as server:
            thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
            thread.start()
            url = f"http://ann:hunter2secret@127.0.0.1:{server.server_port}/v1"
            changes = {"llm_url": url, "llm_model": "m", "llm": "openai"}
            yield with_users(settings).model_copy(update=changes)
            server.shutdown()
            thread.join()

    async def test_no_secret_and_no_word_of_anybody(
        self, log: Log, app: App, served: Served
    ) -> None:
        """Tokens, cookies, CSRF words, keys, questions, queries: whatever goes wrong, at the finest
        level.
        """
        client = served.client
        token = (await add_user(app, "ann", "admin")).token
        await add_data(app, TEXT, "lamps.txt", "upload:lamps.txt", "lamps")
        signed_in = await client.post("/api/sign-in", json={"token": token})
        cookie, csrf = client.cookies["citewell_session"], signed_in.json()["csrf"]
        asking = {"question": QUESTION, "collection": "lamps"}
        completion = {"model": "citewell/qa", "messages": [{"role": "user", "content": QUESTION}]}
        for headers in (
            bearer(token),
            {"X-CSRF-Token": csrf},
            {"X-CSRF-Token": "wrong"},
            bearer("cw_not-a-token-of-anybody"),
        ):
            await client.post("/api/ask", json=asking, headers=headers)
            await client.get(f"/api/sessions?user_id=ann&token={token}", headers=headers)
            await client.post("/api/search", json={"query": QUESTION}, headers=headers)
            await client.post("/v1/chat/completions", json=completion, headers=headers)
        await client.post("/api/ask", content=json.dumps(asking)[:-3], headers=bearer(token))
        await client.get(f"/{token}/{cookie}")
        logging.getLogger("citewell.x").warning(
            "a library quotes %s, %s and %s", token, f"citewell_session={cookie}", KEY
        )
        logging.getLogger("elsewhere").error(
            "Authorization: Bearer abcdefghijkl and https://u:pw@h.example/p?q=zyzzyva"
        )
        assert len(log.of("citewell.access")) == 19
        assert {line["user_id"] for line in log.of("citewell.access")} == {"", "ann"}
        for secret in (
            token,
            token[3:],
            cookie,
            csrf,
            KEY,
            "hunter2secret",
            "zyzzyva",
            "cw_not",
            "abcdefghijkl",
            "pw@",
        ):
            assert secret not in log.text, secret


def test_what_is_left_out_of_any_text() -> None:
    discreet = logs.Redactor([KEY, ""])
    with observe_operation("answer", "qa") as answer:
        answer.hide(asked := 'Was "heißt" 保修?')
        assert (
            discreet(f"x {json.dumps(asked)} y {asked!r} z") == "x \"[left out]\" y '[left out]' z"
        )
        answer.hide("is")
        assert discreet("this is short") == "this is short"  # else half of all words would go
    assert discreet(f"key={KEY}.") == "key=[left out]."
    assert discreet("postgresql://ann:pw@db/x") == "postgresql://[left out]@db/x"
    assert (
        discreet("see https://a.example/p?token=1#f, then")
        == "see https://a.example/p?[left out] then"
    )
    assert discreet("a@b.example asks: why?") == "a@b.example asks: why?"
    assert discreet("https://a.example/@ann/p, 1") == "https://a.example/@ann/p, 1"
    assert (
        logs.Redactor(["e", "seven77"])("seven77 eels") == "seven77 eels"
    )  # else every line would be mangled


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("POSTGRESQL://user:pass@host/db", "POSTGRESQL://[left out]@host/db"),
        ("HTTPS://h/a?token=sekret", "HTTPS://h/a?[left out]"),
        ("mysql://u:pa/ss@host/db x", "mysql://[left out]@host/db x"),
        ("at 'postgresql://u:pa'ss@host'", "at 'postgresql://[left out]@host'"),
        ("postgresql://user:p@ss@host/db", "postgresql://[left out]@host/db"),
        ("https://u:p@h/@a,mysql://u:p@h", "https://[left out]@h/@a,mysql://[left out]@h"),
        ("X-API-Key: sk-12345", "X-API-Key: [left out]"),
        ('{"api_key":"sk-12345"}', '{"api_key":"[left out]"}'),
    ],
)
def test_secrets_in_every_spelling(text: str, told: str) -> None:
    assert logs.Redactor()(text) == told


@pytest.mark.parametrize(
    "unit", ["a://x", "a", "bearer ", "cw_", "a://?", "a://@", "password:", " "]
)
def test_a_long_line_is_cut_and_takes_no_time(unit: str) -> None:
    discreet = logs.Redactor()
    text = unit * (200_000 // len(unit))
    assert cpu_seconds(lambda: discreet(text), tries=2) < 3.0
    assert len(discreet(text)) < logs.LONGEST + 100
    assert "pppp" not in discreet(
        f"{'x ' * 10_000}mysql://u:{'p' * 9_000}@h ends"
    )  # cut behind the filter


@pytest.mark.parametrize("form", ["json", "text"])
def test_a_line_is_one_line(settings: Settings, form: str) -> None:
    """Whatever a name holds: no second line, no escape sequence."""
    log = Log(settings.model_copy(update={"log_format": form}))
    record = logging.LogRecord(
        "citewell.x", logging.WARNING, "f", 1, "%s: bad", ("a\nERROR forged\x1b[31m\u2028",), None
    )
    log.handler.handle(record)
    assert log.text.count("\n") == 1
    assert not {"\x1b", "\u2028"} & set(log.text)
    if form == "text":
        assert log.text == "WARNING citewell.x: a\\nERROR forged\\x1b[31m\\u2028: bad\n"
    else:
        assert log.lines[0]["message"] == "a\nERROR forged\x1b[31m\u2028: bad"


def test_extra_fields_of_others_are_not_taken_over(settings: Settings) -> None:
    log = Log(settings)
    record = logging.LogRecord("lib", logging.WARNING, "f", 1, "said", None, None)
    record.headers = {"authorization": "secret"}
    log.handler.handle(record)
    assert set(log.lines[0]) == {"time", "level", "logger", "message"}


def test_set_up_quiets_libraries_at_every_level(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some tell headers and bodies when they are asked for details."""
    root = logging.getLogger()
    levels = {name: logging.getLogger(name).level for name in ("", *logs.OURS, *logs.WORDY)}
    monkeypatch.setattr(root, "handlers", [])
    try:
        logs.set_up_logging(settings)
        assert len(root.handlers) == 1
        assert not logging.getLogger("httpcore.http11").isEnabledFor(logging.INFO)
        assert not logging.getLogger("openai").isEnabledFor(logging.DEBUG)
        assert not logging.getLogger("py.warnings").isEnabledFor(logging.WARNING)
        assert logging.getLogger("citewell.service").isEnabledFor(logging.DEBUG)
        assert logging.getLogger("uvicorn.error").isEnabledFor(logging.INFO)
        logs.set_up_logging(settings)
        assert len(root.handlers) == 1
    finally:
        logging.captureWarnings(False)
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)


async def test_known_errors_are_no_faults(
    log: Log, client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuses(*_: object) -> None:
        raise InvalidInput("no")

    monkeypatch.setattr("citewell.store.sessions.Sessions.list", refuses)
    assert issubclass(InvalidInput, CitewellError)
    assert (await client.get("/api/sessions")).status_code == 422
    assert [line for line in log.lines if "exception" in line or line["level"] == "error"] == []
