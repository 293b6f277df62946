"""What a snapshot's reasoning is put in: our sentences, and the reasons that `auto` and the routes
give, in Chinese too.

The one rule: one language a question. A reason that has no Chinese here is left out of a Chinese
text, not mixed into it.
"""

from __future__ import annotations

import re

HAN = re.compile(r"^[\u4e00-\u9fff]")  # begins in Chinese
WORDS = {
    "en": {
        "chosen": "{agent} was chosen: {reason}.",
        "intent": "The question was read as: {intent}.",
        "alone": "In full words it asks: {standalone}",
        "route": "It was first searched by {route}, because {reason}.",
        "search": "The search was {confidence:.0%} sure to have found the answer.",
        "decision": "The draft was held to be right with a probability of {probability:.0%}.",
        "again": "Asked again in other words: {times} x.",
        "memories": "What was remembered of the user and at hand: {n}.",
        "pages": "Pages of the site that were looked at: {n} (rounds: {rounds}).",
        "agents": "Asked: {agents}.",
        "audit": "The audit of the draft: {found}.",
        "followed": "It follows what people confirmed: {items}.",
        "stop": "It ended because: {reason}.",
    },
    "zh": {
        "chosen": "选择了 {agent}：{reason}。",
        "intent": "问题被理解为：{intent}。",
        "alone": "完整的问题是：{standalone}",
        "route": "首先用 {route} 检索，因为{reason}。",
        "search": "检索认为找到答案的把握是 {confidence:.0%}。",
        "decision": "草稿正确的可能性估计为 {probability:.0%}。",
        "again": "换说法重问了 {times} 次。",
        "memories": "用到了关于用户的 {n} 条记忆。",
        "pages": "分 {rounds} 轮看了网站的 {n} 个页面。",
        "agents": "负责回答的：{agents}。",
        "audit": "对草稿的核对：{found}。",
        "followed": "依据人工确认的内容：{items}。",
        "stop": "结束的原因：{reason}。",
    },
}
# Reasons as service/ask/choose_agent.py, service/tables/choose_source.py, skills/dialogue/route.py
# and agents/dual_loop_understand.py word them; what a group holds is a name and stays as it is.
# tests/service/test_snapshot.py holds this against their sources.
REASONS = {
    "this session reads a paper": "这个会话在读一篇论文",
    "this session asks a website": "这个会话在问一个网站",
    "this session asks the tables(.*)": "这个会话在查询表格{0}",
    "the table source (.+) is chosen": "选定了表格 {0}",
    "the tables (.+) have what the question names: (.+)": "表格 {0} 中有问题所说的内容：{1}",
    "the question names the address (.+)": "问题写出了地址 {0}",
    "the question asks for the web": "问题要求搜索网络",
    "the question is about what is new": "问题问的是新近的事",
    "there is something to remember": "有需要记住的内容",
    "there is nothing to answer, only something to remember": "没有要回答的，只有要记住的内容",
    "the question is about what was said before": "问题问的是之前说过的话",
    "the question is about the user, of whom something is remembered": (
        "问题与用户本人有关，而记忆中有相关内容"
    ),
    "several things are asked at once": "一次问了几件事",
    "a question of kind (.+) may need a second search": "{0} 类的问题可能需要第二次检索",
    "a follow-up question about the documents": "这是就文档追问的问题",
    "a question that one search of the documents should settle": "这个问题检索一次文档应能解决",
    "nothing speaks for another agent": "没有选择其他智能体的理由",
    "the way to search that the request names": "请求指定了这种检索方式",
    "the way to search that the settings name": "设置指定了这种检索方式",
    "a question like this one was settled this way before": "类似的问题以前是这样解决的",
    "a question of kind (.+) is answered by whole sections": "{0} 类的问题要用整节内容来回答",
    "the question names a section": "问题指明了章节",
    "the question may mean either of two things": "问题可能指两件事中的任何一件",
    "something is to be forgotten": "有需要忘记的内容",
    "nothing is asked of the documents": "没有问到文档的内容",
}


def translate_reason(lang: str, reason: str) -> str:
    """A reason in the language of the question; empty where it has none there."""
    if lang != "zh":
        return reason
    for pattern, words in REASONS.items():
        if found := re.fullmatch(pattern, reason):
            return words.format(*found.groups())
    return reason if HAN.search(reason) else ""
