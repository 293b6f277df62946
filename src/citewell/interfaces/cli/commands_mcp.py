"""`citewell mcp`: name, arguments and help. The one rule: as in commands.py, the work is imported
when it is done.
"""

from __future__ import annotations

from citewell.interfaces.cli.arguments import User


def mcp(user: User = "local") -> None:
    """Serve the Model Context Protocol on standard input and output, for a program that starts
    it.
    """
    from citewell.interfaces.cli.mcp import serve_mcp as work

    work(user)
