"""`citewell mcp`: MCP on standard input and output. All else goes to standard error."""

from __future__ import annotations

from citewell.interfaces.cli.arguments import User
from citewell.interfaces.cli.run import DONE, run
from citewell.interfaces.mcp.stdio import serve_stdio
from citewell.runtime.app import App


def run_mcp(user: User = "local") -> None:
    """Serve the Model Context Protocol on standard input and output, for a program that starts
    it.
    """

    async def serve(app: App) -> int:
        await serve_stdio(app, user)
        return DONE

    run(serve, json=False)
