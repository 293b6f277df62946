"""What of a user's words is to be remembered, and how it agrees with what is known of them. Rules
only; which questions ask the same is said by who calls.

The one rule: what is not clearly stated, or looks like a secret, is not remembered. Missing a fact
costs a question; inventing one costs trust.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from citewell.skills.answer.duplicate_question import has_same_words, is_same_answer
from citewell.skills.memory.statements import Stated, is_same_subject, parse_clause
from citewell.store.memory_judgement import Judgement, Told
from citewell.store.memory_rows import Memory
from citewell.text.secret import has_secret, is_secret
from citewell.text.sentences import split_sentences

__all__ = [
    "Fact",
    "extract_fact_value",
    "extract_question_part",
    "extract_stated_facts",
    "has_only_statements",
    "has_secret",
    "is_conversation_question",
    "is_memory_question",
    "is_remember_request",
    "is_secret",
    "judge_memory",
    "parse_fact",
]

LONGEST = 300  # characters of a fact

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
_ASKED = re.compile(f"{_ASKED_EN}|{_ASKED_ZH}", re.IGNORECASE)
_LEAD = re.compile(
    r"(?:(?:hi|hello|hey|well|so|also|and|but|ok(?:ay)?|by\s+the\s+way|btw|actually|fyi|"
    r"just\s+so\s+you\s+know|"
    r"as\s+(?:i|you)\s+(?:said|know))\b[\s,!.:]*|(?:你好|您好|嗨|对了|另外|还有|"
    r"顺便说一?下?|其实|而且|并且|那么?|首先)[，,！!：:\s]*)+",
    re.IGNORECASE,
)
_SUPPOSED = re.compile(
    r"\b(?:if|suppos(?:e|ing)|assum(?:e|ing)|imagine|pretend|whether|unless|would(?!\s+like)|"
    r"hypothetically|let['’]?s\s+say|what\s+about)\b|"
    r"如果|假如|要是|假设|倘若|万一|若是|是否|比如|例如|假定|即使|的话",
    re.IGNORECASE,
)
_TAG = re.compile(
    r"[,，]\s*(?:right|correct|yes|no|or\s+not|is\s*n['’]t\s+it|isn['’]t\s+that\s+so|"
    r"am\s+i\s+right|is\s+that\s+right|"
    r"对吗|对吧|是吗|是吧|是不是|对不对|没错吧)\s*[?？]\s*$",
    re.IGNORECASE,
)
_QUESTION = re.compile(
    r"[?？]\s*$|^\W*(?:who|whom|whose|what|when|where|which|why|how|is|are|am|was|were|do|does|"
    r"did|can|could|may|must|should|will|"
    r"has|have|had)\b|[吗么呢]\W*$|什么|谁|哪|几(?!乎)|多少|多久|多长|多大|怎么|怎样|如何|"
    r"为什么|为何|是不是|有没有|能不能|能否|可不可以|何时",
    re.IGNORECASE,
)
_CLAUSES = re.compile(
    r"[,;，；]\s*(?:and\s+|but\s+|so\s+)?|[、]\s*(?=我)|\s+and\s+(?=(?:i|my|our|i['’]m)\s)|"
    r"(?:并且|而且|，?但)(?=我)",
    re.IGNORECASE,
)
_COURTESY = re.compile(
    r"\W*(?:(?:hi|hello|hey|thanks?(?:\s+you)?|please|ok(?:ay)?|got\s+it|good\s+(?:morning|"
    r"evening|afternoon))\W*)*|"
    r"\W*(?:(?:你好|您好|谢谢你?|好的?|嗯|麻烦了|请)\W*)*",
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
_TALK = re.compile(f"{_TALK_EN}|{_TALK_ZH}", re.IGNORECASE)
_USER = re.compile(f"{_USER_EN}|{_USER_ZH}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Fact:
    """`subject`: the key of what it is about. `text`: the user's own words, `LONGEST` characters at
    most.
    """

    subject: str
    text: str


def extract_stated_facts(text: str) -> list[Fact]:
    """What the user states of themselves or asks to remember, each subject once, the last word on
    it counting.

    Nothing is taken from questions, suppositions and states of the moment, and nothing that looks
    like a secret.
    """
    found: dict[tuple[str, str], Fact] = {}
    for sentence in _split_statements(text):
        for fact in _extract_facts(sentence):
            if len(fact.text) <= LONGEST and not is_secret(fact.text):
                about = _parse_statement(fact.text)
                found[fact.subject, fact.text.casefold() if about is None or about.many else ""] = (
                    fact
                )
    return list(found.values())


def parse_fact(text: str) -> Fact:
    """The fact that somebody writes down as one: with its subject where it states one, else about
    itself.
    """
    body = _strip_punctuation(text)
    known = _parse_statement(body)
    return Fact(known.subject if known else body.lower(), body)


def is_remember_request(text: str) -> bool:
    """An explicit request to remember, with nothing in it to answer."""
    return has_only_statements(text) and any(
        _ASKED.match(_strip_lead(each)) for each in _split_statements(text)
    )


def has_only_statements(text: str) -> bool:
    """Whether all it does is to state facts or to ask to remember: there is nothing to answer."""
    parts = [text[a:b] for a, b in split_sentences(text)]
    told = [part for part in parts if not _COURTESY.fullmatch(part)]
    return bool(told) and all(_is_statement(part) for part in told)


def extract_question_part(text: str) -> str:
    """What is left to answer without what is only told: "My plan is Pro. How long may I wait?" asks
    how long. All of it where nothing would be left.
    """
    left = []
    for a, b in split_sentences(text):
        sentence = text[a:b].strip()
        if not _SUPPOSED.search(sentence):
            while (cut := _CLAUSES.search(sentence)) and _is_statement(sentence[: cut.start()]):
                sentence = sentence[cut.end() :]
        if not _is_statement(sentence) and not _COURTESY.fullmatch(sentence):
            left.append(sentence)
    return " ".join(left) or text


def is_memory_question(text: str) -> bool:
    """Whether it asks about the user themself ("what is my plan?") or about earlier conversations.
    What is asked may also be known to the documents ("what is my notice period?"): where nothing is
    remembered, they are to be searched.
    """
    return is_conversation_question(text) or (
        bool(_USER.search(text.strip())) and not _is_only_remember_request(text)
    )


def is_conversation_question(text: str) -> bool:
    """Whether it asks about what was said, in this or an earlier conversation ("what did I ask?");
    not about the user ("what is my plan?").
    """
    return bool(_TALK.search(text.strip())) and not _is_only_remember_request(text)


def extract_fact_value(text: str) -> str:
    """What a remembered fact says its subject is: `Pro` of `my plan is Pro`; empty where it says no
    such thing, or many.
    """
    known = _parse_statement(text)
    return known.value if known is not None and not known.many else ""


def judge_memory(
    told: Told, near: Sequence[tuple[Memory, float]], same_asked: Collection[str] = ()
) -> Judgement:
    """Which known memory says the same as `told`, and which ones otherwise; for `Memories.keep`.
    `same_asked`: questions that ask the same as it in other words (`alike.find_same`).
    """
    if told.kind == "question":
        return _judge_question(told, near, same_asked)
    same: str | None = None
    others: list[str] = []
    for memory, _ in near:
        agrees = _compare_facts(told, memory)
        if agrees and same is None:
            same = memory.memory_id
        elif agrees is not None:
            others.append(memory.memory_id)
    return Judgement(same, tuple(others))


def _judge_question(
    told: Told, near: Sequence[tuple[Memory, float]], same_asked: Collection[str]
) -> Judgement:
    same: str | None = None
    others: list[str] = []
    for memory, _ in near:
        asks_same = memory.subject in same_asked or has_same_words(told.subject, memory.subject)
        if memory.collection != told.collection or not asks_same:
            continue
        if same is None and is_same_answer(told.text, memory.text, told.subject):
            same = memory.memory_id
        else:
            others.append(memory.memory_id)
    return Judgement(same, tuple(others))


def _compare_facts(told: Told, memory: Memory) -> bool | None:
    """None where they speak of different things."""
    if has_same_words(told.text, memory.text):
        return True
    new, old = _parse_statement(told.text), _parse_statement(memory.text)
    if new is None or old is None or not is_same_subject(new.subject, old.subject):
        return None
    if has_same_words(new.value, old.value):
        return True
    return None if new.many or old.many else False


def _is_only_remember_request(text: str) -> bool:
    return bool(_ASKED.match(_strip_lead(text))) and not re.search(r"[?？吗]", text)


def _parse_statement(text: str) -> Stated | None:
    return parse_clause(_strip_lead(text))


def _split_statements(text: str) -> Iterator[str]:
    """The sentences that may state something; tags make a question of what goes before them."""
    for a, b in split_sentences(text):
        sentence = text[a:b].strip()
        if not _SUPPOSED.search(sentence) and not _TAG.search(sentence):
            yield sentence


def _extract_facts(sentence: str) -> Iterator[Fact]:
    asked = _ASKED.match(_strip_lead(sentence))
    if asked and not _QUESTION.search(sentence):
        yield from _extract_requested_facts(_strip_lead(sentence)[asked.end() :])
        return
    yield from _extract_clause_facts(sentence)


def _extract_requested_facts(body: str) -> Iterator[Fact]:
    """What is asked to be remembered is remembered, whatever it is: as facts where it is some, else
    as it stands.
    """
    body = _strip_punctuation(body)
    known = list(_extract_clause_facts(body))
    whole = parse_clause(body)
    if len(known) > 1 and len(known) == len(_CLAUSES.split(body)):
        yield from known
    elif body:
        yield Fact(whole.subject if whole else body.lower(), body)


def _extract_clause_facts(sentence: str) -> Iterator[Fact]:
    """Clause by clause; one that leaves out its `I` says it of the speaker of the clause before
    (我叫李雷，在销售部工作).
    """
    speaker = ""
    for clause in _CLAUSES.split(sentence):
        body = _strip_punctuation(_strip_lead(clause))
        if _QUESTION.search(clause) or _TALK.search(clause) or _USER.search(clause):
            continue
        for each in (body, speaker + body):
            known = parse_clause(each)
            if known is not None:
                yield Fact(known.subject, each)
                speaker = "I " if each.isascii() else "我"
                break


def _is_statement(sentence: str) -> bool:
    """Every clause of it is a fact, or all of it is asked to be remembered."""
    if _SUPPOSED.search(sentence) or _TAG.search(sentence) or _QUESTION.search(sentence):
        return False
    if _ASKED.match(_strip_lead(sentence)):
        return True
    clauses = [
        body
        for clause in _CLAUSES.split(sentence)
        if (body := _strip_punctuation(_strip_lead(clause)))
    ]
    told = [body for body in clauses if not _COURTESY.fullmatch(body)]
    return bool(told) and len(list(_extract_clause_facts(sentence))) == len(told)


def _strip_lead(text: str) -> str:
    text = text.strip()
    lead = _LEAD.match(text)
    return text[lead.end() :].strip() if lead else text


def _strip_punctuation(text: str) -> str:
    return text.strip().strip("。.!！~,，:：;； 　").strip()


_FORGET = re.compile(
    r"^\W*(?:please\s+)?forget\b(?!\s+(?:how|why|when|where))|^\W*请?(?:你)?(?:忘[记掉了]|"
    r"删除|清除)(?!了?吗).{0,20}(?:我|记忆)|^\W*请?忘[记掉]",
    re.IGNORECASE,
)
_ALL = re.compile(
    r"\bwhat (?:do|did) you (?:know|remember|learn) about (?:me|us)\b|\bwhat do you "
    r"remember\W*$|记得我(?:什么|哪些|多少)"
    r"|(?:知道|记得|了解)[^。？?]{0,4}(?:关于)?我(?:的)?(?:什么|哪些|多少)|"
    r"关于我[^。？?]{0,6}(?:什么|哪些)",
    re.IGNORECASE,
)


def is_forget_request(text: str) -> bool:
    """A request to forget something, which only the command and the HTTP route do."""
    return bool(_FORGET.search(text))


def is_list_all_request(text: str) -> bool:
    """Whether all that is remembered of the user is asked for."""
    return bool(_ALL.search(text))
