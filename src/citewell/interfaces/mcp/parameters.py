"""What the tools are called with: types with the descriptions that a model reads."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from citewell.service.check.check_types import LONGEST

MOST_PASSAGES = 20
MOST_CHARACTERS = 50_000  # of one part of a document
AgentName = Literal["auto", "qa", "dual_loop", "website", "data", "paper"]
Collection = Annotated[
    str | None,
    Field(
        description="Which collection; list_collections names them. None: the usual one.",
        max_length=200,
    ),
]
Question = Annotated[
    str, Field(description="The question, in English or Chinese, as a person would ask it.")
]
Agent = Annotated[
    AgentName,
    Field(
        description="auto chooses. qa: one search of the documents. dual_loop: "
        "searches again until the answer is settled, with memory. website: explores a "
        "site (start_urls). data: tables, by SQL. paper: a reading session."
    ),
]
SessionId = Annotated[
    str | None,
    Field(
        description="Of an earlier answer: the question is then a follow-up to it.", max_length=200
    ),
]
Source = Annotated[
    str | None,
    Field(description="Agent data: which tables; list_collections names them.", max_length=200),
]
StartUrls = Annotated[
    list[str] | None, Field(description="Agent website: the pages it begins with.", max_length=50)
]
MaxSeconds = Annotated[
    float | None, Field(description="Answer from what there is after so long.", gt=0)
]
Query = Annotated[
    str, Field(description="What to look for, in words; English and Chinese find each other.")
]
K = Annotated[int, Field(description="How many passages.", ge=1, le=MOST_PASSAGES)]
Types = Annotated[
    list[str] | None,
    Field(description="Only files of these kinds: pdf, docx, html, ...", max_length=50),
]
Since = Annotated[
    str | None, Field(description="Only documents of this day, month or year, or later.")
]
Until = Annotated[
    str | None, Field(description="Only documents of this day, month or year, or earlier.")
]
Text = Annotated[
    str,
    Field(
        description="What is to be checked, in sentences; plain or Markdown.", max_length=LONGEST
    ),
]
DocId = Annotated[
    str, Field(description="Id of a document, as citations and passages have it.", max_length=200)
]
Offset = Annotated[
    int, Field(description="Where to begin, in characters; `start` of a citation.", ge=0)
]
Limit = Annotated[int, Field(description="How many characters.", ge=1, le=MOST_CHARACTERS)]
TraceId = Annotated[str, Field(description="Of the answer, as `ask` gave it.", max_length=200)]
IsCorrect = Annotated[bool, Field(description="What the user said: right or wrong.")]
Correction = Annotated[
    str | None, Field(description="Of a wrong answer: what would be right, in the user's words.")
]
Url = Annotated[str | None, Field(description="A page or a file of the web.", max_length=2_000)]
AddDocumentText = Annotated[str | None, Field(description="Or its text, plain or Markdown.")]
Title = Annotated[
    str | None, Field(description="Of a text: its title, unique in the collection.", max_length=200)
]
Path = Annotated[
    str | None, Field(description="A file or a folder on the user's machine.", max_length=4_000)
]
AddLocalDocumentUrl = Annotated[
    str | None, Field(description="Or a page or a file of the web.", max_length=2_000)
]
