"""The few words around a report, a route and a conversation, in both languages. The one rule:
nothing here is the paper's.
"""

from __future__ import annotations

from typing import Final

WORDS: Final = {
    "en": {
        "problem": "Problem",
        "contributions": "Contributions",
        "method": "Method",
        "results": "Results",
        "limits": "Limits",
        "report": "Report",
        "terms": "Words to know",
        "questions": "Questions worth asking",
        "quotes": "Quotes",
        "plan": "Reading route",
        "interest": "Interest: {}",
        "all": "The paper in short.",
        "left": "{:g} of {:g} minutes left",
        "minutes": "{:g} min",
        "answers": "Conversation",
        "page": "p. {}",
        "pages": "pp. {}–{}",
        "unsupported": "not supported by the paper",
        "partly": "only partly supported by the paper",
        "refused": "no answer from the paper",
        "made": "Made with Citewell {} from {}; session {}, last changed {}.",
        "next": "next to read",
        "last": "asked last",
        "tick": "[route] read: {}",
        "untick": "[route] not read yet: {}",
        "remove": "[route] left out: {}",
        "move": "[route] moved to place {}: {}",
        "add": "[route] added: {}",
        "report_missing": "The report has not been made yet.",
    },
    "zh": {
        "problem": "问题",
        "contributions": "贡献",
        "method": "方法",
        "results": "结果",
        "limits": "局限",
        "report": "导读报告",
        "terms": "术语",
        "questions": "值得一问",
        "quotes": "引文",
        "plan": "阅读路线",
        "interest": "兴趣：{}",
        "all": "通读要点。",
        "left": "共 {1:g} 分钟，还剩 {0:g} 分钟",
        "minutes": "{:g} 分钟",
        "answers": "问答",
        "page": "第 {} 页",
        "pages": "第 {}–{} 页",
        "unsupported": "论文未支持此句",
        "partly": "论文只部分支持此句",
        "refused": "论文没有给出答案",
        "made": "由 Citewell {} 根据 {} 生成；会话 {}，最后更新于 {}。",
        "next": "接下来读",
        "last": "上一个问题",
        "tick": "[路线] 已读：{}",
        "untick": "[路线] 未读：{}",
        "remove": "[路线] 已移除：{}",
        "move": "[路线] 移到第 {} 位：{}",
        "add": "[路线] 已加入：{}",
        "report_missing": "导读报告尚未生成。",
    },
}


def get_words(lang: str) -> dict[str, str]:
    """English where a language is not known."""
    return WORDS.get(lang, WORDS["en"])


def format_place(section: str, page: int | None, words: dict[str, str]) -> str:
    """Where a quote stands; empty where that is not known."""
    return ", ".join(filter(None, [words["page"].format(page) if page else "", section]))


def format_pages(first: int, last: int, words: dict[str, str]) -> str:
    """Pages from first to last; empty where there are none."""
    if not first:
        return ""
    return words["page"].format(first) if last in {0, first} else words["pages"].format(first, last)
