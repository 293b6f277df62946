"""Which tables, columns and stored values a question speaks of, and which of its words stand for
nothing in the schema.

Words are held against names by their letters (English stems) and by meaning (a multilingual
embedder, so that 歌手 finds `singer`); values by their letters. The one rule: a link is a figure
from a comparison, never a word of a model's.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from citewell.models.base import Embedder, Vector
from citewell.sql.engines.engine import Column, Schema, Table
from citewell.text.tokens import STOP_EN, STOP_ZH, tag_words, tokenize_query

MOST_WORDS = 40  # of a question
LONGEST_VALUE = 60  # characters of a stored value that is looked for in a question
KEPT = 20_000  # vectors of names kept in this process, 1.5 kB each

# A word's nearest name by meaning counts as its link where it stands out by this much from how near
# the word is to names that most tables might have. Cosines of multilingual-e5-small between single
# words are 0.78 to 0.86 whatever they mean. Chosen among 0.03 to 0.05 on 110 questions of the
# text2sql set and the 40 that other databases cannot answer; `evals/text2sql.py --links` prints
# what it gives on all of them.
STANDS_OUT = 0.05
SURE = 0.07
SAID = (
    0.7  # a word with such a link to a table is said of that table, though another has a better one
)

HUB = 0.5
# What names of columns are usually shortened to; the words behind them are part of the name.
SHORT = {
    "acct": "account",
    "addr": "address",
    "amt": "amount",
    "avg": "average",
    "cat": "category",
    "cnt": "count",
    "cust": "customer",
    "dept": "department",
    "desc": "description",
    "dob": "date of birth",
    "dt": "date",
    "emp": "employee",
    "fname": "first name",
    "inv": "invoice",
    "lname": "last name",
    "loc": "location",
    "mgr": "manager",
    "msg": "message",
    "num": "number",
    "ord": "order",
    "org": "organisation",
    "pct": "percent",
    "pos": "position",
    "prod": "product",
    "qty": "quantity",
    "sal": "salary",
    "tel": "telephone",
    "yr": "year",
}
_COMMON = """
    name date year city country price weight colour age size status type address phone_number email
    title author language distance speed temperature height department student teacher employee
    customer order product invoice hospital patient doctor school airport flight car film song book
    restaurant hotel team player match score bank account salary tax insurance weather animal plant
    disease machine software law election newspaper
"""
COMMON = tuple(word.replace("_", " ") for word in _COMMON.split())
_ASKS_EN = """
    all also among amount and any average avg below above between both bigger biggest by calculate
    count contain different display distinct each every either exactly few find first following for
    from get give greater group have has having high higher highest how in include including kind
    kinds last larger largest least less list low lower lowest many max maximum mean min minimum
    more most much neither no nor not number numbers of old older oldest only or ordered ordering
    other out over per please respective respectively return same separate show shown sort sorted
    sum tell than that the them there total type types under unique use used using value values what
    when where which who whose with without young younger youngest ascending descending alphabetical
    alphabetically lexicographical result results record records entry entries information detail
    details id ids row rows data do does did is are was were be been its their them it they belong
    named called corresponding common ever i me we us our my your you would like know want many
    across together percentage percent ratio share difference compare top bottom come comes came new
    newest latest earliest recent recently then whether if still some one two three four five six
    seven eight nine ten
"""
_ASKS_ZH = """
    所有 每个 每 各 各个 各自 多少 几个 哪些 哪个 哪 什么 谁 列出 显示 找出 找到 查找 查询 给出 返回
    请 请问 告诉 告诉我 统计 计算 平均 平均值 总 总数 总共 总和 总额 合计 一共 数量 个数 数目 人数
    次数 数 最大 最大值 最小 最小值 最高 最低 最多 最少 最长 最短 最新 最早 最老 最年轻 最年长 年轻
    年长 大于 小于 高于 低于 超过 少于 多于 至少 至多 不少于 不超过 以上 以下 之间 之前 之后 之后的
    分别 不同 相同 任何 任一 其他 其中 包含 包括 拥有 具有 没有 有 不 不是 按 按照 根据 排序 升序
    降序 顺序 从 到 大到小 小到大 字母 字母顺序 排列 分组 以及 和 与 或 并 并且 且 的 了 是 在 对
    对于 为 信息 记录 详细 详细信息 结果 数据 情况 关于 有关 属于 名为 叫 叫做 对应 相应 那些 这些
    它们 他们 我 我们 需要 想 知道 第一 第二 前 后 个 名 位 种 类 比 更 较 百分比 比例 占比 差 差值
    相比 最 最近 目前 现在 一个 两个 三个 四个 五个 一 二 三 四 五 六 七 八 九 十 是否 只 仅 都 也
    还 又 中 里 内 上 下 来自 出 得 多 少 大 小 高 低 全部 唯一 共有 怎么 如何 一下
"""
ASKS_EN = frozenset(_ASKS_EN.split()) | STOP_EN
ASKS_ZH = frozenset(_ASKS_ZH.split()) | STOP_ZH
_LATIN = re.compile(r"[^\W\d_](?:[^\W_]|['’-](?=\w))*")
# a value of the asker's, whether or not it is stored
QUOTED = re.compile(r"[“\"「《][^”\"」》]{1,80}[”\"」》]")
# jieba's tags of people, places, bodies: values, not names of columns
_NAMES = frozenset({"nr", "nrt", "ns", "nt", "nz"})
_THINGS = ("n", "vn", "an", "l", "i", "j", "b")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|_+|[\s.\-/]+")

# Words that nearly every table has something for, whatever it calls it: where they stand for
# nothing, that says nothing.
_GENERIC = """
    order name names title titles word words type types place places location locations area origin
    code amount after before once never ever again during since until at least thing things people
    person item items list table column field 名称 名字 姓名 名 标题 题目 类型 类别 种类 地点 位置
    地方 地区 区域 场馆 代码 编号 金额 日期 时间 年份 人 物品 项目 单位 情况 内容 作品
"""
GENERIC = frozenset(_GENERIC.split())
_vectors: OrderedDict[tuple[str, str], Vector] = OrderedDict()


@dataclass(frozen=True, slots=True)
class Link:
    """A word of the question, and the table (`column` empty) or column that it stands for; `score`
    from 0 to 1.
    """

    word: str
    table: str
    column: str
    score: float


@dataclass(frozen=True, slots=True)
class Found:
    """A stored value that stands in the question."""

    table: str
    column: str
    value: str


@dataclass(frozen=True, slots=True)
class Linked:
    """What was found. `missing`: content words that stand for nothing. `leaning`: words without a
    link, verbs too, each with the table that comes nearest to it all the same. `tables`: how much
    each is spoken of, 0 to 1.
    """

    links: tuple[Link, ...]
    values: tuple[Found, ...]
    missing: tuple[str, ...]
    words: tuple[str, ...]
    leaning: tuple[tuple[str, str], ...] = ()

    @property
    def tables(self) -> dict[str, float]:
        scores: dict[str, float] = {}
        for link in self.links:
            scores[link.table] = max(
                scores.get(link.table, 0.0), link.score if not link.column else 0.9 * link.score
            )
        for value in self.values:
            scores[value.table] = 1.0
        return scores

    def is_table_needed(self, table: Table, others: Sequence[Table]) -> bool:
        """Whether the question says something of `table` that it does not say of one of `others`.
        The column of a foreign key speaks of the table that it leads to.
        """
        known = {other.name.lower(): other for other in [table, *others]}
        held = {
            value.value.casefold()
            for value in self.values
            if value.table.lower() in {other.name.lower() for other in others}
        }
        if any(
            value.table.lower() == table.name.lower() and value.value.casefold() not in held
            for value in self.values
        ):
            return True
        if any(name.lower() == table.name.lower() for _, name in self.leaning):
            return True
        best: dict[str, list[float]] = {}
        for link in self.links:
            of = known.get(link.table.lower())
            if of is None and any(
                key.table.lower() == link.table.lower() for key in table.foreign_keys
            ):
                of = table  # `singer_in_concert` stands for the singers that are not there
            if of is not None and not any(link.column in key.columns for key in of.foreign_keys):
                scores = best.setdefault(link.word, [0.0, 0.0])
                scores[of is not table] = max(scores[of is not table], link.score)
        return any(own > theirs and theirs < SAID for own, theirs in best.values())

    @property
    def share_missing(self) -> float:
        """Of the content words; 0 where there are none."""
        return len(self.missing) / len(self.words) if self.words else 0.0


def to_phrase(name: str) -> str:
    """A name as words: `Song_release_year` and `songReleaseYear` are `song release year`."""
    return " ".join(part.lower() for part in _HUMP.split(name) if part)


def extract_content_words(question: str) -> list[str]:
    """The words that say what a question is about, each once: not those that only ask, count or
    sort.
    """
    found: list[str] = []
    for piece in re.split(r"([\u3400-\u9fff]+)", QUOTED.sub(" ", question)):
        if re.match(r"[\u3400-\u9fff]", piece):
            found += [word for word, _ in tag_words(piece) if word not in ASKS_ZH and len(word) > 1]
        else:
            found += [
                word.lower()
                for word in _LATIN.findall(piece)
                if len(word) > 1 and not _is_asking_word(word, question)
            ]
    return list(dict.fromkeys(found))[:MOST_WORDS]


def _is_asking_word(word: str, question: str) -> bool:
    """A word that only asks; IT and US in capitals are names, unless everything is in capitals."""
    return word.lower() in ASKS_EN and not (word.isupper() and not _is_all_capitals(question))


def _is_all_capitals(question: str) -> bool:
    """Everything is in capitals; beside Chinese, which has none, IT is a name."""
    return question.isupper() and not re.search(r"[\u3400-\u9fff]", question)


def is_thing(word: str) -> bool:
    """Whether a word that stands for nothing in the schema speaks against it: a noun does, what is
    done with it does not.
    """
    if word.isascii():
        return not word.endswith(("ing", "ed"))
    return any(tag.startswith(_THINGS) and tag not in _NAMES for _, tag in tag_words(word))


async def link_question(
    question: str, schema: Schema, embedder: Embedder, terms: Sequence[str] = ()
) -> Linked:
    """`terms`: words of the user's glossary, which are known whatever they are called in the
    schema.
    """
    values = find_stored_values(question, schema)
    taken = {
        word
        for value in values
        for word in [*extract_content_words(value.value), value.value.casefold()]
    }
    known = {
        word
        for term in terms
        if term.casefold() in question.casefold()
        for word in extract_content_words(term)
    }
    words = [
        word for word in extract_content_words(question) if word not in taken and word not in known
    ]
    targets = _list_targets(schema)
    by_meaning, nearest = await _score_by_meaning(words, targets, embedder)
    scores = np.maximum(_score_by_letters(words, targets), by_meaning)
    links = [
        Link(word, targets[at][0], targets[at][1], round(float(scores[row, at]), 3))
        for row, word in enumerate(words)
        for at in np.flatnonzero(scores[row] > 0)
    ]
    linked = {each.word for each in links}
    missing = tuple(
        word for word in words if word not in linked and word not in GENERIC and is_thing(word)
    )
    leaning = [
        (word, targets[at][0])
        for word, at in zip(words, nearest, strict=False)
        if word not in linked | GENERIC
    ]
    shown = (*words, *sorted(taken & set(extract_content_words(question))))
    return Linked(tuple(links), tuple(values), missing, shown, tuple(leaning))


def find_stored_values(question: str, schema: Schema) -> list[Found]:
    """Stored values whose letters stand in the question, the longest first; of one that holds
    another only the longer.
    """
    text = " ".join(question.casefold().split())
    found = [
        Found(table.name, column.name, value)
        for table in schema.tables
        for column in table.columns
        for value in column.values
        if column.kind == "text" and (_is_in_text(value, text) or _is_in_capitals(value, question))
    ]
    found.sort(key=lambda each: -len(each.value))
    kept: list[Found] = []
    for each in found:
        inside = [
            other
            for other in kept
            if each.value != other.value and each.value.casefold() in other.value.casefold()
        ]
        if not inside or text.count(each.value.casefold()) > len({other.value for other in inside}):
            kept.append(each)
    return kept


def _is_in_capitals(value: str, question: str) -> bool:
    """IT, HR, US: words that would only ask in small letters."""
    own = (
        value.isascii()
        and value.isupper()
        and len(value) > 1
        and value.lower() in ASKS_EN
        and not _is_all_capitals(question)
    )
    return (
        own
        and re.search(rf"(?<![A-Za-z0-9]){re.escape(value)}(?![A-Za-z0-9])", question) is not None
    )


def _is_in_text(value: str, text: str) -> bool:
    folded = " ".join(value.casefold().split())
    if (
        not folded
        or len(folded) > LONGEST_VALUE
        or folded in ASKS_EN
        or folded in ASKS_ZH
        or folded not in text
    ):
        return False
    if re.search(r"[\u3400-\u9fff]", folded):
        return len(folded) > 1
    if len(folded) < 2 and not folded.isalpha():
        return False
    if folded.replace(".", "").isdigit():
        return False  # a figure may be of any column
    return re.search(rf"(?<![a-z0-9]){re.escape(folded)}(?:s|es)?(?![a-z0-9])", text) is not None


def _list_targets(schema: Schema) -> list[tuple[str, str, str]]:
    """(table, column or empty, words) of everything that has a name; a comment counts as part of
    it.
    """
    return [
        (table.name, column.name if column else "", _get_words(column or table))
        for table in schema.tables
        for column in [None, *table.columns]
    ]


def _get_words(named: Table | Column) -> str:
    name = " ".join(
        SHORT.get(word, word) for word in to_phrase(named.name.rpartition(".")[2]).split()
    )
    return f"{name} {named.comment.lower()[:80]}".strip()


def _score_by_letters(words: Sequence[str], targets: Sequence[tuple[str, str, str]]) -> Vector:
    scores = np.zeros((len(words), len(targets)), np.float32)
    stems = [_stem_words(text) for _, _, text in targets]
    for row, word in enumerate(words):
        own = _stem_words(word)
        for at, theirs in enumerate(stems):
            if own and own <= theirs:
                scores[row, at] = 0.6 + 0.4 / len(theirs)
            elif own and any(_is_part_of(one, other) for one in own for other in theirs):
                scores[row, at] = 0.5
    return scores


def _is_part_of(word: str, name: str) -> bool:
    """`town` of `hometown`: an English word that a longer one begins or ends with."""
    long_enough = word.isascii() and len(word) >= 4 and len(name) >= len(word) + 3
    return long_enough and (name.startswith(word) or name.endswith(word))


@cache
def _stem_words(text: str) -> frozenset[str]:
    return frozenset(tokenize_query(text))


async def _score_by_meaning(
    words: Sequence[str], targets: Sequence[tuple[str, str, str]], embedder: Embedder
) -> tuple[Vector, Sequence[int]]:
    """0 where the nearest name does not stand out; else how much it does, up to 1. And which name
    is nearest to each word.
    """
    if not words or len(targets) < 2:
        return np.zeros((len(words), len(targets)), np.float32), []
    texts = [text for _, _, text in targets]
    names = await _embed_texts(list(dict.fromkeys(texts)), embedder)
    asked = await _embed_texts(words, embedder)
    theirs = np.stack([names[text] for text in texts])
    cosines = np.stack([asked[word] for word in words]) @ theirs.T
    common = np.stack(list((await _embed_texts(COMMON, embedder)).values())).mean(axis=0)
    # some words and some names are near everything: that is taken out, measured on names that most
    # tables might have
    own = np.stack([asked[word] for word in words]) @ common
    hub = theirs @ common
    above = cosines - own[:, None] - HUB * (hub - float(hub.mean()))[None, :]
    best = above.max(axis=1, keepdims=True)
    close = (above >= STANDS_OUT) & (above >= best - 0.01)
    scores = np.clip(0.5 + 0.5 * (above - STANDS_OUT) / (SURE - STANDS_OUT), 0.0, 1.0)
    return np.where(close, scores, 0.0).astype(np.float32), above.argmax(axis=1).tolist()


async def measure_salience(words: Sequence[str], schema: Schema, embedder: Embedder) -> list[float]:
    """How much nearer in meaning each word is to one name of the schema than to its names at large
    (cosine). A Chinese word is near to all Chinese names, whatever they mean: that it is near says
    nothing, only that one of them stands out.
    """
    texts = [text for _, _, text in _list_targets(schema)]
    if not words or len(texts) < 2:
        return [0.0] * len(words)
    names, asked = (
        await _embed_texts(list(dict.fromkeys(texts)), embedder),
        await _embed_texts(words, embedder),
    )
    theirs = np.stack([names[text] for text in texts])
    hub = theirs @ np.stack(list((await _embed_texts(COMMON, embedder)).values())).mean(axis=0)
    near = (
        np.stack([asked[word] for word in words]) @ theirs.T
        - HUB * (hub - float(hub.mean()))[None, :]
    )
    found: list[float] = (near.max(axis=1) - near.mean(axis=1)).tolist()
    return found


async def _embed_texts(texts: Sequence[str], embedder: Embedder) -> dict[str, Vector]:
    """Vectors of short texts, kept for the next question."""
    new = [text for text in texts if (embedder.name, text) not in _vectors]
    if new:
        for text, vector in zip(new, await embedder.passages(new), strict=True):
            _vectors[(embedder.name, text)] = vector
    found = {text: _vectors[(embedder.name, text)] for text in texts}
    while len(_vectors) > KEPT:
        _vectors.popitem(last=False)
    return found
