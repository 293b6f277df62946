"""The sample library, for who has no documents at hand: in a checkout under samples/library, in the
wheel beside the code. Adding it twice adds nothing.
"""

from __future__ import annotations

import io
from pathlib import Path

import anyio.to_thread

from citewell.errors import NotFound
from citewell.messages import Text
from citewell.runtime.app import App
from citewell.service.jobs.submit import KIND, submit_uploads
from citewell.service.library.uploads import Upload
from citewell.store.job_rows import ENDED, Job
from citewell.text.sentences import detect_language

COLLECTION = "samples"
_CODE = Path(__file__).resolve().parents[2]
PLACES = (_CODE / "samples", _CODE.parents[1] / "samples" / "library")


async def add_samples(app: App, lang: str = "") -> Job:
    """Add them as a job, those in `lang` first; the job that does so where one is under way. Raises
    NotFound where they are not installed, StorageError.
    """
    for job in await app.jobs.list():
        if job.kind == KIND and job.payload["collection"] == COLLECTION and job.state not in ENDED:
            return job
    return await submit_uploads(
        app, COLLECTION, await anyio.to_thread.run_sync(_read_samples, lang)
    )


def _read_samples(lang: str) -> list[Upload]:
    folder = next((place for place in PLACES if place.is_dir()), None)
    if folder is None:
        raise NotFound(
            Text("the sample documents are not installed"),
            hint=Text("add documents of your own, or install Citewell again"),
        )
    files = sorted(folder.iterdir(), key=lambda file: (_get_language(file) != lang, file.name))
    return [Upload(file.name, io.BytesIO(file.read_bytes())) for file in files if file.is_file()]


def _get_language(file: Path) -> str:
    """Of a sample, by its name."""
    return detect_language(file.stem)
