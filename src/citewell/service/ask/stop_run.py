"""A run that the end of the server cut off: what whoever asked is told. It can be gone on with, it
was answered, or it is lost; which of the three is looked up, not guessed.
"""

from __future__ import annotations

import logging
from contextlib import suppress

from citewell.errors import CitewellError, NotFound, Stopped
from citewell.messages import Text
from citewell.runtime.app import App
from citewell.runtime.shutdown import make_stopped_error
from citewell.service.ask.run import Run

log = logging.getLogger(__name__)


async def record_cut_off(app: App, run: Run) -> Stopped:
    """A run was cancelled because the server ends: what whoever asked is told."""
    stopping = app.root.stopping
    user_id = run.request.user_id
    try:
        if run.holder and any(
            left.trace_id == run.trace_id for left in await app.runs.list(user_id)
        ):
            stopping.kept += 1
            return make_stopped_error(run.trace_id)
        with suppress(NotFound):
            await app.traces.get(run.trace_id, user_id)
            hint = Text(
                "it was answered just now: its conversation has it, and so has "
                "`citewell trace {trace_id}`",
                trace_id=run.trace_id,
            )
            return Stopped(Text("the server is stopping"), hint=hint)
    except CitewellError as error:
        log.warning("run %s: %s", run.trace_id, error.message)
    stopping.lost += 1
    return make_stopped_error()
