"""`citewell site`: a website asked from its start pages. The one rule: without a question it is a
chat about that site.
"""

from __future__ import annotations

from typing import Any

from citewell.interfaces.cli.ask import ask_question
from citewell.interfaces.cli.chat import run_chat
from citewell.interfaces.cli.run import run

AGENT = "website"


def ask_site(
    question: str | None,
    options: dict[str, Any],
    *,
    collection: str | None,
    session: str | None,
    user: str,
    json: bool,
) -> None:
    """`options`: the fields of AskOptions."""
    if "start_urls" in options:
        options["start_urls"] = [_complete_url(url) for url in options["start_urls"]]
    if question is None:
        run_chat(
            agent=AGENT,
            collection=collection,
            session=session,
            user=user,
            json=json,
            options=options,
        )
        return
    of_request = {
        "collection": collection,
        "session_id": session,
        "user_id": user,
        "options": options,
    }
    said = {"question": question, "agent": AGENT} | of_request
    run(lambda app: ask_question(app, said, json=json), json=json)


def _complete_url(url: str) -> str:
    """An address typed without its scheme: https, but for a port or a number, which are of a
    house.
    """
    if "://" in url:
        return url
    host = url.partition("/")[0]
    return (
        f"http://{url}"
        if ":" in host or host == "localhost" or host.replace(".", "").isdigit()
        else f"https://{url}"
    )
