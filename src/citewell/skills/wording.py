"""The few sentences that we ourselves say, in the question's language. The one rule: what a person reads stands here, once."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.types import Hit

_TEXTS = {
    "en": {
        "refused": "I could not find the answer in the documents.",
        "empty": "There is nothing in this collection that this question could be answered from.",
        "nearest": "The nearest passages are in: {sources}.",
        "uncertain": "The documents do not say this with certainty; the nearest I found:",
        "extract": "The chat model did not answer; this is what the documents say:",
        "unchecked": "This draft could not be checked against the documents:",
        "smalltalk": "Hello! Ask me something about your documents, and I will answer with the passages that prove it.",
        "which": "Do you mean {options}?",
        "or": " or ",
        "page": "page {page}",
    },
    "zh": {
        "refused": "在这些文档中没有找到答案。",
        "empty": "这个资料库里没有可以用来回答这个问题的内容。",
        "nearest": "最接近的内容在：{sources}。",
        "uncertain": "文档没有明确说明，以下是最接近的内容：",
        "extract": "聊天模型没有作答，以下是文档原文：",
        "unchecked": "以下草稿未能与文档核对：",
        "smalltalk": "你好！请就你的文档提问，我会给出答案和能证明它的原文。",
        "which": "你指的是{options}？",
        "or": "还是",
        "page": "第{page}页",
    },
}


def say(key: str, lang: str, **values: str) -> str:
    """One of our sentences; English where the language has none."""
    return _TEXTS.get(lang, _TEXTS["en"])[key].format(**values)


def asks_which(text: str) -> bool:
    """Whether a message is our own question back."""
    return any(text.startswith(texts["which"].partition("{")[0]) for texts in _TEXTS.values())


def refusal(hits: Sequence[Hit], lang: str) -> str:
    """That the documents do not tell, and where the nearest passages stand."""
    if not hits:
        return say("empty", lang)
    names = []
    for hit in hits[:3]:
        page = f" ({say('page', lang, page=str(hit.page))})" if hit.page else ""
        names.append(f"{hit.title}{page}")
    joint = "、" if lang == "zh" else ", "
    space = "" if lang == "zh" else " "
    return say("refused", lang) + space + say("nearest", lang, sources=joint.join(dict.fromkeys(names)))
