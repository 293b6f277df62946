"""A log that cannot fill the disk: what says the same again is counted, and no line costs more than
itself.
"""

from __future__ import annotations

import io
import logging
import sys
from collections.abc import Iterator

import pytest

from citewell.config import Settings
from citewell.interfaces import logs, repeats


class Written:
    """A logger of its own, and what its handler has written."""

    def __init__(self, settings: Settings) -> None:
        self.stream = io.StringIO()
        self.handler = logs.build_handler(settings)
        assert isinstance(self.handler, logs.Lines)
        self.handler.setStream(self.stream)

    def add_sentence(
        self,
        text: str,
        *,
        name: str = "asyncio",
        level: int = logging.ERROR,
        at: float = 0.0,
        **more: object,
    ) -> None:
        record = logging.LogRecord(name, level, "", 0, text, None, None)
        record.__dict__.update(created=at, **more)
        self.handler.handle(record)

    @property
    def lines(self) -> list[str]:
        return self.stream.getvalue().splitlines()


@pytest.fixture(params=["text", "json"])
def log(settings: Settings, request: pytest.FixtureRequest) -> Iterator[Written]:
    written = Written(settings.model_copy(update={"log_format": request.param}))
    yield written
    written.handler.close()


def test_the_same_again_is_counted(log: Written) -> None:
    for n in range(1_000):
        log.add_sentence("no room", at=n / 1_000)
        log.add_sentence("another", at=n / 1_000) if n < 3 else None
    assert len(log.lines) == repeats.SAME + 3
    log.add_sentence("later", at=61.5)
    told = log.lines[repeats.SAME + 3 :]
    assert len(told) == 2
    assert "left out 995 more lines like this of 60 seconds: no room" in told[0]
    assert "later" in told[1]
    log.add_sentence("no room", at=61.6)
    assert "no room" in log.lines[-1]


def test_other_words_each_time_are_counted_by_their_logger(log: Written) -> None:
    """A library that puts a number into each line; another logger is heard all the same."""
    for n in range(50_000):
        log.add_sentence(f"socket {n}", at=n / 50_000)
    log.add_sentence("heard", name="citewell.jobs", at=1.0)
    assert len(log.lines) == repeats.OF_LOGGER + 1
    assert "heard" in log.lines[-1]
    log.handler.close()  # the end tells what is still to be told
    assert (
        sum(f"left out {50_000 - repeats.OF_LOGGER} more lines" in line for line in log.lines) == 1
    )


def test_a_traceback_is_told_some_times(log: Written) -> None:
    """Then its line alone, with the id that somebody was told."""
    for n in range(20):
        try:
            {}["x"]  # type: ignore[index]
        except KeyError:
            record = logging.LogRecord(
                "citewell", logging.ERROR, "", 0, "unexpected", None, sys.exc_info()
            )
            record.created = n / 100
            log.handler.handle(record)
    text = log.stream.getvalue()
    assert (text.count("unexpected"), text.count("Traceback")) == (20, repeats.SAME)


def test_what_somebody_did_is_always_told(log: Written) -> None:
    for n in range(400):
        log.add_sentence(
            "GET /api/ask 200",
            name="citewell.access",
            level=logging.INFO,
            user_id="ann",
            status=200,
            at=n / 1_000,
        )
        log.add_sentence("users: ann added bob", name="citewell.audit", at=n / 1_000)
        log.add_sentence(
            "GET (none) 401",
            name="citewell.access",
            level=logging.INFO,
            user_id="",
            status=401,
            at=n / 1_000,
        )
    assert len(log.lines) == 800 + repeats.SAME


def test_a_line_that_cannot_be_written(log: Written, capsys: pytest.CaptureFixture[str]) -> None:
    """No traceback of the log's own; the next one says how many are missing."""

    class Full(io.StringIO):
        def write(self, _: str) -> int:
            raise OSError(28, "No space left on device")

    log.handler.setStream(Full())  # type: ignore[attr-defined]
    for _ in range(3):
        log.add_sentence("lost")
    log.handler.handle(logging.LogRecord("citewell", logging.ERROR, "", 0, "%d", ("wrong",), None))
    log.handler.setStream(log.stream)  # type: ignore[attr-defined]
    log.add_sentence("there is room again")
    assert capsys.readouterr().err == ""
    assert "there is room again" in log.lines[0]
    assert "4 lines before this one could not be written" in log.lines[1]


def test_nothing_is_imported_to_write_a_line(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With no file descriptor left nothing can be: what a line takes is there from the start."""
    log = Written(settings)
    before = set(sys.modules)

    def refused(name: str, *_: object, **__: object) -> object:
        raise OSError(24, f"Too many open files: {name}")

    monkeypatch.setattr("builtins.open", refused)
    monkeypatch.setattr("importlib._bootstrap._find_and_load", refused, raising=False)
    try:
        int("\x1b\u2028")
    except ValueError:
        log.handler.handle(
            logging.LogRecord("citewell", logging.ERROR, "", 0, "odd \x1b\n", None, sys.exc_info())
        )
    monkeypatch.undo()
    assert "odd \\x1b\\n" in log.lines[0]
    assert set(sys.modules) == before
