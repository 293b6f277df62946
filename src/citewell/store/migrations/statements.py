"""What steps are written with: several statements at once, and the file's mark."""

from __future__ import annotations

from sqlalchemy import Connection

APPLICATION_ID = 0x43495445  # "CITE", in the header of the file


def run_statements(connection: Connection, *statements: str) -> None:
    for statement in statements:
        connection.exec_driver_sql(statement)
