"""What the guide itself says, in English and Chinese: headings, made questions, the question to the
reader.

The one rule: what a reader is told in our words stands here, once; what the paper says is quoted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal

from citewell.text.language import HAN

Lang = Literal["en", "zh"]

_TEXTS: Final[Mapping[Lang, Mapping[str, str]]] = {
    "en": {
        "problem": "The problem",
        "contributions": "What is new",
        "method": "The method in short",
        "results": "Main results",
        "limits": "Limits",
        "terms": "Terms to know",
        "questions": "Questions worth asking",
        "interest": "What interests you?",
        "quotes": "Quotes",
        "page": "page {page}",
        "place": "{section}, page {page}",
        "ask": "What in this paper matters most to you?{examples} Say it in your own words and you "
        "get a reading route for it; "
        "say nothing and you get the route of the paper in short.",
        "examples": " For example {topics}.",
        "or": " or ",
        "quoted": "“{text}”",
        "how": "How does {name} work?",
        "how_unnamed": "How do the authors go about it?",
        "better": "By how much does {name} do better than {other}?",
        "differs": "How does {name} differ from earlier work?",
        "differs_unnamed": "How does this paper differ from earlier work?",
        "data": "On which data is {name} tested?",
        "data_unnamed": "Which data does the paper rest on?",
        "float": "What do the authors read from {label} ({caption})?",
        "heading": "What does the paper find on “{heading}”?",
        "without": "What happens without {part}?",
        "limit": "What can {name} not do, by its authors' own account?",
        "limit_unnamed": "Which limits do the authors themselves name?",
        "paper_language": "The statements stay in the paper's language: no connected chat "
        "model wrote them in English.",
        "no_model": "The chat model did not answer ({problem}); these are the paper's own "
        "sentences.",
        "empty": "No sentence of this file could be quoted: it seems to hold no running text.",
        "unproved": "Left out of “{slot}”, for it could not be proved by the paper: {text}",
        "missing": "Nothing in the paper could be told with certainty for: {slots}.",
    },
    "zh": {
        "problem": "研究问题",
        "contributions": "主要贡献",
        "method": "方法概要",
        "results": "主要结果",
        "limits": "局限",
        "terms": "需要了解的术语",
        "questions": "值得一问的问题",
        "interest": "您关心什么？",
        "quotes": "引文",
        "page": "第{page}页",
        "place": "{section}，第{page}页",
        "ask": "这篇论文中您最关心什么？{examples}用自己的话说出来，就会得到相应的阅读路线；"
        "什么都不说，则给出全文概要的路线。",
        "examples": "例如{topics}。",
        "or": "或",
        "quoted": "“{text}”",
        "how": "{name}是怎样工作的？",
        "how_unnamed": "作者是怎样做的？",
        "better": "{name}比{other}好多少？",
        "differs": "{name}与已有研究有何不同？",
        "differs_unnamed": "本文与已有研究有何不同？",
        "data": "{name}是在哪些数据上检验的？",
        "data_unnamed": "本文依据哪些数据？",
        "float": "作者从{label}（{caption}）中得出了什么？",
        "heading": "关于“{heading}”，论文发现了什么？",
        "without": "去掉{part}会怎样？",
        "limit": "作者认为{name}还做不到什么？",
        "limit_unnamed": "作者自己指出了哪些局限？",
        "paper_language": "没有连接可以翻译的对话模型，以下内容保留论文原文的语言。",
        "no_model": "对话模型没有作答（{problem}），以下是论文原句。",
        "empty": "这份文件中没有可以引用的句子：其中似乎没有正文。",
        "unproved": "“{slot}”略去了未能由论文证实的内容：{text}",
        "missing": "论文中没有能够确定的内容：{slots}。",
    },
}


_ASKED: Final = frozenset(
    {"how", "better", "differs", "data", "float", "heading", "without", "limit"}
)
# Chinese sets a space beside Latin names
_BESIDE = re.compile(rf"(?<=[{HAN}])(?=[A-Za-z0-9])|(?<=[A-Za-z0-9])(?=[{HAN}])")


def resolve_language(lang: str) -> Lang:
    """The nearest language that we speak."""
    return "zh" if lang.casefold().startswith("zh") else "en"


def format_message(key: str, lang: str, **values: object) -> str:
    """One of our sentences."""
    text = _TEXTS[resolve_language(lang)][key].format(**values)
    return _BESIDE.sub(" ", text) if key in _ASKED else text
