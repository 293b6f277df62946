"""One file's bytes given to a function in a worker process, within the size and time that the
settings allow. It always ends, with what the function returns or with UnreadableFile.
"""

from __future__ import annotations

from typing import Any, Final

import anyio
import anyio.to_process

from citewell.config import IngestSettings
from citewell.errors import UnreadableFile
from citewell.ingest.worker import MOST_MEMORY, Died, run_in_worker
from citewell.messages import Text

# a larger file gets more time in proportion: hostile ones are small, long books are not
USUAL_BYTES: Final = 2_000_000
MOST_TIMES: Final = 10
# of a file after which its process ends: starting one takes less than a hundredth of its time
LARGE_BYTES: Final = 10_000_000


def get_time_limit(size: int, settings: IngestSettings) -> float:
    """How long a file may take: `parse_seconds`, up to ten times as long beyond 2 MB."""
    return settings.parse_seconds * min(MOST_TIMES, max(1.0, size / USUAL_BYTES))


async def run_bounded(
    function: str, data: bytes, name: str, settings: IngestSettings, *more: Any
) -> Any:
    """What `function` (`module:function`) returns for these arguments. Raises UnreadableFile."""
    _check_size(data, name, settings)
    return await run_in_time(function, len(data), name, settings, data, name, settings, *more)


async def run_in_time(
    function: str, size: int, name: str, settings: IngestSettings, *arguments: Any
) -> Any:
    """The same for any arguments of about `size` bytes, which come of the file `name`."""
    seconds = get_time_limit(size, settings)
    limiter = anyio.to_process.current_default_process_limiter()
    async with limiter:  # waiting for a free process does not count against the file's time
        try:
            with anyio.fail_after(seconds):
                return await run_in_worker(function, *arguments, keep=size < LARGE_BYTES)
        except TimeoutError:
            hint = Text("raise ingest.parse_seconds, or split the file")
            raise UnreadableFile(
                Text("{name} could not be read within {seconds:g} s", name=name, seconds=seconds),
                hint=hint,
            ) from None
        except MemoryError:
            raise UnreadableFile(
                Text(
                    "{name} needs more than {most_memory} GB to be read",
                    name=name,
                    most_memory=MOST_MEMORY >> 30,
                ),
                hint=Text("split the file"),
            ) from None
        except Died:
            raise UnreadableFile(
                Text("{name} cannot be read: its parser crashed", name=name)
            ) from None


def _check_size(data: bytes, name: str, settings: IngestSettings) -> None:
    if not data:
        raise UnreadableFile(Text("{name} is empty", name=name))
    if len(data) > settings.max_bytes:
        hint = Text("raise ingest.max_bytes, or split the file")
        raise UnreadableFile(
            Text(
                "{name} has {data:,} bytes; {max_bytes:,} are allowed",
                name=name,
                data=len(data),
                max_bytes=settings.max_bytes,
            ),
            hint=hint,
        )
