"""How text is cut into words."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from citewell.text.tokens import (
    LONGEST,
    MOST_QUERY_TOKENS,
    is_prefix,
    tokenize_for_index,
    tokenize_query,
)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("研究人员用量子计算", {"研究", "人员", "量子", "计算", "用量", "究人"}),
        ("鼹鼠", {"鼹鼠"}),
        ("Running RUNS runner's", {"run", "runner"}),
        ("Ｃａｆé ２０２４", {"cafe", "2024"}),
        ("14天", {"14", "14天", "天"}),
        ("14 天", {"14", "14天", "天"}),
        ("1,000,000元", {"1000000", "1000000元"}),
        ("3.5%", {"3.5%", "3.5"}),
        ("v2.1", {"v2.1", "2.1"}),
        ("2024-05-01", {"2024-05-01", "2024", "5", "1"}),
        ("2024年5月1日", {"2024", "5", "1", "2024年", "5月", "1日"}),
        ("A-100", {"a-100", "a100", "a", "100"}),
        ("GPT4", {"gpt4", "gpt", "4"}),
        ("C++ 和 C#", {"c++", "c#", "c"}),
        ("don’t", {"dont"}),
        ("me@example.com", {"me@example.com", "exampl", "com"}),
        ("東京タワー", {"東京", "京タ", "タワ"}),
        ("서울특별시", {"서울", "울특"}),
        ("😀", {"😀"}),
    ],
)
def test_index_tokens(text: str, tokens: set[str]) -> None:
    """Words, pairs, stems, numbers whole and in part."""
    assert tokens <= set(tokenize_for_index(text))


@pytest.mark.parametrize(
    ("question", "tokens"),
    [
        ("什么是量子计算？", ["量子", "计算", "子计"]),
        ("How do I get a refund?", ["get", "refund"]),
        ("the of", ["the", "of"]),
        ("是什么", ["什么", "是什"]),
        ("退款需要14天吗", ["退款", "14", "14天"]),
        ("光的速度", ["光", "速度"]),
        ("refund refunds REFUND", ["refund"]),
        ("?! … \0 \ud800", []),
    ],
)
def test_query_tokens(question: str, tokens: list[str]) -> None:
    """Each once; stop words only where there is nothing else; pairs do not reach over stop
    words.
    """
    assert tokenize_query(question) == tokens


@pytest.mark.parametrize(
    "text",
    [
        "研究人员用量子计算模拟分子",
        "Model A-100, v2.1 (2024-05-01) cost 3.5% in 14天",
        "東京タワー",
    ],
)
def test_a_text_finds_itself(text: str) -> None:
    """Whatever is asked for is indexed; a single character as the start of a token."""
    indexed = set(tokenize_for_index(text))
    for token in tokenize_query(text):
        assert token in indexed or (is_prefix(token) and any(t.startswith(token) for t in indexed))


def test_every_character_begins_a_token() -> None:
    """So a question of one Chinese character is answered by a prefix."""
    text = "研究人员用量子计算模拟分子"
    indexed = tokenize_for_index(text)
    assert all(any(token.startswith(character) for token in indexed) for character in text)


def test_endless_words_are_cut() -> None:
    """A token is at most 64 characters, a question at most 256 tokens, and neither takes long."""
    assert max(map(len, tokenize_for_index("x" * 10**6 + " " + "9" * 10**6))) <= LONGEST
    assert len(tokenize_query(" ".join(f"word{i}" for i in range(5000)))) == MOST_QUERY_TOKENS


def test_threads_agree() -> None:
    """Stemming in many threads at once gives what one gives."""
    texts = [f"running {i} studies 研究人员" for i in range(200)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(tokenize_for_index, texts)) == [
            tokenize_for_index(text) for text in texts
        ]


def test_plain_letters_are_cut_as_among_others() -> None:
    """A text of ASCII alone takes a shorter way to the same tokens."""
    plain = (
        "The A-100's 3.5% of v2.1: C++ is 1,000 miles_off; see x@y.org/a-b, 'n' e.g. 007 (ACME "
        "& co)."
    )
    assert tokenize_for_index(plain) == tokenize_for_index(plain + " ☀")[:-1]
