"""What a reading route itself says, in English and Chinese.

The one rule: what a reader is told in our words stands here, once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from citewell.skills.guide.guide_wording import resolve_language

_TEXTS: Final[Mapping[str, Mapping[str, str]]] = {
    "en": {
        "open": "The paper in short: what it sets out to do, before the parts that serve your "
        "interest.",
        "open_general": "The paper in short: what it sets out to do, and what it claims.",
        "words": "It speaks of {words}.",
        "near": "Of all sections it comes {rank} to your interest: it says “{said}”.",
        "asked": "It belongs to the part that you ask for: “{said}”.",
        "nearest": "nearest",
        "near_too": "near",
        "results": "The results that bear on it: “{said}”.",
        "discussion": "What the authors make of it: “{said}”.",
        "beside": "What stands beside it: “{said}”.",
        "limits": "Where it stops: “{said}”.",
        "general_introduction": "Why the paper was written, and what is new in it.",
        "general_related_work": "What was there before.",
        "general_method": "How it is done: “{said}”.",
        "general_results": "What came out: “{said}”.",
        "general_discussion": "What the authors make of it, and where it stops.",
        "general_other": "What it says: “{said}”.",
        "general_unsaid": "One of the sections that the paper has.",
        "unrelated": "The paper seems to say nothing of “{interest}”; this is its route in "
        "short. {why}",
        "added": "You put this section in.",
        "quoted": "“{word}”",
        "and": " and ",
        "title": "Reading route",
        "for": "Reading route: {interest}",
        "left": "{minutes} minutes of reading left",
        "all_done": "All of it is read.",
        "page": "page {first}",
        "pages": "pages {first}–{last}",
        "minutes": "{minutes} min",
    },
    "zh": {
        "open": "先了解全文概要：它要做什么，再读与您的兴趣有关的部分。",
        "open_general": "先了解全文概要：它要做什么，主张什么。",
        "words": "这一节谈到{words}。",
        "near": "在各节中，它与您的兴趣{rank}：其中写到“{said}”。",
        "asked": "这一节属于您想了解的部分：“{said}”。",
        "nearest": "最接近",
        "near_too": "较为接近",
        "results": "与此有关的结果：“{said}”。",
        "discussion": "作者怎样看待它：“{said}”。",
        "beside": "与之相邻的内容：“{said}”。",
        "limits": "它的局限：“{said}”。",
        "general_introduction": "为什么写这篇论文，新在哪里。",
        "general_related_work": "此前已有的研究。",
        "general_method": "怎样做：“{said}”。",
        "general_results": "结果如何：“{said}”。",
        "general_discussion": "作者怎样看待结果，局限在哪里。",
        "general_other": "其中写到：“{said}”。",
        "general_unsaid": "论文的一个章节。",
        "unrelated": "论文中似乎没有谈到“{interest}”，以下是全文概要的路线。{why}",
        "added": "这是您加入的一节。",
        "quoted": "“{word}”",
        "and": "和",
        "title": "阅读路线",
        "for": "阅读路线：{interest}",
        "left": "还需阅读约 {minutes} 分钟",
        "all_done": "已全部读完。",
        "page": "第{first}页",
        "pages": "第{first}–{last}页",
        "minutes": "{minutes} 分钟",
    },
}


def format_message(key: str, lang: str, **values: object) -> str:
    """One of our sentences."""
    return _TEXTS[resolve_language(lang)][key].format(**values)
