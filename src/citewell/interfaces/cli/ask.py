"""`citewell ask`: one question, one proved answer. Exit 3 where there is none: refused, no evidence, a question back."""

from __future__ import annotations

import asyncio
from typing import Any

from citewell.interfaces.cli.answer import show_answer
from citewell.interfaces.cli.live import watch
from citewell.interfaces.cli.run import DONE, ERROR, NO_ANSWER
from citewell.interfaces.cli.terminal import err, out, print_json, styled, write
from citewell.service.app import App
from citewell.service.ask import AskRequest, stream, unfinished
from citewell.types import Status

EXIT: dict[Status, int] = {"answered": DONE, "fallback": NO_ANSWER, "refused": NO_ANSWER, "clarify": NO_ANSWER, "error": ERROR}


async def ask(app: App, said: dict[str, Any], *, json: bool) -> int:
    """`said`: the fields of AskRequest."""
    request = AskRequest(**said)
    before = {run.trace_id for run in await unfinished(app, request.user_id)}
    try:
        answer = await watch(stream(app, request))
    except asyncio.CancelledError:
        for run in await unfinished(app, request.user_id):
            if run.trace_id not in before or run.trace_id == request.resume:
                write(err(), styled(f"what was found so far is kept; go on with: citewell ask --resume {run.trace_id}"))
        raise
    if json:
        print_json(answer.model_dump(mode="json"))
    show_answer(answer, None if json else out())
    return EXIT[answer.status]
