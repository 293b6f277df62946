from __future__ import annotations
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from tests.website.conftest import Desk, Web


async def test_x(desk: Desk, shop: Web) -> None:
    desk.knows("Domestic orders may be returned within 14 days of delivery.")
    a = await desk.ask("Within how many days may domestic orders be returned?")
    print(a.model_dump_json(indent=1))
    for p in desk.visited: print(p)
    print(shop.asked[:3], shop.most)
    for s in desk.steps: print(s.node, s.action, s.seconds, s.detail)
    assert 0
