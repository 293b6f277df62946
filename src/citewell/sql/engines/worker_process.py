"""What all engines share: their drivers run in a worker process, which a limit or a cancelled
question ends.

An engine's module has functions that the worker calls, once it has started and loaded the `driver`:
`run(location, token, sql, limits)`, `explain(...)` alike and `inspect(location, token, values)`;
`stop(location, token)`, where there is a server, ends what a killed worker had begun there.

A driver never runs in the process that answers people. A cell of a gigabyte, a crash of native code
or a statement that hears no interrupt costs one worker.
"""

from __future__ import annotations

import errno
import importlib
import secrets
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, ClassVar

import anyio
from anyio.lowlevel import RunVar

from citewell.errors import CitewellError, SourceUnavailable, StatementFailed
from citewell.ingest.worker import Died, run_in_worker
from citewell.messages import Text
from citewell.sql.engines.engine import Dialect, Limits, Location, Rows, Schema, Writing, Written
from citewell.sql.engines.profile import INSPECT_SECONDS

if sys.platform != "win32":
    import resource

MOST_AT_ONCE = 4  # statements; more wait
GRACE = 4.0  # seconds beyond the engine's own limit until the worker is killed
# until a worker is ready: 0.5 s, on a busy machine many; none of them is the statement's
START_SECONDS = 60.0
STOP_SECONDS = 3.0
WRITE = "citewell.sql.engines.write_result:write_result"
WRITE_SECONDS = 120.0  # for a file of rows, beyond the statement's own
MIB = 1 << 20
OWN_MIB = 256  # a driver's own code and threads, beyond what a statement may take
# of an engine's complaint: it is read by people, and by a model that mends the statement
MESSAGE_CHARACTERS = 400
VALUES = 30

_limiter: RunVar[anyio.CapacityLimiter] = RunVar("citewell_table_workers")


class ProcessEngine:
    """An engine whose work is done by the functions of `module` in a worker."""

    dialect: Dialect
    module: ClassVar[str]
    driver: ClassVar[str]
    server: ClassVar[bool] = False

    def __init__(self, location: Location) -> None:
        self.location = location

    async def inspect(self) -> Schema:
        schema: Schema = await self._call_worker(
            "inspect", INSPECT_SECONDS, self.location.options.get("values", VALUES)
        )
        return schema

    async def run(self, sql: str, limits: Limits) -> Rows:
        rows: Rows = await self._call_worker("run", limits.seconds, sql, limits)
        return rows

    async def export(self, sql: str, limits: Limits, path: str, how: Writing) -> Written:
        """The worker writes the file: rows of any number never come into this process."""
        call = (sql, limits, path, how, self.module)
        written: Written = await self._call_worker(WRITE, limits.seconds + WRITE_SECONDS, *call)
        return written

    async def explain(self, sql: str, limits: Limits) -> None:
        await self._call_worker("explain", limits.seconds, sql, limits)

    async def close(self) -> None:
        """Nothing is kept open between two calls."""

    async def _call_worker(self, function: str, seconds: float, *arguments: Any) -> Any:
        token = f"citewell-{secrets.token_hex(8)}"
        try:
            async with _get_limiter():
                await self._start_worker()
                with anyio.fail_after(seconds + self.location.options.get("grace", GRACE)):
                    target = function if ":" in function else f"{self.module}:{function}"
                    return await run_in_worker(target, self.location, token, *arguments)
        except TimeoutError:
            await self._stop_statement(token)
            raise make_timeout_error(seconds) from None
        except Died:
            await self._stop_statement(token)
            raise StatementFailed(
                Text(
                    "the table engine's process ended: most likely the statement needs "
                    "more memory than it may have"
                ),
                hint=Text("ask for less at once, or raise data.memory_mib"),
                code="memory",
            ) from None
        except (CitewellError, MemoryError) as error:
            raise (error if isinstance(error, CitewellError) else make_memory_error()) from None
        except OSError as error:
            # of a process that could not be started, or of a driver that does not tell its own
            short = error.errno in (errno.ENOMEM, errno.EAGAIN)
            hint = (
                Text("is there memory left on this machine?")
                if short
                else Text("look at the files that the source names")
            )
            raise make_unavailable_error(Text("the tables"), error, hint) from None
        except anyio.get_cancelled_exc_class():
            await self._stop_statement(token)
            raise

    async def _start_worker(self) -> None:
        """Leaves a worker ready for the next call, which takes it up without a wait between."""
        try:
            with anyio.fail_after(START_SECONDS):
                await run_in_worker(f"{__name__}:load", self.module, self.driver)
        except (TimeoutError, Died):
            problem = Text(
                "the process that reads them was not ready within {start_seconds:g} s",
                start_seconds=START_SECONDS,
            )
            raise make_unavailable_error(
                Text("the tables"), problem, Text("this machine is busy: ask again later")
            ) from None

    async def _stop_statement(self, token: str) -> None:
        """Ends at the server what the worker left; that it cannot be reached is no news."""
        if not self.server:
            return
        with (
            anyio.CancelScope(shield=True),
            anyio.move_on_after(STOP_SECONDS),
            suppress(CitewellError, Died),
        ):
            await run_in_worker(f"{self.module}:stop", self.location, token)


def _get_limiter() -> anyio.CapacityLimiter:
    try:
        return _limiter.get()
    except LookupError:
        _limiter.set(limiter := anyio.CapacityLimiter(MOST_AT_ONCE))
        return limiter


def load(*modules: str) -> None:
    """In the worker, outside a statement's seconds. A missing driver is its user's error."""
    for module in modules:
        with suppress(ImportError):
            importlib.import_module(module)


def make_timeout_error(seconds: float) -> StatementFailed:
    hint = Text("ask for less at once, or raise data.statement_seconds")
    return StatementFailed(
        Text("the statement was stopped after {seconds:g} s", seconds=seconds),
        hint=hint,
        code="timeout",
    )


def make_memory_error() -> StatementFailed:
    hint = Text("ask for less at once, or raise data.memory_mib")
    return StatementFailed(
        Text("the statement needs more memory than it may have"), hint=hint, code="memory"
    )


def make_unreadable_value_error(error: Exception) -> StatementFailed:
    """For a value that Python cannot hold, such as a date before the year 1."""
    return StatementFailed(
        Text(
            "a value of the result cannot be read: {engine_error}",
            engine_error=format_engine_error(error),
        )
    )


def format_engine_error(error: BaseException | str) -> str:
    """The engine's own words, in two lines at most."""
    lines = [" ".join(line.split()) for line in str(error).splitlines() if line.strip(" ^\t")]
    text = "\n".join(lines[:2]) or type(error).__name__
    return text if len(text) <= MESSAGE_CHARACTERS else text[: MESSAGE_CHARACTERS - 1] + "…"


def make_unavailable_error(what: str, error: BaseException | str, hint: str) -> SourceUnavailable:
    return SourceUnavailable(
        Text(
            "{what} cannot be read: {engine_error}",
            what=what,
            engine_error=format_engine_error(error),
        ),
        hint=hint,
    )


@contextmanager
def limit_memory(mib: int) -> Iterator[None]:
    """In the worker: what is held now, and so much more; else the worker's own bound."""
    if not sys.platform.startswith("linux"):
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = _measure_memory() + (mib + OWN_MIB) * MIB
    if soft != resource.RLIM_INFINITY:
        most = min(most, soft)
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _measure_memory() -> int:
    """Bytes of data and stack, which RLIMIT_DATA counts."""
    with open("/proc/self/statm", encoding="ascii") as told:  # noqa: PTH123 - the system's own figure, not a file of ours
        return int(told.read().split()[5]) * resource.getpagesize()


def time_query(work: Callable[[], Rows]) -> Rows:
    """With the seconds that it took."""
    began = time.monotonic()
    rows = work()
    return Rows(
        rows.columns, rows.kinds, rows.rows, rows.truncated, round(time.monotonic() - began, 4)
    )
