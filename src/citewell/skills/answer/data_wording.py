"""What the `data` agent itself says, in the question's language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from citewell.messages import Text, list_languages, translate
from citewell.sql.cell_text import shorten_text

_TEXTS: Final[Mapping[str, Text]] = {
    "which_source": Text("Do you mean the tables {options}?"),
    "which_reading": Text("Do you mean {options}?"),
    "or": Text(" or "),
    "no_source": Text("There are no tables to ask; `citewell data add FILE` adds some."),
    "not_in_data": Text(
        "The tables of {source} cannot answer this: they hold nothing for {missing}."
    ),
    "not_in_data_bare": Text("The tables of {source} cannot answer this."),
    "not_in_data_reason": Text("The tables of {source} cannot answer this. {reason}"),
    "they_have": Text("They hold: {outline}."),
    "ask_other": Text("The tables of {source} may have it: ask those."),
    "read_only": Text(
        "Tables are only read here: nothing was changed. Ask what they hold, and change them where "
        "they are kept."
    ),
    "no_model": Text(
        "Without a chat model only questions that people have confirmed can be "
        "answered, and none of those fits. `citewell models pull` brings one; or name "
        "another in the setting llm (docs/models.md)."
    ),
    "model_failed": Text("The chat model did not answer, and no confirmed question fits."),
    "no_statement": Text(
        "I could not write a statement for this question over the tables of {source}."
    ),
    "repairs_exhausted": Text(
        "I could not write a statement for this question that works over the "
        "tables of {source}; what was tried is kept with the answer."
    ),
    "timeout": Text(
        "The statement for this question took longer than a statement may (data.statement_seconds)."
    ),
    "memory": Text(
        "The statement for this question takes more memory than a statement may (data.memory_mib)."
    ),
    "budget_seconds": Text(
        "I stopped because the time allowed for one question was over; --max-seconds allows more."
    ),
    "budget_calls": Text(
        "I stopped because the model calls allowed for one question were used up."
    ),
    "budget_tokens": Text("I stopped because the tokens allowed for one question were used up."),
    "taken": Text("“{value}” was taken for the stored {column} “{same}”."),
    "absent": Text("{column} holds no “{value}”."),
    "nearest": Text("{column} holds no “{value}”; nearest there: {nearest}."),
    "described_metric": Text("{name} is {sql}, as described."),
    "described_filter": Text("Of {name}, rows with {sql} count, as described."),
    "summed": Text(
        "Read as the {figure} summed up over all rows of each {each}; of single rows it "
        "would be “{name}”."
    ),
    "left_out": Text("Of {table}, {n} more have none and are not among these rows."),
    "agreed": Text("{k} of {n} statements written for this question give this result."),
    "split": Text(
        "The {n} statements written for this question give different results; this "
        "is the likeliest one."
    ),
}
LONGEST_PROBLEM = 200


def make_text(key: str, **values: str) -> Text:
    """One of our sentences, to be shown in any language."""
    return _TEXTS[key].fill(**values)


def format_message(key: str, lang: str, **values: str) -> str:
    """The same in a language; English where the language has none."""
    return translate(make_text(key, **values), lang)


def is_source_question(text: str) -> bool:
    """Whether a message is our own question which tables are meant."""
    asked = (translate(_TEXTS["which_source"], lang) for lang in list_languages())
    return any(
        text.startswith(question.partition("{")[0]) and question.partition("}")[2] in text
        for question in asked
    )


def format_choices(options: Sequence[str], lang: str) -> str:
    """Choices, on one line each, put to the user; Chinese keeps Latin words apart by a space."""
    shown = [shorten_text(option, LONGEST_PROBLEM) for option in options]
    if lang == "zh":
        shown = [" " * each[:1].isascii() + each + " " * each[-1:].isascii() for each in shown]
    return format_message("or", lang).join(shown)


def quote_words(words: Sequence[str], lang: str) -> str:
    """Words in quotation marks, as they were said."""
    quoted = [f"“{shorten_text(word, 60)}”" for word in words]
    return ("、" if lang == "zh" else ", ").join(quoted)
