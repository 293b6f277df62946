"""Questions in one language, passages in another: what all questions of a language have in common
is taken out of the vector.

Multilingual embedders put texts of one language near each other whatever they say (Libovický, Rosa
and Fraser 2020, "On the language neutrality of pre-trained multilingual representations"), so the
nearest foreign passages are partly the most "Chinese" or "English" ones. The vector is turned for
passages of another language only; within one it ranks worse.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources

import numpy as np
from pydantic import BaseModel, ConfigDict

from citewell.models.base import Vector

# Share of the mean that is taken away. On XQuAD (320 questions each way, means from other
# questions) 0 put the right passage first for 0.794 (Chinese to English) and 0.806 (English to
# Chinese), 0.5 for 0.825 and 0.841, 0.8 for 0.841 and 0.850, 1.0 for 0.828 and 0.847.
SHARE = 0.8


class QueryMeans(BaseModel):
    """The mean vector of questions by language of an embedder. `made_of`: questions by data set."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    embedder: str
    made_of: dict[str, int]
    means: dict[str, list[float]]


def remove_language_mean(vector: Vector, lang: str, embedder: str) -> Vector:
    """`vector` of a question in `lang` as it is best compared with passages of another language;
    shape (dim,), length 1. Unchanged for an embedder whose means are not known.
    """
    mean = _load_means().get((embedder, lang))
    if mean is None or mean.shape != vector.shape:
        return vector
    rest = vector - SHARE * mean
    length = float(np.linalg.norm(rest))
    return (rest / length).astype(np.float32) if length > 0 else vector


@cache
def _load_means() -> dict[tuple[str, str], Vector]:
    text = resources.files("citewell.retrieve").joinpath("query_means.json").read_text("utf-8")
    known = QueryMeans.model_validate_json(text)
    return {
        (known.embedder, lang): np.asarray(mean, np.float32) for lang, mean in known.means.items()
    }


def format_means(means: QueryMeans) -> str:
    """`means` as the file holds them: four digits, one line a language."""
    body = means.model_dump() | {"means": None}
    rows = ",\n".join(
        f'  "{lang}": {json.dumps([round(x, 4) for x in mean])}'
        for lang, mean in means.means.items()
    )
    return json.dumps(body, indent=1).replace('"means": null', f'"means": {{\n{rows}\n }}') + "\n"
