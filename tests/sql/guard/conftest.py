"""The lists and databases are those of `evals/guard_sets.py`, so that the table in docs/guard.md is
of what is tested here.
"""

from __future__ import annotations

import sys

from tests.conftest import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "evals"))
