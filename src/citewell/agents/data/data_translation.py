"""A question in the language of its tables. A small model that reads English names writes a better
statement from an English question, and linking finds more of its words: of 34 Chinese ones
(`evals/text2sql.py --limit 20`, `--seed 37` and `41`) 25 were right that way, 22 as they stood.
"""

from __future__ import annotations

import re

from citewell.agents.data.data_state import DataState, Loaded
from citewell.errors import CitewellError
from citewell.messages import Text
from citewell.models.base import LLM, is_connected
from citewell.models.prompt import fill_prompt, load_prompt
from citewell.sql.engines.engine import Schema
from citewell.sql.follow_confirmed import find_confirmed
from citewell.sql.question_words import QUOTED
from citewell.sql.source_fit import outline_schema
from citewell.sql.values_in_question import find_stored_values
from citewell.text.language import HAN

LONGEST = 120  # tokens of a translation
TABLES, COLUMNS = 12, 24  # whose names it is shown: some 900 tokens
_HAN = re.compile(f"[{HAN}]")
_FIGURE = re.compile(r"\d+(?:\.\d+)?")


async def translate_question(state: DataState, llm: LLM | None) -> str:
    """The question in the language of the tables, for a small model; empty where it is to be put as
    it stands: also a follow-up, whose statement before was written for its own words, and what
    people have confirmed in these words.
    """
    assert state.source is not None
    schema, question = state.source.schema, state.standalone
    if llm is None or is_connected(llm) or state.previous is not None:
        return ""
    spoken = detect_schema_language(state.source)
    if spoken in {"", state.lang} or find_confirmed(question, schema, state.known) is not None:
        return ""
    masked, marks = _mask_values(question, schema)
    tables = outline_schema(schema, TABLES, question, state.source.glossary, columns=COLUMNS)
    template = load_prompt(f"skills/prompts/translate_question.{spoken}.md")
    sent = fill_prompt(template, tables=tables, question=masked)
    try:
        reply = await llm.chat(sent, max_tokens=LONGEST, stop=["\n"])
    except CitewellError as error:
        state.warnings.append(
            Text("the question could not be translated: {message}", message=error.message)
        )
        return ""
    text = reply.text.strip()
    kept = [*marks, *(each[1:-1] for each in QUOTED.findall(masked)), *_FIGURE.findall(masked)]
    if not text or not all(each in text for each in kept):
        return ""  # something of the question is lost
    return re.sub(r"\bN\d+\b", lambda found: marks.get(found[0], found[0]), text)


def _mask_values(question: str, schema: Schema) -> tuple[str, dict[str, str]]:
    """The question with a mark for each stored value, which a small model would translate too."""
    stored = dict.fromkeys(found.value for found in find_stored_values(question, schema))
    marks = {f"N{n}": value for n, value in enumerate(stored, 1)}
    for mark, value in marks.items():
        question = re.sub(re.escape(value), mark, question, flags=re.IGNORECASE)
    return question, marks


def detect_schema_language(source: Loaded) -> str:
    """`zh` where every column has a Chinese name, `en` where nothing of the tables, and of what
    people wrote of them, is Chinese; else empty: both may be asked in.
    """
    columns = [column for table in source.schema.tables for column in table.columns]
    if columns and all(_HAN.search(column.name) for column in columns):
        return "zh"
    said = [term.term for term in source.glossary]
    for table in source.schema.tables:
        said += [table.name, table.comment, *table.synonyms]
    for column in columns:
        said += [column.name, column.comment, *column.synonyms]
        said += [word for word, _ in column.value_synonyms]
    return "" if any(_HAN.search(each) for each in said) else "en"
