"""The sample table, for who has no table at hand: in a checkout under samples/data, in the wheel
beside the code. Adding it twice adds nothing.
"""

from __future__ import annotations

from pathlib import Path

from citewell.errors import NotFound
from citewell.messages import Text
from citewell.runtime.app import App
from citewell.service.tables.sources import Added, add_upload

_CODE = Path(__file__).resolve().parents[2]
PLACES = (_CODE / "sample_tables", _CODE.parents[1] / "samples" / "data")
FILES = {"en": "costs.xlsx", "zh": "费用.xlsx"}


async def add_sample_table(app: App, lang: str) -> Added:
    """The one in that language, else the English one. Raises NotFound where it is not installed,
    Conflict where its name is another source's, StorageError.
    """
    file = FILES.get(lang, FILES["en"])
    path = next((place / file for place in PLACES if (place / file).is_file()), None)
    if path is None:
        raise NotFound(
            Text("the sample table is not installed"),
            hint=Text("add tables of your own, or install Citewell again"),
        )
    return await add_upload(app, path, file)
