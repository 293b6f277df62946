"""The tables of the truth, the same in SQLite and in PostgreSQL; one module a noun. Whoever imports
one has all of them in `metadata`.
"""

from citewell.store.schema import (
    conversations,
    data_tables,
    home_tables,
    job_tables,
    knowledge,
    library,
    memory_tables,
    people,
    server_tables,
    site_tables,
)

__all__ = [
    "conversations",
    "data_tables",
    "home_tables",
    "job_tables",
    "knowledge",
    "library",
    "memory_tables",
    "people",
    "server_tables",
    "site_tables",
]
