"""What each job adds to the shared prefix: is the evidence there, word the answer, is the answer right.

The one rule: the messages of a job begin with all those of the job before it, to the letter, so that the model has read
them already and the second and third job cost a few tokens each.
"""

from __future__ import annotations

from collections.abc import Sequence

from citewell.types import Message

GATE = {
    "en": "Do the passages state the answer? Reply yes or no.",
    "zh": "资料是否写明了答案？只回答 yes 或 no。",
}
ANSWER = {
    "en": "Now answer the question in one or two short sentences with the passages' own words.",
    "zh": "现在用资料中的原话，以一两句话简短回答问题。",
}
# Of six wordings tried on 19 to 30 drafted answers each, most of them to adversarial questions of SQuAD2, this one told right
# from wrong best: AUC 0.74 (0.70 on all 42 of grade.py). The others had 0.46 to 0.71, "does this answer settle the question,
# and do the passages state it" 0.59 and 0.64 (by a trial script; `evals/grades.py` measures the one in use).
SETTLES = {
    "en": "It rests on this sentence: {quote}\nDoes this sentence alone answer the question: {question} Reply yes or no.",
    "zh": "它依据的是这句话：{quote}\n仅凭这句话能回答这个问题吗：{question} 只回答 yes 或 no。",
}
# for a question that wants more than a fact
ANSWER_WIDE = {
    "en": "Now answer the question in three to six sentences with the passages' own words.",
    "zh": "现在用资料中的原话，以三到六句话回答问题。",
}
EXPLAIN = {
    "en": "Explain passage [1] to a reader in two to four plain sentences; use what the other passages say of its terms.",
    "zh": "请用两到四句浅显的话向读者解释资料[1]，可以借助其他资料对其中术语的说明。",
}
QUOTE_CHARS = 600  # of the quotes that an answer rests on


def gate(shared: Sequence[Message], asked: str, lang: str) -> list[Message]:
    """Whether the passages state the answer; `shared` and `asked` are those of `evidence.prefix`."""
    return [*shared, Message(role="user", content=asked + GATE[lang])]


def wording(shared: Sequence[Message], asked: str, lang: str, line: str = "") -> list[Message]:
    """The answer, after a yes to whether it is there. `line`: what is asked for instead of a short answer."""
    yes, now = Message(role="assistant", content="yes"), Message(role="user", content=line or ANSWER[lang])
    return [*gate(shared, asked, lang), yes, now]


def explaining(shared: Sequence[Message], asked: str, lang: str) -> list[Message]:
    """The first passage in plain words."""
    return [*shared, Message(role="user", content=asked + EXPLAIN[lang])]


def settles(shared: Sequence[Message], asked: str, lang: str, draft: str, quote: str, question: str) -> list[Message]:
    """Whether `draft`, word for word what the model wrote, is an answer: by the `quote` that proves it, to the `question`."""
    said = Message(role="assistant", content=draft)
    now = Message(role="user", content=SETTLES[lang].format(quote=quote[:QUOTE_CHARS], question=question))
    return [*wording(shared, asked, lang), said, now]
