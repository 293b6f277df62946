from __future__ import annotations
import pytest, time
QS=[("How long does the warranty of a stove last?","The warranty of every stove lasts for ten years."),("国内订单签收后几天内可以退货？","国内订单在签收后十四天内可以退货。"),("How long is a gift card valid?","A gift card is valid for three years."),("Who leads the workshop?","Peter Osei"),
("When does the shop open?", "The shop opens at nine"),("What does a repair cost?", "A repair costs 250 kroner"),("How long does the cartridge of the bottle last?", "Its cartridge lasts for 300 litres."),("保修期多长？","所有炉具保修十年。"),("发票要在多少天内付清？","发票须在二十一天内付清。"),("How do I clean the glass?","Clean the glass with warm water"),("Who won the chess championship of 1972?","zzzzz"),("谁赢得了1972年的国际象棋冠军？","zzz")]
async def test_x(open_desk, shop):
    async with open_desk(embedder="builtin") as desk:
      for q,k in QS:
        desk.knows(k)
        b=len(shop.paths())
        t=time.time()
        a=await desk.ask(q, collection="c"+str(b))
        print("ANSWER",q,a.status,a.stop_reason,a.answer,shop.paths()[b:], time.time()-t)
        for s in desk.steps:
            if s.node.startswith("Agent"): print("   ",s.node,s.action,s.detail.get("confidence"),s.detail.get("evidence_log_odds"),[(l["url"][22:],l["score"],l["why"][:30]) for l in s.detail.get("links",[])[:5]])
    assert 0
