"""`citewell ask`: one question, one proved answer. Exit 3 where there is none: refused, no evidence, a question back."""

from __future__ import annotations

from typing import Any

from citewell.interfaces.cli.answer import show_answer
from citewell.interfaces.cli.live import watch
from citewell.interfaces.cli.run import DONE, ERROR, NO_ANSWER
from citewell.interfaces.cli.terminal import out, print_json
from citewell.service.app import App
from citewell.service.ask import AskRequest, stream
from citewell.types import Status

EXIT: dict[Status, int] = {"answered": DONE, "fallback": NO_ANSWER, "refused": NO_ANSWER, "clarify": NO_ANSWER, "error": ERROR}


async def ask(
    app: App,
    question: str,
    *,
    agent: str,
    collection: str | None,
    session: str | None,
    options: dict[str, Any],
    json: bool,
) -> int:
    request = AskRequest(question=question, agent=agent, collection=collection, session_id=session, options=options)
    answer = await watch(stream(app, request))
    if json:
        print_json(answer.model_dump(mode="json"))
    show_answer(answer, None if json else out())
    return EXIT[answer.status]
