"""`python -m citewell` is `citewell`. Worker processes import this module too, and must not start
it again.
"""

from __future__ import annotations

from citewell.interfaces.cli import main

if __name__ == "__main__":
    main()
