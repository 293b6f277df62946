"""The command line. Nothing heavy is imported before a command runs (`--help`: 0.3 s)."""

from __future__ import annotations

import sys


def main() -> None:
    """Entry point. Output is UTF-8 whatever the locale says."""
    from citewell.interfaces.cli.commands import app

    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    app(prog_name="citewell")
