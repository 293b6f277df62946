"""Where sentences end, how tokens are counted, which language a text is in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.timing import cpu_seconds, grows_within

from citewell.text.language import estimate_tokens, get_line_joiner
from citewell.text.sentences import count_tokens, detect_language, split_sentences


def cut(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


@pytest.mark.parametrize(
    "expected",
    [
        [
            "Mr. Smith met Dr. J. K. Rowling in the U.S. Army.",
            "He paid $3.14 for No. 5, e.g. Fig. 2 by Lee et al. (2019).",
            "Fine.",
        ],
        ["We live in the U.S.", "The law is clear.", "Plan B.", "It works."],
        [
            "See www.example.com/a?b=1&c=2.html for v1.2.3 of it.",
            "Next!",
            "Really?!",
            '"Go!" he said.',
            '"Go."',
            "Then.",
        ],
        [
            "He waited... and waited...",
            "Then (see Fig. 3.) it came.[12]",
            "No.",
            "I mean p. 5.",
            "Why?",
        ],
        [
            "她问：“为什么？”",
            "他没有回答……",
            "后来（见图1。）",
            "结束；",
            "完了！",
            "真的吗？！",
            "是。",
        ],
        ["版本 v1.2.3 在 https://a.b/c?d=1 发布。", "价格是3.14元.", "对"],
        ["他说。", '"你好。"', "再见。"],
        ["“好！”，他说。", "走。"],
    ],
)
def test_ends_inside_a_line(expected: list[str]) -> None:
    """Ends are found in running text of both languages, and not at abbreviations, numbers, initials
    or addresses.
    """
    joint = "" if any(ord(char) > 0x2E80 for char in expected[0]) else " "
    assert cut(joint.join(expected)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1. First item\n2. Second item", ["1. First item", "2. Second item"]),
        (
            "- a\n* b\n• c\n（一）总则\n（二）细则\n三、附则",
            ["- a", "* b", "• c", "（一）总则", "（二）细则", "三、附则"],
        ),
        ("a | b\n1 | 2", ["a | b", "1 | 2"]),
        ("备注: 请勿使用。请致电。 | 价格: 5\nb", ["备注: 请勿使用。请致电。 | 价格: 5", "b"]),
        (
            "Weight: 120 kg\nColour: red\n速度：快速的\nand so",
            ["Weight: 120 kg", "Colour: red", "速度：快速的\nand so"],
        ),
        ("# Title\nText goes on\nhere.", ["# Title", "Text goes on\nhere."]),
        (
            "A heading\nThe text below it is much longer than it is.",
            ["A heading", "The text below it is much longer than it is."],
        ),
        (
            "A soft-wrapped line that goes\non. And ends.\n\nNew",
            ["A soft-wrapped line that goes\non.", "And ends.", "New"],
        ),
        (
            "第一章 总则\n本法适用于所有的人\n　　新段落",
            ["第一章 总则", "本法适用于所有的人", "新段落"],
        ),
        ("x = 1;\ny = 2;\n", ["x = 1;", "y = 2;"]),
        ("lto = false\npanic='unwind'\nand so", ["lto = false", "panic='unwind'\nand so"]),
        ("one\r\n\r\ntwo", ["one", "two"]),
    ],
)
def test_line_breaks(text: str, expected: list[str]) -> None:
    """A blank line, a list item, a heading or a table row ends a sentence; a soft-wrapped line does
    not.
    """
    assert cut(text) == expected


def check_spans(text: str) -> None:
    last = 0
    for start, end in split_sentences(text):
        assert last <= start < end
        assert text[start:end].strip() == text[start:end]
        assert not text[last:start].strip()
        last = end
    assert not text[last:].strip()


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t ",
        "。",
        "...",
        "a",
        '."."."',
        "\n.\n.\n",
        "，。；",
        "A.B.C. D",
        "(((",
        "\u3000中\u3000",
        "x\u2029y",
    ],
)
def test_spans_hold_everything(text: str) -> None:
    """Spans are in order, without white space at their ends, and nothing lies between them."""
    check_spans(text)
    check_spans(text * 7)


def test_spans_of_hostile_strings(shared_data: Path) -> None:
    """The same holds for the big list of naughty strings, each alone and all in one."""
    lines = (shared_data / "robustness" / "naughty_strings.jsonl").read_text("utf-8").split("\n")
    texts = [json.loads(line)["text"] for line in lines if line]
    for text in [*texts, "\n".join(texts), " ".join(texts)]:
        check_spans(text)


@pytest.mark.parametrize("unit", [".", ". ", '."', "。”", "a.b ", "\n", "-\n", "[1", "ab\n", "（"])
def test_time_grows_with_length_only(unit: str) -> None:
    """Ten times the hostile text takes about ten times as long, not a hundred."""

    def seconds(size: int) -> float:
        return cpu_seconds(lambda: split_sentences(unit * (size // len(unit))), tries=1)

    assert grows_within(seconds, 10_000, 100_000, factor=40)


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("", 0, 0),
        ("word", 1, 1),
        ("数据库系统", 3, 6),
        ("The quick brown fox jumps over the dog.", 8, 12),
        ("internationalisation", 4, 6),
    ],
)
def test_tokens(text: str, low: int, high: int) -> None:
    """A Chinese character counts for about one token, a short word for one, a long one for more."""
    assert low <= count_tokens(text) <= high


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("什么是 Retrieval Augmented Generation？", "zh"),
        ("What does 检索增强生成 mean?", "en"),
        ("请问 Debian 的 apt-get upgrade 和 dist-upgrade 有什么区别", "zh"),
        ("資料庫是什麼", "zh"),
        ("12345", "en"),
        ("数据库", "zh"),
        ("The database. " * 5000 + "数据库", "en"),
        (
            (
                "据新华社北京电，中国女足以三比二战胜韩国队，时隔十六年再次夺得亚洲杯冠军，"
                "全队赛后振臂高呼。It is of the owner."
            ),
            "zh",
        ),
    ],
)
def test_language(text: str, expected: str) -> None:
    """Small words decide, then characters against words; of a Chinese passage a notice in English
    decides nothing.
    """
    assert detect_language(text) == expected


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("数据", "库", ""),
        ("a", "b", " "),
        ("用 apt", "安装", " "),
        ("。", "A", ""),
        ("a ", "b", ""),
    ],
)
def test_seam(left: str, right: str, expected: str) -> None:
    """Lines join without a space between Chinese characters, with one between Latin words."""
    assert get_line_joiner(left, right) == expected


@pytest.mark.parametrize(
    "text", ["《CDTV×Sacas！》节目中第一次演唱。", "《卡拉OK.LIVE！‧台北‧我》的表现方式是什么？"]
)
def test_stops_inside_a_title_end_nothing(text: str) -> None:
    """A title keeps its own marks."""
    assert split_sentences(text) == [(0, len(text))]


def test_a_title_that_never_closes_ends_nothing_else() -> None:
    """An open bracket far away does not join sentences."""
    assert len(split_sentences("《开始。第二句。第三句。")) == 3


def test_plain_letters_weigh_as_among_others() -> None:
    """A text of ASCII alone is counted another way, and a long one in stretches, to the same
    weight.
    """
    plain = "It's 3.5% of v2.1 -- see \x1c (a_b); \x00 words, incomprehensibilities...\n\n" * 700
    assert estimate_tokens(plain) == pytest.approx(estimate_tokens(plain + "中") - 0.8)
