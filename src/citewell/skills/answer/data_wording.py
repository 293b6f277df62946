"""What the `data` agent itself says, in the question's language. The one rule: what a person reads
stands here, once.
"""

from __future__ import annotations

from collections.abc import Sequence

from citewell.sql.cell_text import shorten_text

_TEXTS = {
    "en": {
        "which_source": "Do you mean the tables {options}?",
        "which_reading": "Do you mean {options}?",
        "or": " or ",
        "no_source": "There are no tables to ask; `citewell data add FILE` adds some.",
        "not_in_data": "The tables of {source} cannot answer this: they hold nothing for "
        "{missing}.",
        "not_in_data_bare": "The tables of {source} cannot answer this.",
        "not_in_data_reason": "The tables of {source} cannot answer this. {reason}",
        "they_have": "They hold: {outline}.",
        "no_model": "Without a chat model only questions that people have confirmed can be "
        "answered, and none of those fits. Name a model in the setting llm (docs/models.md).",
        "model_failed": "The chat model did not answer, and no confirmed question fits.",
        "no_statement": "I could not write a statement for this question over the tables of "
        "{source}.",
        "repairs_exhausted": "No statement for this question worked over the tables of "
        "{source}; the last failed: {problem}",
        "timeout": "The statement for this question took longer than a statement may "
        "(data.statement_seconds).",
        "memory": "The statement for this question takes more memory than a statement may "
        "(data.memory_mib).",
        "budget_seconds": "I stopped because the time allowed for one question was over; "
        "--max-seconds allows more.",
        "budget_calls": "I stopped because the model calls allowed for one question were used up.",
        "budget_tokens": "I stopped because the tokens allowed for one question were used up.",
        "taken": "“{value}” was taken for the stored {column} “{same}”.",
        "absent": "{column} holds no “{value}”.",
        "nearest": "{column} holds no “{value}”; nearest there: {nearest}.",
        "summed": "This is the {figure} of a single row; summed up over all rows of each "
        "{each}, it is “{name}” with {total}.",
        "agreed": "{k} of {n} statements written for this question give this result.",
        "split": "The {n} statements written for this question give different results; this is the "
        "likeliest one.",
    },
    "zh": {
        "which_source": "您指的是{options}中的表格？",
        "which_reading": "您指的是{options}？",
        "or": "还是",
        "no_source": "没有可以查询的表格；可用 `citewell data add 文件` 添加。",
        "not_in_data": "{source} 的表无法回答这个问题：其中没有与{missing}对应的内容。",
        "not_in_data_bare": "{source} 的表无法回答这个问题。",
        "not_in_data_reason": "{source} 的表无法回答这个问题。{reason}",
        "they_have": "其中有：{outline}。",
        "no_model": "没有对话模型时，只能回答经人确认过的问题，而这个问题与它们都不相符。"
        "请在设置 llm 中指定一个模型（docs/models.md）。",
        "model_failed": "对话模型没有作答，也没有相符的已确认问题。",
        "no_statement": "没能为这个问题写出查询 {source} 的语句。",
        "repairs_exhausted": "为这个问题写出的语句在 {source} "
        "上都没有成功，最后一条的原始错误信息是：{problem}",
        "timeout": "为这个问题写的语句超出了一条语句允许的时间（data.statement_seconds）。",
        "memory": "为这个问题写的语句超出了一条语句允许的内存（data.memory_mib）。",
        "budget_seconds": "一个问题允许的时间已到，所以停止了；可用 --max-seconds 放宽。",
        "budget_calls": "一个问题允许的模型调用次数已用完，所以停止了。",
        "budget_tokens": "一个问题允许的词元数已用完，所以停止了。",
        "taken": "“{value}”按 {column} 中存储的“{same}”处理。",
        "absent": "{column} 中没有“{value}”。",
        "nearest": "{column} 中没有“{value}”；最接近的是：{nearest}。",
        "summed": "以下是单独一行的{figure}；如按每个{each}的所有行合计，则是“{name}”，合计 "
        "{total}。",
        "agreed": "为这个问题写的 {n} 条语句中有 {k} 条得到这个结果。",
        "split": "为这个问题写的 {n} 条语句结果各不相同；这是可能性最大的一个。",
    },
}
LONGEST_PROBLEM = 200


def format_message(key: str, lang: str, **values: str) -> str:
    """One of our sentences; English where the language has none."""
    if "problem" in values:  # an engine's, of several lines
        values["problem"] = shorten_text(values["problem"], LONGEST_PROBLEM)
    return _TEXTS.get(lang, _TEXTS["en"])[key].format(**values)


def is_source_question(text: str) -> bool:
    """Whether a message is our own question which tables are meant."""
    return any(
        text.startswith(texts["which_source"].partition("{")[0])
        and texts["which_source"].partition("}")[2] in text
        for texts in _TEXTS.values()
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
