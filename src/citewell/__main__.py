"""`python -m citewell` is `citewell`. Worker processes import this module and must not start it."""

from __future__ import annotations

from citewell.interfaces.cli import main

if __name__ == "__main__":
    main()
