"""The protocol's server around the tools. The same tools on every transport, but that only the
user's own machine lets its files be read.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError
from mcp_types import CallToolResult, InputRequiredResult, ToolAnnotations
from pydantic import ValidationError

from citewell import __version__
from citewell.errors import CitewellError, InvalidInput, NotFound
from citewell.interfaces.mcp.shown import build_failure
from citewell.interfaces.mcp.tools import Tools
from citewell.interfaces.mcp.visit import Place, Say
from citewell.interfaces.problem import shorten_text

INSTRUCTIONS = (
    "Citewell answers from the user's own documents, web sites and tables, "
    "and proves each sentence by a citation. Use `ask` for a\n"
    "question, `search` for passages, `check` to hold a text against the documents, "
    "`get_document` to read on, `list_collections` to\n"
    "see what there is. Keep the citations when you pass an answer on, "
    "and say so where it is refused."
)
READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
ASKS = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=True)
ADDS = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=True
)
VOTES = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
# wrong arguments that are told of one call, and characters of each
MOST_FAULTS, LONGEST_FAULT = (10, 300)
LONGEST = 200_000  # characters of a document as a resource


class Server(MCPServer[None]):
    """Wrong arguments are told as our own errors are: which one, and what would be right."""

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[None, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if not isinstance(error.__cause__, ValidationError):
                raise
            told = error.__cause__.errors(include_url=False, include_input=False)[:MOST_FAULTS]
            faults = [
                shorten_text(f"{'.'.join(map(str, each['loc']))}: {each['msg']}", LONGEST_FAULT)
                for each in told
            ]
            return build_failure(
                InvalidInput(
                    "; ".join(faults), hint=f"the input schema of {name} says what it takes"
                )
            )


def build_server(place: Place) -> Server:
    """A server whose tools work at `place`."""
    with _preserve_logging():
        server = Server(
            "citewell",
            title="Citewell",
            version=__version__,
            instructions=INSTRUCTIONS,
            subscriptions=False,
        )
    tools = Tools(place)
    server.add_tool(tools.ask, title="Ask the user's documents", annotations=ASKS)
    server.add_tool(tools.search, title="Find passages", annotations=READS)
    server.add_tool(tools.check, title="Check a text", annotations=READS)
    server.add_tool(tools.list_collections, title="List collections", annotations=READS)
    server.add_tool(tools.get_document, title="Read a document", annotations=READS)
    add = tools.add_local_document if place.local else tools.add_document
    server.add_tool(add, name="add_document", title="Add a document", annotations=ADDS)
    server.add_tool(tools.give_feedback, title="Say whether an answer was right", annotations=VOTES)

    @server.resource(
        "citewell://documents/{doc_id}",
        title="Document",
        description="The text of a document.",
        mime_type="text/plain",
    )
    async def document(doc_id: str, ctx: Say) -> str:
        try:
            return (await place.visit(ctx).app.catalog.content(doc_id)).text[:LONGEST]
        except NotFound as error:
            raise ResourceNotFoundError(error.message) from None
        except CitewellError as error:
            raise ResourceError(error.message) from None

    return server


@contextmanager
def _preserve_logging() -> Iterator[None]:
    """The library sets up the root logger where nobody has yet: that is not for a library to do."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
