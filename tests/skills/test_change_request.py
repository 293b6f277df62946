"""Who asks to change tables is told apart from who asks what was changed, by the built-in
embedder.
"""

from __future__ import annotations

import pytest

from citewell.config import Settings
from citewell.models.builtin.embedder import BuiltinEmbedder
from citewell.models.scripted import ScriptedEmbedder
from citewell.sql.question_kind import is_change_request


@pytest.mark.parametrize(
    ("change", "read"),
    [
        ("Delete all orders from 2021", "How many orders from 2021 are there?"),
        ("Kick Bob out of team 7", "Is Bob in team 7?"),
        ("Throw away the drafts", "Which drafts were thrown away?"),
        ("Switch the supplier of bolts to Acme", "Which supplier sells bolts?"),
        ("删除2021年的订单", "2021年有多少订单？"),
        ("把草稿扔掉", "哪些草稿被扔掉了？"),
        ("从1号账户转100元到2号账户", "从1号账户转了多少钱到2号账户？"),
    ],
)
async def test_a_change_is_told_from_a_question_about_it(change: str, read: str) -> None:
    embedder = BuiltinEmbedder(Settings())
    assert await is_change_request(change, embedder)
    assert not await is_change_request(read, embedder)


async def test_another_embedder_decides_nothing() -> None:
    assert not await is_change_request("Delete all orders", ScriptedEmbedder())
