"""Claims made by program from questions that people wrote: a true one and a false one of the same
form.

The false one has another answer of the same kind, or one number, name or word changed; beside some
of the true ones the passage has lost the answer. The one rule: neither length nor shared words may
tell the two apart.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from random import Random

from mirrors import Texts
from qa import Paragraph, Question, read_paragraphs
from rows import CJK, CONTRADICTED, ENTAILED, NOT_STATED, Row
from text import cut_window, draw_window, drop_sentences, find_sentences, is_chinese, make_claim

LONGEST_ANSWER = {"en": 60, "zh": 30}
SHORTEST_REST = {"en": 100, "zh": 30}  # characters of a passage that lost its answer
_UNITS = "年月日个人次天位座条名届岁元米倍种家"
_NUMBER_EN = re.compile(
    r"\b\d[\d,]*(?:\.\d+)?\b|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|"
    r"thirty|forty|fifty|hundred|"
    r"thousand|million|billion)\b",
    re.IGNORECASE,
)
_NUMBER_ZH = re.compile(rf"\d[\d,]*(?:\.\d+)?|[一二三四五六七八九十百千万亿两]+(?=[{_UNITS}])")
_NAME = re.compile(r"(?<!^)(?<![.!?]\s)\b[A-Z][a-zA-Z'’-]+(?:\s+(?:of\s+)?[A-Z][a-zA-Z'’-]+)*")
_OPPOSITES = (
    "first/last largest/smallest highest/lowest before/after more/less most/least "
    "increase/decrease increased/decreased north/south northern/southern east/west "
    "eastern/western male/female men/women old/new older/younger oldest/youngest begin/end "
    "began/ended win/lose won/lost always/never earliest/latest allowed/forbidden "
    "maximum/minimum major/minor public/private good/bad best/worst high/low long/short "
    "early/late must>need_not can>cannot all/none with/without 最大/最小 最高/最低 最早/最晚 "
    "第一/最后一 之前/之后 以前/以后 增加/减少 上升/下降 北/南 东/西 男/女 开始/结束 成立/解散 "
    "出生/去世 胜/败 多/少 高/低 可以>不可以 必须>不必 允许/禁止 全部/部分 左/右 进口/出口 "
    "支持/反对"
)
_NEGATIONS = "不是>是 没有>有 不能>能 不会>会 不得>可以 无法>可以 不可>可"
_AFFIRMATIONS = (
    "是>不是 可以>不可以 能够>不能够 会>不会 有>没有 位于>并不位于 成为>没有成为 获得>没有获得 "
    "被>没有被 于>并非于"
)
_VERB = re.compile(r"\b(is|was|are|were|can|could|will|would|has|have|had|must|may|should)\b")
_KINDS = (
    ("person", r"\bwho|whose\b|谁|何人|哪位"),
    ("date", r"\bwhen\b|what year|date|何时|什么时候|哪一?年|哪天|时间"),
    ("number", r"how (many|much|long|old)|多少|几"),
    ("place", r"\bwhere\b|country|city|哪里|何处|哪个国家|哪个城市|何地|什么地方"),
)
_ASKED_ZH = re.compile(
    r"(是)?(谁|什么时候|哪一年|哪年|何时|哪里|哪儿|何处|何地|什么地方|哪个国家|哪个城市|"
    r"哪座城市|哪个地区|哪一个|哪个|哪位|哪一位|多少|"
    rf"几(?=[{_UNITS}])|什么|何人|何种|何者)",
)
_ASKED_EN = re.compile(r"(who|what|which [a-z]+|what [a-z]+)\s+(.*)", re.IGNORECASE)
_BE = ("is", "was", "are", "were")
_OTHER_VERBS = (
    *_BE,
    "did",
    "does",
    "do",
    "has",
    "have",
    "had",
    "can",
    "could",
    "will",
    "would",
    "should",
    "of",
)


def list_opposites() -> dict[str, list[str]]:
    found = defaultdict[str, list[str]](list)
    for pair in _OPPOSITES.replace("_", " ").replace("need not", "need_not").split(" "):
        one, two = re.split("[/>]", pair.replace("_", " "))
        found[one].append(two)
        if "/" in pair:
            found[two].append(one)
    return found


OPPOSITES = list_opposites()


def convert_twins(texts: Texts, chance: Random, lang: str = "en") -> Iterator[Row]:
    for paragraph in read_paragraphs(texts, lang):
        for question in paragraph.questions:
            if question.start >= 0 and len(question.answer) <= LONGEST_ANSWER[lang]:
                end = question.start + len(question.answer)
                first, last = draw_window(paragraph.text, question.start, end, chance, 60, 450)
                evidence = paragraph.text[first:last]
                yield from make_answer_twins(paragraph, question, evidence, chance, lang)
                if chance.random() < 0.35:
                    yield from make_sentence_twins(
                        paragraph, question, evidence, question.start - first, chance
                    )


def make_answer_twins(
    paragraph: Paragraph, question: Question, evidence: str, chance: Random, lang: str
) -> Iterator[Row]:
    """The question and its answer as a statement, and the same with another answer."""
    asked, _, answer = question
    kind, other = name_kind(asked, answer), ""
    others = sorted({item.answer for item in paragraph.questions if is_alike(item, kind, answer)})
    if others and (kind != "other" or chance.random() < 0.6):
        other = chance.choice(others)
    elif re.search(r"\d", answer):
        other = change_value(" " + answer, paragraph.text, chance).strip()
    if not other or other == answer:
        return
    state = chance.getstate()
    true = state_answer(asked, answer, chance)
    chance.setstate(state)
    false = state_answer(asked, other, chance)
    if true == false or true.lower() in evidence.lower():
        return
    yield make_twin(true, evidence, ENTAILED, "answer_true")
    yield make_twin(false, evidence, CONTRADICTED, "answer_false")
    if chance.random() < 0.35:
        rest = drop_sentences(paragraph.text, answer)
        if len(rest) > SHORTEST_REST[lang]:
            yield make_twin(true, cut_window(rest, chance, 60, 450), NOT_STATED, "answer_removed")


def is_alike(item: Question, kind: str, answer: str) -> bool:
    """Whether another question's answer could stand for this one."""
    one, two = item.answer.lower(), answer.lower()
    close = abs(len(one) - len(two)) <= max(4, len(two) // 2)
    return (
        item.start >= 0
        and close
        and one not in two
        and two not in one
        and name_kind(item.text, item.answer) == kind
    )


def make_sentence_twins(
    paragraph: Paragraph, question: Question, evidence: str, at: int, chance: Random
) -> Iterator[Row]:
    """The sentence that answers (a part of it in Chinese, lest the true twin be a copy), and one
    change in it.
    """
    start, end = next(
        ((i, j) for i, j in find_sentences(evidence) if i <= at < j), (0, len(evidence))
    )
    sentence = evidence[start:end].strip()
    if is_chinese(paragraph.text):
        parts = re.split(r"(?<=[，；])", sentence)
        part = next((n for n, text in enumerate(parts) if question.answer in text), 0)
        sentence = "".join(parts[max(0, part - 1) : part + 1]).strip("，；。 ") + "。"
    change = chance.choice(("value", "value", "opposite", "negation"))
    if change == "value":
        false = change_value(sentence, paragraph.text, chance)
    else:
        false = (
            change_opposite(sentence, chance)
            if change == "opposite"
            else change_negation(sentence, chance)
        )
    if (
        false
        and false != sentence
        and false.strip("。. ") not in evidence
        and 10 < len(sentence) < 250
    ):
        yield make_twin(sentence, evidence, ENTAILED, "sentence")
        yield make_twin(false, evidence, CONTRADICTED, "sentence_changed")


def make_twin(claim: str, evidence: str, label: int, kind: str) -> Row:
    return make_claim(claim, evidence.strip(), label) | {"kind": kind}


def change_opposite(text: str, chance: Random) -> str:
    """One word into its opposite; empty where there is none."""
    chinese, found = is_chinese(text), []
    for word, others in OPPOSITES.items():
        if bool(CJK.search(word)) == chinese:
            pattern = re.escape(word) if chinese else rf"\b{word}\b"
            found += [(match, chance.choice(others)) for match in re.finditer(pattern, text)]
    return replace(*chance.choice(found)) if found else ""


def change_negation(text: str, chance: Random) -> str:
    """One negation less, or one more; empty where there is no place for it."""
    if is_chinese(text):
        for before, after in (pair.split(">") for pair in _NEGATIONS.split()):
            if before in text:
                return text.replace(before, after, 1)
        pairs = [pair.split(">") for pair in _AFFIRMATIONS.split()]
        found = [(match, after) for before, after in pairs for match in re.finditer(before, text)]
        return replace(*chance.choice(found[:4])) if found else ""
    if negation := re.search(r"\b(?:not|never|n't|no longer)\s", text):
        return replace(negation, "")
    verb = _VERB.search(text)
    return replace(verb, verb[0] + (" never" if chance.random() < 0.15 else " not")) if verb else ""


def replace(match: re.Match[str], text: str) -> str:
    return match.string[: match.start()] + text + match.string[match.end() :]


def change_value(text: str, source: str, chance: Random) -> str:
    """A number or a name into another one of the source, or a number into one near it; empty where
    there is none.
    """
    number = _NUMBER_ZH if is_chinese(text) else _NUMBER_EN
    places = [(number, match) for match in number.finditer(text)]
    places += [] if is_chinese(text) else [(_NAME, match) for match in _NAME.finditer(text)]
    chance.shuffle(places)
    for pattern, match in places:
        pool = [found[0] for found in pattern.finditer(source)]
        if pattern is _NAME:
            pool = [name for name in pool if name not in text and match[0] not in name]
        else:
            pool = draw_numbers(match[0], pool, chance)
        if pool:
            return replace(match, chance.choice(pool))
    return ""


def draw_numbers(number: str, pool: list[str], chance: Random) -> list[str]:
    """The numbers of the pool that are written alike, or one made of this one."""
    alike = (one for one in pool if one != number and one[0].isdigit() == number[0].isdigit())
    kept = [one for one in alike if abs(len(one) - len(number)) <= 1]
    if number[0].isdigit() and (not kept or chance.random() < 0.5):
        plain, step = number.replace(",", ""), chance.choice([1, 2, 3, 5, 10, -1, -2, -3])
        made = (
            str(int(plain) + step)
            if plain.isdigit()
            else plain[:-1] + str((int(plain[-1]) + 3) % 10)
        )
        return [made] if made != plain and not made.startswith("-") else kept
    return kept


def name_kind(question: str, answer: str) -> str:
    """What a question asks for, so that another answer of that kind can stand for the right one."""
    dated = len(answer) > 2 and re.fullmatch(r"[\d,.%年月日 ]+", answer)
    if dated and ("年" in answer or re.fullmatch(r"(1\d|20)\d\d", answer)):
        return "date"
    if re.match(r"\s*[\d$£€]", answer):
        return "number"
    return next((kind for kind, pattern in _KINDS if re.search(pattern, question.lower())), "other")


def state_answer(question: str, answer: str, chance: Random) -> str:
    """Question and answer as one statement where a rule fits; else one after the other."""
    asked = question.strip().rstrip("?？ ")
    if is_chinese(question):
        found = _ASKED_ZH.search(asked)
        if not found or chance.random() >= 0.85:
            return question + answer + "。"
        shown = (
            re.sub(r"[个年人次天位]$", "", answer)
            if found[2].startswith(("多少", "几"))
            else answer
        )
        rest = re.sub(r"^(国家|城市|地区|年)(?=$)", "", asked[found.end() :])
        return (
            re.sub(r"^(请问)", "", asked[: found.start()]) + (found[1] or "") + shown + rest + "。"
        )
    made = state_subject(asked, answer, chance) or state_time_or_place(asked, answer)
    return made or question.strip() + " " + answer + ("" if answer.endswith(".") else ".")


def state_subject(asked: str, answer: str, chance: Random) -> str:
    """Who, what and which: "Who wrote it" as "Anna wrote it."."""
    found = _ASKED_EN.match(asked)
    if not found or chance.random() >= 0.85:
        return ""
    verb, _, rest = found[2].partition(" ")
    if verb.lower() in _BE and found[1].lower() in ("who", "what"):
        if (
            chance.random() < 0.5
            and rest
            and not re.search(r"\b(of|in|by|to|for|at|called|known)$", rest)
        ):
            return f"{rest[0].upper()}{rest[1:]} {verb} {answer}."
    elif verb.lower() in _OTHER_VERBS:
        return ""
    return f"{answer[0].upper()}{answer[1:]} {found[2]}."


def state_time_or_place(asked: str, answer: str) -> str:
    """When and where: "When was it built" as "It was built in 1900."."""
    found = re.match(r"(when|where)\s+(is|was|are|were)\s+(.*)", asked, re.IGNORECASE)
    subject, _, verb = found[3].rpartition(" ") if found else ("", "", "")
    if not found or not subject or not verb.endswith(("ed", "en", "t", "n", "s")):
        return ""
    begun = re.match(r"(in|on|at|from|during|after|before|since)\b", answer, re.IGNORECASE)
    return f"{subject[0].upper()}{subject[1:]} {found[2]} {verb} {'' if begun else 'in '}{answer}."
