"""The scripts of `evals/` are imported as they are run: by their own names."""

from __future__ import annotations

import sys

from tests.conftest import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "evals"))
