"""Step 21: descriptions of tables. A step that has been released is never changed; the next one
corrects it.
"""

from __future__ import annotations

import json

from sqlalchemy import Connection, text


def m021_descriptions(connection: Connection) -> None:
    """People's YAML of a source, in place of its glossary, which becomes its `terms`."""
    import yaml

    connection.exec_driver_sql(
        "ALTER TABLE sources ADD COLUMN description TEXT NOT NULL DEFAULT ''"
    )
    put = text("UPDATE sources SET description = :description WHERE name = :name")
    for row in connection.execute(text("SELECT name, glossary FROM sources")).all():
        terms = {each["term"]: each["meaning"] for each in json.loads(row.glossary)}
        if terms:
            written = yaml.safe_dump({"terms": terms}, allow_unicode=True, sort_keys=False)
            connection.execute(put, {"name": row.name, "description": written})
    connection.exec_driver_sql("ALTER TABLE sources DROP COLUMN glossary")
