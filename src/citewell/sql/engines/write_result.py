"""In the worker: a statement run, and what it gives written into a file. Its rows never come into
the process that answers people.
"""

from __future__ import annotations

import importlib
from pathlib import Path

from citewell.sql.arrange_rows import arrange_rows
from citewell.sql.engines.engine import Limits, Location, Rows, Writing, Written
from citewell.sql.result_file import write_rows


def write_result(
    location: Location, token: str, sql: str, limits: Limits, path: str, how: Writing, module: str
) -> Written:
    """`module`: of the engine whose `run` gives the rows."""
    rows: Rows = importlib.import_module(module).run(location, token, sql, limits)
    write_rows(arrange_rows(rows, how.sql, how.schema, how.lang), Path(path), how)
    return Written(len(rows.rows), rows.truncated)
