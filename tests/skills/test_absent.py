"""Names that a paper never mentions."""

from __future__ import annotations

import pytest

from citewell.skills.absent import absent

TEXT = (
    "CargoCast forecasts the reserve of cargo bikes in Rotterdam, Toronto and Graz. We use the Prover9 solver and GPT-4. "
    "Large language models are trained on Wiki-\npedia. Weather comes from Geosphere Austria."
)
ZH = "本文在上海和杭州的仓库中测试了HLR方法，与BM25和大模型重排比较。"


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("How many trips come from Hamburg?", ["Hamburg"]),
        ("How does CargoCast compare with TransformerXL in Oslo?", ["TransformerXL", "Oslo"]),
        ("How many trips come from Rotterdam?", []),
        ("What does cargocast forecast?", []),
        ("Is it trained on Wikipedia?", []),  # broken over two lines
        ("What do the Prover9s do?", []),  # a plural
        ("Was Roterdam included?", []),  # a typing error
        ("Did they use GPT4?", []),
        ("Which LLM is used?", []),  # an abbreviation that the paper writes in full
        ("Why Is The Utilised Approach Better Than Others?", []),  # written as a title
        ("Why is it better?", []),
        ("What does Figure 9 show? Answer in English, as JSON.", []),
        ("用了汉堡的数据吗？", []),  # a Chinese name may stand in the paper in English
        ("", []),
    ],
)
def test_names(question: str, missing: list[str]) -> None:
    assert absent(question, TEXT) == missing


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("在北京的仓库测试过吗？", ["北京"]),
        ("在上海的仓库测试过吗？", []),
        ("与ColBERT相比如何？", ["ColBERT"]),
        ("BM25效果如何？", []),
        ("Was it tested in Hamburg?", []),  # a translation may be there
    ],
)
def test_chinese(question: str, missing: list[str]) -> None:
    assert absent(question, ZH) == missing
