"""The log: lines of text for people, or a JSON object a line for programs; to standard error. Set
up by the command line only.

Each line carries the ids of what was being done (`request_id`, `trace_id`, `job_id`;
`citewell.instrumentation`). No secret and nothing that somebody wrote. Keys of the settings,
tokens, cookies, names and passwords and query strings of addresses, and the question that is being
answered are taken out of every line, whoever wrote it; libraries may warn, and say nothing more
(some tell headers and bodies when they are asked for details).
"""

from __future__ import annotations

import json
import logging
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from copy import copy
from datetime import UTC, datetime
from typing import Any, TextIO

from pydantic import BaseModel, SecretStr

from citewell.config import Settings
from citewell.instrumentation import get_current_operation
from citewell.interfaces.repeats import Repeats

OURS = ("citewell", "uvicorn")  # loggers that keep to `log_level`; all others say warnings at most
# tried again is told by what came of it; requests by our own line, which has no path
# "py.warnings": for who writes a program, not for who starts one
WORDY = ("stamina", "opentelemetry.exporter", "uvicorn.access", "py.warnings", "dulwich.client")
FIELDS = ("method", "route", "status", "seconds", "user_id")  # of an access line, where there are
LEFT_OUT = "[left out]"
SHORTEST = 4  # characters of a question that is looked for: shorter ones are words of everybody's
SHORTEST_KEY = 8  # of a setting that is looked for, likewise
LONGEST = 8_000  # characters that are told of one text
_NAMES = r"x[-_]api[-_]key|api[-_]?key|x-csrf-token|password|passwd"
_PATTERNS = tuple(  # each reads a text once, whatever it holds
    (re.compile(pattern, re.IGNORECASE), instead)
    for pattern, instead in (
        (r"\bcw_[\w-]{8,}", LEFT_OUT),  # tokens
        (r"\b(bearer|basic)\s+[\w.~+/=-]{4,}", rf"\1 {LEFT_OUT}"),
        (rf"((?:{_NAMES})['\"]?\s?[:=]\s?['\"]?)[^\s'\",;&]{{4,}}", rf"\1{LEFT_OUT}"),
        (r"(citewell_session=)[^\s;,'\"]+", rf"\1{LEFT_OUT}"),
    )
)
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]{0,30}://)", re.IGNORECASE)
_WEB = frozenset({"http://", "https://", "ws://", "wss://"})
_QUERY = re.compile(r"\?[^'\"<>]+")
# a line is one line, and no terminal obeys it
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


class Redactor:
    """Takes out of a text what no log may hold. `secrets`: those of the settings."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self.secrets = sorted(
            {each for each in secrets if len(each) >= SHORTEST_KEY}, key=len, reverse=True
        )

    def __call__(self, text: str) -> str:
        this = get_current_operation()
        for hidden in this.hidden if this is not None else ():
            text = _remove_text(text, hidden)
        for secret in self.secrets:
            text = text.replace(secret, LEFT_OUT)
        for pattern, instead in _PATTERNS:
            text = pattern.sub(instead, text)
        return _shorten_text(_redact_addresses(text))


class Ids(logging.Filter):
    """Puts the ids of what is being done on each record, in the task that logs it."""

    def filter(self, record: logging.LogRecord) -> bool:
        this = get_current_operation()
        record.ids = dict(this.ids) if this is not None else {}
        return True


class Text(logging.Formatter):
    """`LEVEL logger: message [id=...]`, a traceback below; `times`: the time before it."""

    def __init__(self, discreet: Redactor, *, times: bool) -> None:
        super().__init__()
        self._discreet = discreet
        self._times = times

    def format(self, record: logging.LogRecord) -> str:
        said = {**_extract_fields(record), **getattr(record, "ids", {})}
        tail = "".join(
            f" {name}={value}"
            for name, value in said.items()
            if name not in {"method", "route", "status"}
        )
        line = f"{record.levelname} {record.name}: {self._discreet(record.getMessage())}{tail}"
        if self._times:
            line = f"{_format_time(record)} {line}"
        line = _CONTROLS.sub(_escape_control, line)
        trace = _format_traceback(self, record)
        return f"{line}\n{self._discreet(trace)}" if trace else line


class Lines(logging.StreamHandler[TextIO]):
    """Writes what `Repeats` lets through. A line that cannot be written is counted and told after
    the next one that can: Python's own way, a traceback on the same stream, would fill what is left
    of a disk.
    """

    def __init__(self, discreet: Redactor, formatter: logging.Formatter) -> None:
        super().__init__(sys.stderr)
        self.setFormatter(formatter)
        self.addFilter(Ids())
        self._repeats = Repeats(discreet)
        self._lost = 0
        _preload_imports(formatter)

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._emit_unrepeated(record)
        except Exception:  # noqa: BLE001  # whatever is wrong with a line, what is logged goes on
            self.handleError(record)

    def _emit_unrepeated(self, record: logging.LogRecord) -> None:
        for told in self._repeats.pop_due(record.created):
            super().emit(told)
        weight = self._repeats.choose_detail(record)
        if weight == "short":
            record = copy(record)
            record.exc_info = record.exc_text = None
        if weight != "none":
            self._write_record(record)

    def _write_record(self, record: logging.LogRecord) -> None:
        lost = self._lost
        super().emit(record)
        if lost and self._lost == lost:
            self._lost = 0
            super().emit(_build_record(f"{lost} lines before this one could not be written"))

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: ARG002, N802 - logging's own
        self._lost += 1

    def close(self) -> None:
        with self.lock or nullcontext():
            for told in self._repeats.pop_due():
                super().emit(told)
        super().close()


def _build_record(said: str, exc_info: Any = None) -> logging.LogRecord:
    return logging.LogRecord(__name__, logging.WARNING, "", 0, said, None, exc_info)


def _preload_imports(formatter: logging.Formatter) -> None:
    """Preload what logging a traceback takes: without file descriptors nothing imports."""
    try:
        int("\x1b")
    except ValueError:
        formatter.format(_build_record("\x1b", sys.exc_info()))


def _build_json_formatter(discreet: Redactor) -> logging.Formatter:
    """Built where it is asked for: its library is not light."""
    from pythonjsonlogger.json import JsonFormatter

    class Json(JsonFormatter):
        def add_fields(
            self, log_data: dict[str, Any], record: logging.LogRecord, message_dict: dict[str, Any]
        ) -> None:
            log_data |= {
                "time": _format_time(record),
                "level": record.levelname.lower(),
                "logger": record.name,
                "message": discreet(record.getMessage()),
                **getattr(record, "ids", {}),
                **_extract_fields(record),
            }
            if trace := str(message_dict.get("exc_info") or ""):
                log_data["exception"] = discreet(trace)

        def jsonify_log_record(self, log_data: dict[str, Any]) -> str:
            """Chinese stays readable; what some take for the end of a line is spelt out."""
            return _CONTROLS.sub(
                lambda each: f"\\u{ord(each[0]):04x}", super().jsonify_log_record(log_data)
            )

    return Json(json_ensure_ascii=False, json_default=str)


def set_up_logging(settings: Settings, *, times: bool = False) -> None:
    """Where nobody has set logging up yet, as Python's own `basicConfig` does. `times`: lines of
    text begin with the time; JSON always tells it.
    """
    root = logging.getLogger()
    if root.handlers:
        return
    root.addHandler(build_handler(settings, times=times))
    set_levels(settings)
    logging.captureWarnings(True)


def set_levels(settings: Settings) -> None:
    """Who may say how much."""
    level = logging.getLevelNamesMapping()[settings.log_level.upper()]
    logging.getLogger().setLevel(max(level, logging.WARNING))
    for name in OURS:
        logging.getLogger(name).setLevel(level)
    for name in WORDY:
        logging.getLogger(name).setLevel(logging.ERROR)


def build_handler(settings: Settings, *, times: bool = False) -> logging.Handler:
    """What writes the lines as the settings want them."""
    discreet = Redactor(collect_secrets(settings))
    return Lines(
        discreet,
        _build_json_formatter(discreet)
        if settings.log_format == "json"
        else Text(discreet, times=times),
    )


def collect_secrets(settings: BaseModel) -> Iterator[str]:
    """The values of all settings that are secret."""
    for name in type(settings).model_fields:
        value = getattr(settings, name)
        if isinstance(value, SecretStr):
            yield value.get_secret_value()
        elif isinstance(value, BaseModel):
            yield from collect_secrets(value)


def _escape_control(found: re.Match[str]) -> str:
    """A control character as Python writes it."""
    return repr(found[0])[1:-1]


def _remove_text(text: str, hidden: str) -> str:
    """Also as Python's `repr` and as JSON write it: errors quote what they choke on."""
    for form in {hidden, hidden.strip(), repr(hidden)[1:-1], json.dumps(hidden)[1:-1]}:
        if len(form) >= SHORTEST:
            text = text.replace(form, LEFT_OUT)
    return text


def _redact_addresses(text: str) -> str:
    """Without names, passwords and queries of addresses."""
    first, *parts = _SCHEME.split(text)
    return first + "".join(
        scheme + _redact_address(scheme, rest)
        for scheme, rest in zip(parts[::2], parts[1::2], strict=True)
    )


def _redact_address(scheme: str, rest: str) -> str:
    """What stands behind `scheme`, as far as the next one. A password may hold every sign but white
    space, so all before the last @ goes; pages of the web may have an @ in their path, which stays.
    """
    size = next((n for n, letter in enumerate(rest) if letter.isspace()), len(rest))
    word, behind = rest[:size], rest[size:]
    host = re.split(r"[/?#]", word, maxsplit=1)[0] if scheme.lower() in _WEB else word
    at = host.rfind("@")
    if at >= 0:
        word = f"{LEFT_OUT}{word[at:]}"
    return _QUERY.sub(f"?{LEFT_OUT}", word, count=1) + behind


def _shorten_text(text: str) -> str:
    """Cut last, so that no secret is cut in two and missed: an error's words stand at the end."""
    left = len(text) - LONGEST
    return (
        f"{text[: LONGEST // 2]} [{left} characters cut] {text[-LONGEST // 2 :]}"
        if left > 0
        else text
    )


def _extract_fields(record: logging.LogRecord) -> dict[str, Any]:
    return {name: getattr(record, name) for name in FIELDS if hasattr(record, name)}


def _format_time(record: logging.LogRecord) -> str:
    return (
        datetime.fromtimestamp(record.created, UTC)
        .isoformat(timespec="milliseconds")
        .replace("+00:00", "Z")
    )


def _format_traceback(formatter: logging.Formatter, record: logging.LogRecord) -> str:
    return (
        formatter.formatException(record.exc_info) if record.exc_info and record.exc_info[0] else ""
    )
