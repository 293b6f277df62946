"""What a model is sent to write a statement; what changes most comes last."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.models.base import LLM, is_connected
from citewell.models.prompt import LONGEST_TURN, fill_prompt, load_prompt
from citewell.sql.engines.engine import Dialect
from citewell.sql.grammar.grammar_literals import name_dates
from citewell.sql.model_reply import as_reply
from citewell.sql.plan_types import Asked
from citewell.sql.schema_link import Linked
from citewell.sql.schema_text import choose_shown, get_token_budget, render_schema
from citewell.sql.semantics.metrics import TYPE
from citewell.sql.values_in_question import find_stored_values
from citewell.store.confirmed.types import Confirmed, Known, Rule
from citewell.types import Message

ENGINES: dict[Dialect, str] = {
    "duckdb": "DuckDB SQL",
    "sqlite": "SQLite",
    "postgres": "PostgreSQL",
    "mysql": "MySQL",
}
LABELS = {
    "en": {
        "question": "Question:",
        "terms": "Words of this house:",
        "metrics": "A column of type METRIC is a figure over many rows: write its name where a sum "
        "would stand; what it is computed by is put there.",
        "values": "Stored values in the question:",
        "unlinked": "Nothing in the tables is called like these words, whatever they mean:",
        "rules": "Corrections that people made to answers of similar questions:",
        "conversation": "Conversation before:",
        "failed": "That statement failed: {problem}\nWrite it anew. Reply with the statement only.",
        "anew": "That statement failed: {problem}\nReply again, with a statement that works.",
        "confirmed": "people have confirmed an answer to this question ({item})",
        "stored": "'{value}' is stored in {place}",
        "nothing": "nothing stands for {words}",
        "odds": "log-odds that the tables answer it: {odds:.1f}",
    },
    "zh": {
        "question": "问题：",
        "terms": "本单位用语：",
        "metrics": "类型为 METRIC 的列是对多行计算的指标：在需要聚合的位置直接写列名，"
        "计算式会自动代入。",
        "values": "问题中的已存值：",
        "unlinked": "表中没有名称与这些词相近的内容，其含义请自行判断：",
        "rules": "人们对类似问题的回答所作的更正：",
        "conversation": "此前的对话：",
        "failed": "上面的语句失败了：{problem}\n请重写。只回复语句。",
        "anew": "上面的语句失败了：{problem}\n请重新回复，给出可用的语句。",
        "confirmed": "人们已经确认过这个问题的回答（{item}）",
        "stored": "'{value}' 存于 {place}",
        "nothing": "没有与 {words} 对应的内容",
        "odds": "这些表能够回答的对数几率：{odds:.1f}",
    },
}
EXAMPLES = 3  # confirmed items shown to the model
RULES = 3
# Similarity of questions from which a confirmed item is shown to the model as an example.
SHOWN = 0.85
CLOSE = 0.9  # the same of a correction in words, which bears on its own question only


def build_messages(asked: Asked, linked: Linked | None, llm: LLM) -> list[Message]:
    """System text, examples, schema with confirmed ones, question: the changing last."""
    words = LABELS[asked.wording_lang]
    before = _build_shots(asked, llm)
    head = render_schema(asked.schema, choose_shown(asked.schema, linked, get_token_budget(llm)))
    if any(column.type == TYPE for table in asked.schema.tables for column in table.columns):
        head += f"\n\n{words['metrics']}"
    if asked.glossary:
        head += f"\n\n{words['terms']}\n" + "\n".join(
            f"- {term.term}: {term.meaning}" for term in asked.glossary
        )
    turns: list[Message] = []
    for each in reversed(select_examples(asked.known)):
        item = each.item
        turns += [
            Message(role="user", content=f"{words['question']} {item.question}"),
            Message(role="assistant", content=as_reply(item.logic, llm)),
        ]
    if asked.previous is not None:
        turns += [
            Message(role="user", content=f"{words['question']} {asked.previous.question}"),
            Message(role="assistant", content=as_reply(asked.previous.sql, llm)),
        ]
    tail = _build_tail(asked, linked, words)
    if linked is not None and linked.missing and is_connected(llm):
        tail += f"\n\n{words['unlinked']} {', '.join(linked.missing)}"
    turns.append(Message(role="user", content=tail))
    turns[0] = Message(role="user", content=f"{head}\n\n{turns[0].content}")
    return [*before, *turns]


def _build_shots(asked: Asked, llm: LLM) -> list[Message]:
    """System text and examples; a connected model's reply has a form in which to say no."""
    engine = ENGINES[asked.dialect]
    if is_connected(llm):
        return fill_prompt(load_prompt(f"skills/prompts/sql_reply.{asked.lang}.md"), engine=engine)
    dates = name_dates("day", asked.dialect)
    template = load_prompt(f"skills/prompts/sql.{asked.wording_lang}.md")
    shots = fill_prompt(template, engine=engine, **dates)
    return [
        m.model_copy(update={"content": as_reply(m.content, llm)}) if m.role == "assistant" else m
        for m in shots
    ]


def _build_tail(asked: Asked, linked: Linked | None, words: dict[str, str]) -> str:
    parts: list[str] = []
    if rules := select_rules(asked.known):
        parts.append(
            f"{words['rules']}\n" + "\n".join(f"- {_format_item(each.item)}" for each in rules)
        )
    question, values = asked.wording, list(linked.values) if linked is not None else []
    if asked.previous is not None:  # the values of the question before stand in its statement
        question = asked.previous.follow_up
        values = find_stored_values(question, asked.schema)
    if values:
        shown = dict.fromkeys(f"{each.table}.{each.column} = '{each.value}'" for each in values)
        parts.append(f"{words['values']} {'; '.join(list(shown)[:6])}")
    if asked.history:
        *earlier, last = asked.history
        said = "\n".join(f"{each.role}: {each.content[:LONGEST_TURN]}" for each in earlier)
        parts.append(f"{words['conversation']}\n{said}")
        question = last.content
    parts.append(f"{words['question']} {question}")
    return "\n\n".join(parts)


def _format_item(item: Confirmed | Rule) -> str:
    said = item.correction if isinstance(item, Rule) else item.answer
    return f"{' '.join(item.question.split())[:200]} → {' '.join(said.split())[:400]}"


def select_examples(known: Sequence[Known]) -> list[Known]:
    """Confirmed statements, and corrections that are one, best first."""
    return [each for each in known if each.item.logic and each.similarity >= SHOWN][:EXAMPLES]


def select_rules(known: Sequence[Known]) -> list[Known]:
    """Corrections in words."""
    return [
        each
        for each in known
        if isinstance(each.item, Rule) and not each.item.logic and each.similarity >= CLOSE
    ][:RULES]
