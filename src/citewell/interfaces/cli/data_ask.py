"""`citewell data ask`: one question to tables. The one rule: it is `citewell ask -a data`, with the
options of tables.
"""

from __future__ import annotations

from typing import Any

from citewell.interfaces.cli.ask import ask_question
from citewell.runtime.app import App


async def ask_data(
    app: App, question: str, session: str | None, user: str, options: dict[str, Any], *, json: bool
) -> int:
    """The exit code: 0 answered, 3 no answer, 1 error."""
    said = {
        "question": question,
        "agent": "data",
        "session_id": session,
        "user_id": user,
        "options": options,
    }
    return await ask_question(app, said, json=json)
