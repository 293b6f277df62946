"""What the first question of a server would wait for, loaded or asked before it comes. The one
rule: what cannot be loaded is not told here: /api/ready says it, and the question that needs it.
"""

from __future__ import annotations

from contextlib import suppress

import anyio.to_thread

from citewell.agents.qa.qa import GRAPH
from citewell.errors import CitewellError
from citewell.models.base import Loads
from citewell.runtime.app import App


async def warm_up_server(app: App) -> None:
    """The library that runs the graphs, and the models that run in this process."""
    await anyio.to_thread.run_sync(_load_libraries)
    if not app.settings.warm:
        return
    await app.learn_models()
    for model in (app.embedder, app.llm):
        if isinstance(model, Loads):
            with suppress(CitewellError):
                await model.load()


def _load_libraries() -> None:
    GRAPH.get_compiled()
