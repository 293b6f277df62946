"""One search of `dual_loop`, by the route in hand."""

from __future__ import annotations

from citewell.agents.dual_loop.dual_loop_state import Deps, DualLoopState
from citewell.errors import ConfigError, PermanentError, TransientError
from citewell.messages import Text
from citewell.retrieve.query import Found
from citewell.text.entities import extract_search_names


async def retrieve_hits(state: DualLoopState, deps: Deps) -> Found:
    """Raises StorageError. What fails of the web is a warning: the documents are still there."""
    names = extract_search_names(state.standalone)
    try:
        found = await (
            deps.web.find(state.outside, state.read, names)
            if deps.web is not None and state.route == "web_search"
            else deps.search.find_by(state.route, state.read, names)
        )
    except (TransientError, PermanentError, ConfigError) as error:
        if state.route != "web_search":
            raise
        hint = Text(" ({hint})", hint=error.hint) if error.hint else ""
        return Found([], 0.0, (f"the web could not be searched: {error.message}{hint}",))
    state.searched.append(state.route)
    return found
