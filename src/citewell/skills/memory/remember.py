"""What of a user's words is to be remembered, and how it agrees with what is known of them. Rules
only; which questions ask the same is said by who calls. What is not clearly stated, or looks like a
secret, is not remembered. Missing a fact costs a question; inventing one costs trust.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from citewell.skills.answer.duplicate_question import has_same_words, is_same_answer
from citewell.skills.memory.memory_questions import ASKED, TALK, USER, strip_lead
from citewell.skills.memory.statements import Stated, is_same_subject, parse_clause
from citewell.store.memory_judgement import Judgement, Told
from citewell.store.memory_rows import Memory
from citewell.text.secret import is_secret
from citewell.text.sentences import split_sentences

LONGEST = 300  # characters of a fact

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


@dataclass(frozen=True, slots=True)
class Fact:
    """`subject`: the key of what it is about. `text`: the user's words, `LONGEST` at most."""

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
    """The fact that somebody writes down as one: with the subject that it states, if any."""
    body = _strip_punctuation(text)
    known = _parse_statement(body)
    return Fact(known.subject if known else body.lower(), body)


def is_remember_request(text: str) -> bool:
    """An explicit request to remember, with nothing in it to answer."""
    return has_only_statements(text) and any(
        ASKED.match(strip_lead(each)) for each in _split_statements(text)
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


def _parse_statement(text: str) -> Stated | None:
    return parse_clause(strip_lead(text))


def _split_statements(text: str) -> Iterator[str]:
    """The sentences that may state something; tags make a question of what goes before them."""
    for a, b in split_sentences(text):
        sentence = text[a:b].strip()
        if not _SUPPOSED.search(sentence) and not _TAG.search(sentence):
            yield sentence


def _extract_facts(sentence: str) -> Iterator[Fact]:
    asked = ASKED.match(strip_lead(sentence))
    if asked and not _QUESTION.search(sentence):
        yield from _extract_requested_facts(strip_lead(sentence)[asked.end() :])
        return
    yield from _extract_clause_facts(sentence)


def _extract_requested_facts(body: str) -> Iterator[Fact]:
    """What is asked to be remembered is: as facts where it holds some, else as it stands."""
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
        body = _strip_punctuation(strip_lead(clause))
        if _QUESTION.search(clause) or TALK.search(clause) or USER.search(clause):
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
    if ASKED.match(strip_lead(sentence)):
        return True
    clauses = [
        body
        for clause in _CLAUSES.split(sentence)
        if (body := _strip_punctuation(strip_lead(clause)))
    ]
    told = [body for body in clauses if not _COURTESY.fullmatch(body)]
    return bool(told) and len(list(_extract_clause_facts(sentence))) == len(told)


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
