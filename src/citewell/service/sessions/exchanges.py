"""What was said in a conversation, each question with its answer where that is kept: traces go
after their days, the history does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from citewell.runtime.app import App
from citewell.store.session_rows import SessionInfo
from citewell.types import Answer, Message, Trace

MOST = 5_000  # traces of one conversation that are looked at


@dataclass(frozen=True, slots=True)
class Exchange:
    """`said`: the answer's text of the history. `answer`: None without a trace; `at` is 0 then."""

    question: str
    said: str = ""
    at: float = 0.0
    answer: Answer | None = None


async def read_exchanges(app: App, info: SessionInfo, most: int | None = None) -> list[Exchange]:
    """Of the first `most` messages; None: of all."""
    history = await app.sessions.history(info.session_id)
    traces = await app.traces.list_session(info.session_id, info.user_id, MOST)
    return pair_exchanges(history[:most], traces)


def pair_exchanges(history: Sequence[Message], traces: Sequence[Trace]) -> list[Exchange]:
    """Both in the order in which they were said."""
    found: list[Exchange] = []
    at = 0
    for message in history:
        if message.role == "user":
            found.append(Exchange(message.content))
        elif message.role == "assistant" and found and not found[-1].said:
            said = (found[-1].question, message.content)
            place = next(
                (
                    n
                    for n in range(at, len(traces))
                    if (traces[n].question, traces[n].answer.answer) == said
                ),
                None,
            )
            if place is None:
                found[-1] = Exchange(*said)
                continue
            at = place + 1
            found[-1] = Exchange(*said, at=traces[place].created_at, answer=traces[place].answer)
    return found
