"""The few sentences that we ourselves say, in the question's language. The one rule: what a person
reads stands here, once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from citewell.types import Citation, Hit

_ENGLISH = re.compile(r"[a-z]{2,} [a-z]{2,}", re.IGNORECASE)  # words, not a name or a unit
_TEXTS = {
    "en": {
        "refused": "I could not find the answer in the documents.",
        "empty": "There is nothing in this collection that this question could be answered from.",
        "nearest": "The nearest passages are in: {sources}.",
        "extract": "The chat model gave no usable answer; this is what the documents say:",
        "perhaps": "I am not sure that this answers it; the nearest that the documents say:",
        "no_extract": "The chat model gave no usable answer, and no sentence of the documents "
        "is surely the answer by itself.",
        "unclear": "I am not sure what you mean. Please say it in other words, or name the "
        "document or thing you ask about.",
        "unproved": "The documents do not prove this:",
        "part_missing": "I found no answer to this part: {parts}",
        "part_untold": "I found no answer to a part of the question.",
        "part_denied": "A part of the answer could not be proved and is left out{why}.",
        "draft_unproved": "I found no answer that the documents prove: one was drafted, and it "
        "is not shown{why}.",
        "which_hold": "Which of the statements below hold by these sentences?",
        "unchecked": "This draft could not be checked against the documents:",
        "documents_say": "The documents say:",
        "smalltalk": "Hello! Ask me something about your documents, and I will answer with the "
        "passages that prove it.",
        "which": "Do you mean {options}?",
        "or": " or ",
        "page": "page {page}",
        "searched": "I searched {routes}.",
        "hierarchical_search": "section by section",
        "direct_chunk_search": "passage by passage",
        "web_search": "the web",
        "web_off": "Searching the web is switched off.",
        "routes_exhausted": "No other way to search is left.",
        "corrections_exhausted": "I asked in other words too, and no answer settled the question.",
        "unsettled": "The answer found does not settle the question.",
        "rest_unproved": "What is cited above is proved; for the rest I found no proof.",
        "rest_unproved_again": "What is cited above is proved; for the rest I found no proof, "
        "in other words either.",
        "model_failed": "The chat model gave no usable answer.",
        "same_evidence": "I stopped because another search found the same passages again.",
        "same_question": "I stopped because there were no other words to ask in.",
        "budget_calls": "I stopped because the model calls allowed for one question were used up.",
        "budget_tokens": "I stopped because the tokens allowed for one question were used up.",
        "budget_seconds": "I stopped because the time allowed for one question was over.",
        "site_refused": "I could not find the answer on {site}, of which I read {pages}.",
        "site_read": "I read {pages} of {site}.",
        "off_site": "This question does not seem to be about {site}: of {pages} that I looked "
        "at, none comes near it.",
        "pages_one": "1 page",
        "pages_many": "{n} pages",
        "site_exhausted": "No other link there promises it.",
        "iterations_exhausted": "I stopped after as many rounds of exploring as are allowed.",
        "pages_exhausted": "I stopped because the pages allowed for one question were read.",
        "stopped": "I stopped because I was asked to.",
        "unreachable": "I could not read {site}, so I cannot answer from it.",
        "unread": "Not read: {problems}.",
        "smalltalk_site": "Hello! Ask me something about {site}, and I will answer with the "
        "passages that prove it.",
        "refused_paper": "The paper does not answer this, as far as I can find.",
        "nearest_paper": "Nearest: {places}.",
        "smalltalk_paper": "Hello! Ask me something about this paper, and I will answer with "
        "the sentences that prove it.",
        "explain_this": "Explain this passage.",
        "noted": "I will remember: {facts}",
        "memory_off": "I cannot remember this: the memory is switched off here.",
        "secret": "I do not keep passwords, keys, or numbers of cards and papers.",
        "forget": "Asking here forgets nothing; `citewell memory list` and `citewell memory forget "
        "ID` do.",
        "nothing_to_note": "I found nothing in this that I could remember; say it as: remember "
        "that my plan is Pro.",
        "remembered": "(Remembered of you: {text})",
        "memory": "memory of {day}",
        "conversation": "this conversation",
        "you": "You: {text}",
        "me": "Citewell: {text}",
        "confirmed_by": "confirmed by {names} on {day}",
        "corrected_by": "correction reviewed by {names} on {day}",
        "somebody": "somebody",
        "confirmed_against": "left out: what was {by} (“{claim}”); {title} says otherwise: "
        "“{text}”",
        "confirmed_stale": "left out: what was {by}, because {why}",
        "disputed": "people disagree: beside what was {by} ({item}) another confirmed answer says "
        "otherwise",
        "rule_against": "{by} (“{claim}”), while {title} says: “{text}”",
    },
    "zh": {
        "refused": "在这些文档中没有找到答案。",
        "empty": "这个资料库里没有可以用来回答这个问题的内容。",
        "nearest": "最接近的内容在：{sources}。",
        "extract": "对话模型没有给出可用的回答，以下是文档原文：",
        "perhaps": "不确定这是否就是答案，文档中最接近的内容是：",
        "no_extract": "对话模型没有给出可用的回答，文档原文中也没有哪一句能确定就是答案。",
        "unclear": "不太明白您的意思。请换个说法，或者说明问的是哪份文档、哪件事。",
        "unproved": "以下内容未能由文档证实：",
        "part_missing": "这一部分没有找到答案：{parts}",
        "part_untold": "问题的一部分没有找到答案。",
        "part_denied": "答案中有一部分未能得到证实，已略去{why}。",
        "draft_unproved": "没有找到能由文档证实的答案：草稿未能证实，因此没有显示{why}。",
        "which_hold": "根据这些句子，下面的哪些陈述成立？",
        "unchecked": "以下草稿未能与文档核对：",
        "documents_say": "文档原文：",
        "smalltalk": "您好！请就您的文档提问，我会给出答案和能证明它的原文。",
        "which": "您指的是{options}？",
        "or": "还是",
        "page": "第{page}页",
        "searched": "已搜索：{routes}。",
        "hierarchical_search": "按章节",
        "direct_chunk_search": "按段落",
        "web_search": "网络",
        "web_off": "网络搜索未开启。",
        "routes_exhausted": "没有其他搜索方式了。",
        "corrections_exhausted": "换了说法再问，仍没有能解决问题的答案。",
        "unsettled": "找到的答案没有解决问题。",
        "rest_unproved": "以上注明出处的内容已经证实，其余部分没有找到证据。",
        "rest_unproved_again": "以上注明出处的内容已经证实；换了说法再问，其余部分仍没有找到证据。",
        "model_failed": "对话模型没有给出可用的回答。",
        "same_evidence": "再次搜索找到的还是同样的内容，所以停止了。",
        "same_question": "没有别的说法可问，所以停止了。",
        "budget_calls": "一个问题允许的模型调用次数已用完，所以停止了。",
        "budget_tokens": "一个问题允许的词元数已用完，所以停止了。",
        "budget_seconds": "一个问题允许的时间已到，所以停止了。",
        "site_refused": "在 {site} 上没有找到答案，已读 {pages}。",
        "site_read": "已读 {site} 的 {pages}。",
        "off_site": "这个问题似乎与 {site} 无关：看过的 {pages}内容都不相近。",
        "pages_one": "1 个页面",
        "pages_many": "{n} 个页面",
        "site_exhausted": "那里没有其他链接看来会有答案。",
        "iterations_exhausted": "允许的探索轮数已用完，所以停止了。",
        "pages_exhausted": "一个问题允许读取的页面数已用完，所以停止了。",
        "stopped": "按照要求停止了。",
        "unreachable": "无法读取 {site}，所以不能据此回答。",
        "unread": "未能读取：{problems}。",
        "smalltalk_site": "您好！请就 {site} 提问，我会给出答案和能证明它的原文。",
        "refused_paper": "在这篇论文中没有找到答案。",
        "nearest_paper": "最接近的内容在：{places}。",
        "smalltalk_paper": "您好！请就这篇论文提问，我会给出答案和能证明它的原句。",
        "explain_this": "解释这段话。",
        "noted": "已记住：{facts}",
        "memory_off": "无法记住：这里没有开启记忆。",
        "secret": "密码、密钥、卡号和证件号不会被记住。",
        "forget": "在这里说不会删除记忆：请用 `citewell memory list` 和 `citewell memory "
        "forget ID`。",
        "nothing_to_note": "没有找到可以记住的内容；可以这样说：请记住，我的套餐是专业版。",
        "remembered": "（关于您的记忆：{text}）",
        "memory": "{day}的记忆",
        "conversation": "本次对话",
        "you": "你：{text}",
        "me": "Citewell：{text}",
        "confirmed_by": "{names}于{day}确认",
        "corrected_by": "{names}于{day}审核的更正",
        "somebody": "有人",
        "confirmed_against": "未采用{by}的内容（“{claim}”）：{title}的说法不同：“{text}”",
        "confirmed_stale": "未采用{by}的内容：{why}",
        "disputed": "意见不一：除了{by}的内容（{item}），还有另一条确认过的答案说法不同",
        "rule_against": "{by}（“{claim}”），而{title}的说法是：“{text}”",
    },
}


def format_message(key: str, lang: str, **values: str) -> str:
    """One of our sentences; English where the language has none."""
    return _TEXTS.get(lang, _TEXTS["en"])[key].format(**values)


def is_clarifying_question(text: str) -> bool:
    """Whether a message is our own question back."""
    return any(text.startswith(texts["which"].partition("{")[0]) for texts in _TEXTS.values())


def describe_ending(tried: Sequence[str], stop_reason: str, lang: str, *, web: bool) -> str:
    """What was tried before giving up, and what ended it."""
    joint = "、" if lang == "zh" else ", "
    parts = (
        [
            format_message(
                "searched",
                lang,
                routes=joint.join(format_message(route, lang) for route in dict.fromkeys(tried)),
            )
        ]
        if tried
        else []
    )
    parts += [format_message(stop_reason, lang)] if stop_reason else []
    parts += [] if web or not tried or "web_search" in tried else [format_message("web_off", lang)]
    return ("" if lang == "zh" else " ").join(parts)


def format_refusal(hits: Sequence[Hit], lang: str) -> str:
    """That the documents do not tell, and where the nearest passages stand."""
    if not hits:
        return format_message("empty", lang)
    return (
        format_message("refused", lang)
        + ("" if lang == "zh" else " ")
        + format_nearest_sources(hits, lang)
    )


def format_reasons(reasons: Sequence[str], lang: str) -> str:
    """Why something is not shown, in brackets. A Chinese answer leaves reasons in English to the
    warnings.
    """
    told = dict.fromkeys(
        reason.strip(" .。") for reason in reasons if lang != "zh" or not _ENGLISH.search(reason)
    )
    told.pop("", None)
    if lang == "zh":
        return f"（{'；'.join(told)}）" if told else ""
    return f" ({'; '.join(told)})" if told else ""


def format_nearest_sources(hits: Sequence[Hit] | Sequence[Citation], lang: str) -> str:
    """Where the nearest passages stand."""
    names = []
    for hit in hits[:3]:
        page = format_message("page", lang, page=str(hit.page)) if hit.page else ""
        names.append(
            f"{hit.title}{f'（{page}）' if lang == 'zh' else f' ({page})'}" if page else hit.title
        )
    joint = "、" if lang == "zh" else ", "
    return format_message("nearest", lang, sources=joint.join(dict.fromkeys(names)))


def format_page_count(n: int, lang: str) -> str:
    """How many pages, in words."""
    return format_message("pages_one" if n == 1 else "pages_many", lang, n=str(n))
