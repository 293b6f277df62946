"""Whether words ask about what was said before, or about what is remembered."""

from __future__ import annotations

import re

_ASKED_EN = (
    r"(?:please\s+|could\s+you\s+(?:please\s+)?|can\s+you\s+(?:please\s+)?|kindly\s+)?"
    r"(?:(?:remember|note|keep\s+in\s+mind|bear\s+in\s+mind|memori[sz]e|don['’]?t\s+forget|"
    r"do\s+not\s+forget|make\s+a\s+note)"
    r"(?:\s+(?:for\s+(?:later|next\s+time)|please))?\s*(?:\bthat\b|\bthis\b\s*[:：]|[:：,])|"
    r"remember\s+(?=(?:my|our|i)\b)|"
    r"for\s+the\s+record\s*[,:：])\s*"
)
_ASKED_ZH = (
    r"(?:请|麻烦)?(?:你|您|帮我|给我)?(?:一定要?|务必)?(?:记住|记下来?|记一下|牢记|别忘了?|"
    r"不要忘记?了?|记得)(?!吗|没)(?:了|这一?点|一下)?"
    r"\s*[：:，,]?\s*"
)
ASKED = re.compile(f"{_ASKED_EN}|{_ASKED_ZH}", re.IGNORECASE)
_LEAD = re.compile(
    r"(?:(?:hi|hello|hey|well|so|also|and|but|ok(?:ay)?|by\s+the\s+way|btw|actually|fyi|"
    r"just\s+so\s+you\s+know|"
    r"as\s+(?:i|you)\s+(?:said|know))\b[\s,!.:]*|(?:你好|您好|嗨|对了|另外|还有|"
    r"顺便说一?下?|其实|而且|并且|那么?|首先)[，,！!：:\s]*)+",
    re.IGNORECASE,
)
_SAID_EN = r"(?:say|said|tell|told|answer|answered|mention|mentioned|claim|claimed)"
_TALK_EN = (  # what was said before, by either side
    r"\b(?:do|can|did)\s+you\s+(?:still\s+)?(?:remember|recall)\b|"
    r"\b(?:what|when|which\s+\w+|why|how\s+often)\s+(?:did|have|had)\s+i\s+(?:\w+\s+)?(?:ask|"
    r"asked|say|said|tell|told|mention|mentioned|want)\b|"
    r"\b(?:what|when|how|why|where)\s+(?:did|have|had)\s+you\s+(?:(?:just|already|"
    rf"first)\s+)?{_SAID_EN}\b|"
    r"\b(?:did|have|had|didn['’]t|haven['’]t)\s+you\s+(?:(?:just|already|ever|not|"
    rf"really)\s+)?{_SAID_EN}\b|"
    r"\bwhat\s+(?:you|i)\s+(?:(?:just|already)\s+)?(?:said|told|answered|mentioned|asked)\b|"
    r"\bwhat\s+(?:were|did|have|had)\s+we\s+(?:(?:just|already)\s+)?(?:talk|discuss|speak|spoken|"
    r"chat|cover|say|said)\w*\b|"
    r"\bwhat\s+(?:was|has\s+been)\s+(?:said|asked|discussed)\s+(?:before|earlier|so\s+far|"
    r"last\s+time)\b|"
    r"\b(?:repeat|summari[sz]e|recap|sum\s+up|go\s+over)\s+"
    r"(?:your\s+(?:last\s+|previous\s+)?answers?|what\s+(?:you|i|we)\s+\w+|"
    r"(?:this|our|the)\s+(?:(?:whole|last|previous|entire)\s+)?(?:conversation|chat|"
    r"discussion)s?(?:\s+so\s+far)?)\b|"
    r"\b(?:summary|recap)\s+of\s+(?:this|our)\s+(?:conversation|chat|talk|discussion)\b|"
    r"\b(?:did|have)\s+i\s+(?:already\s+|ever\s+)?"
    r"(?:ask|asked|tell|told|mention|mentioned|say|said)\b|"
    r"\b(?:my|our)\s+(?:last|previous|earlier|first)\s+(?:question|conversation|chat|message)s?\b|"
    r"\byour\s+(?:last|previous|earlier|first)\s+(?:answer|reply|response|message)s?\b|"
    r"\b(?:last|previous|earlier)\s+(?:time|conversation|chat)\b.*\b(?:i|we)\b"
)
_USER_EN = (  # the user themself
    r"\bwhat\s+(?:do|did)\s+you\s+(?:know|remember|learn)\s+about\s+(?:me|us)\b|\bwho\s+am\s+i\b|"
    r"\bremind\s+me\s+(?:what|which|who|where|of\s+(?:my|our)|about\s+(?:my|our))\b|"
    r"^\W*(?:what(?:['’]?s|\s+is|\s+are|\s+was)|tell\s+me|"
    r"which\s+is)\s+my\s+[\w'’-]+(?:\s+[\w'’-]+)?\s*(?:again|called|now)?\W*$|"
    r"^\W*where\s+do\s+i\s+(?:work|live)\W*$|"
    r"^\W*(?:what|which(?:\s+\w+){0,3})\s+do\s+i\s+"
    r"(?:use|prefer|like|work\s+(?:on|in|for)|live\s+in)\W*$|"
    r"^\W*(?:what|which)\s+plan\s+(?:am\s+i\s+on|do\s+i\s+have)\W*$|^\W*how\s+old\s+am\s+i\W*$|"
    r"^\W*what\s+am\s+i\s+responsible\s+for\W*$"
)
_BEFORE_ZH = r"(?:上次|上一?回|之前|以前|先前|前面|刚才|刚刚|昨天|曾经)"
_TALK_ZH = (
    r"(?:你|您)?(?:还)?(?:记得|记不记得|记住)(?:吗|我|上次|之前|没|了吗).*|"
    rf"{_BEFORE_ZH}我们?[^。？?]{{0,12}}(?:问(?!题)|说|聊|提|告诉)|"
    rf"我们?{_BEFORE_ZH}[^。？?]{{0,12}}(?:问(?!题)|说|聊|提|告诉)|"
    r"我(?:都)?(?:问过|说过|提过|提到过|告诉过|问了|说了)|"
    r"我们(?:都)?(?:聊过|聊了|谈过|谈了|说过|讨论过|讨论了)|"
    rf"(?:你|您){_BEFORE_ZH}[^。？?]{{0,8}}(?:说|告诉|回答|提)|"
    rf"{_BEFORE_ZH}(?:你|您)[^。？?]{{0,8}}(?:说|告诉|回答|提)|"
    r"(?:你|您)(?:都)?(?:说|讲|回答|提到?)(?:过|了|的|什么)|"
    r"(?:你|您)(?:有没有|是不是|是否)(?:说|讲|回答|提到?)|"
    r"^\W*(?:上次|刚才|刚刚|前面|先前|之前)(?:说|问|聊|谈|讲|讨论|提)(?!题)|"
    r"(?:上次|刚才|刚刚|上一?个|前一?个|上一?条)的?(?:回答|答案|答复|对话|聊天)|"
    r"(?:重复|总结|概括|回顾|复述|归纳)(?:一?下|一遍)?"
    r"(?:你的回答|(?:我们|咱们)?的?(?:对话|聊天|谈话)(?:内容|记录)?\W*$)|"
    r"(?:(?:我们|咱们)的?(?:这次|本次|上次)?|这次|本次|此次|上次)的?(?:对话|聊天|谈话)|"
    r"我的?(?:上一?个|前一?个|第一个|刚才的|上次的)问题"
)
_USER_ZH = (
    r"我(?:到底)?叫(?:什么|啥)|我是谁|我的名字(?:是|叫)?(?:什么|啥)|"
    r"^\W*我(?:们)?的[^\s，。的]{1,8}(?:是|叫|在)(?:什么|多少|哪[个里儿]?[^\s，。]{0,4}|谁|"
    r"几[^\s，。]{0,3}|啥)[来着呢呀啊]*\W*$|"
    r"(?:你|您)(?:知道|了解|记得)[^。？?]{0,6}(?:关于)?我(?:的)?(?:什么|哪些|多少|吗)|"
    r"关于我(?!们?的)|^\W*我(?:在|住在?|住)(?:哪|什么)[^\s，。]{0,6}(?:工作|上班)?\W*$|"
    r"^\W*我(?:用的?是?|喜欢|负责|来自)(?:什么|哪)[^\s，。]{0,8}\W*$|"
    r"^\W*我(?:今年)?(?:多大|几岁)了?\W*$"
)
TALK = re.compile(f"{_TALK_EN}|{_TALK_ZH}", re.IGNORECASE)
USER = re.compile(f"{_USER_EN}|{_USER_ZH}", re.IGNORECASE)


def is_memory_question(text: str) -> bool:
    """Whether it asks about the user themself ("what is my plan?") or about earlier conversations.
    What is asked may also be known to the documents ("what is my notice period?"): where nothing is
    remembered, they are to be searched.
    """
    return is_conversation_question(text) or (
        bool(USER.search(text.strip())) and not _is_only_remember_request(text)
    )


def is_conversation_question(text: str) -> bool:
    """Whether it asks about what was said, in this or an earlier conversation ("what did I ask?");
    not about the user ("what is my plan?").
    """
    return bool(TALK.search(text.strip())) and not _is_only_remember_request(text)


def _is_only_remember_request(text: str) -> bool:
    return bool(ASKED.match(strip_lead(text))) and not re.search(r"[?？吗]", text)


def strip_lead(text: str) -> str:
    text = text.strip()
    lead = _LEAD.match(text)
    return text[lead.end() :].strip() if lead else text
