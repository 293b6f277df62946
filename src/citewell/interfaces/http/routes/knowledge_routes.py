"""`/api/knowledge`: what people have confirmed and corrected: list, read, vouch for, undo, review.
Whoever changes something is named, and that is kept with it.
"""

from __future__ import annotations

import time
from typing import Literal

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field

from citewell.config import Settings
from citewell.interfaces.http.body import Closed, JSONRoute
from citewell.interfaces.http.deps import Admin, Asking, Citewell, Reviewer
from citewell.interfaces.http.description import describe_replies
from citewell.runtime.access_scope import require_role
from citewell.service.knowledge import review_knowledge as service
from citewell.service.knowledge.clean_up import Cleaned
from citewell.service.knowledge.clean_up import collect_garbage as clean
from citewell.service.knowledge.conflicts import Disagreement
from citewell.service.knowledge.conflicts import list_conflicts as all_conflicts
from citewell.service.knowledge.recheck import Checked, check_all
from citewell.store.confirmed.items import Logged
from citewell.store.confirmed.types import Confirmed, Rule, compute_weight

router = APIRouter(prefix="/api/knowledge", tags=["knowledge"], route_class=JSONRoute)


class Weighed(Confirmed):
    """`weight`: how much it counts beside another (docs/confirmed.md)."""

    weight: float


class ConfirmedList(BaseModel):
    confirmed: list[Weighed]


class ConfirmedWithHistory(Weighed):
    history: list[Logged]


class RuleList(BaseModel):
    rules: list[Rule]


class RuleWithHistory(Rule):
    history: list[Logged]


class Who(Closed):
    user_id: str = "local"


class Review(Who):
    state: Literal["active", "rejected", "undone"]
    reason: str = Field("", max_length=service.LONGEST_REASON)


@router.get("/confirmed")
async def list_confirmed(
    app: Citewell,
    state: str | None = None,
    source: str | None = None,
    collection: str | None = None,
) -> ConfirmedList:
    """Newest first."""
    items = await service.list_items(app, state=state, source=source, collection=collection)
    return ConfirmedList(
        confirmed=[
            Weighed(**item.model_dump(), weight=_compute_weight(app.settings, item))
            for item in items
        ]
    )


@router.get("/confirmed/{item_id}")
async def get_confirmed(item_id: str, app: Citewell) -> ConfirmedWithHistory:
    """With who did what to it, and when."""
    item = await service.get_item(app, item_id)
    history = await service.get_history(app.db, item_id)
    return ConfirmedWithHistory(
        **item.model_dump(), weight=_compute_weight(app.settings, item), history=history
    )


@router.delete("/confirmed/{item_id}")
async def undo_confirmed(
    item_id: str, app: Citewell, caller: Reviewer, reason: str = ""
) -> Confirmed:
    """Take it out of search and use; its row stays as history."""
    return await service.undo_item(app, item_id, caller.user_id, reason)


@router.post("/confirmed/{item_id}/confirm", operation_id="confirm_item")
async def confirm(
    item_id: str, app: Citewell, caller: Reviewer, body: Who | None = None
) -> Confirmed:
    """Stand by an item that waits for more people, or that was set aside."""
    return await service.endorse_item(app, item_id, caller.of(body) if body else caller.user_id)


@router.get(
    "/confirmed/{item_id}/document",
    response_class=Response,
    responses={200: describe_replies("text/markdown")},
    operation_id="get_confirmed_document",
)
async def get_document(item_id: str, app: Citewell) -> Response:
    """The Markdown document, as it is kept under `knowledge/confirmed_qa`; 404 where the item is
    not active.
    """
    return Response(
        await service.get_item_document(app, item_id), media_type="text/markdown; charset=utf-8"
    )


@router.get("/rules")
async def list_rules(app: Citewell, state: str | None = None) -> RuleList:
    """Those that wait for review first."""
    return RuleList(rules=await service.list_rules(app, state))


@router.get("/rules/{rule_id}")
async def get_rule(rule_id: str, app: Citewell) -> RuleWithHistory:
    """With who did what to it, and when."""
    rule = await service.get_rule(app, rule_id)
    return RuleWithHistory(**rule.model_dump(), history=await service.get_history(app.db, rule_id))


@router.post("/rules/{rule_id}")
async def review_rule(rule_id: str, body: Review, app: Citewell, caller: Asking) -> Rule:
    """Approve, reject or undo a correction. Its author may undo it; the rest is for reviewers."""
    if body.state != "undone":
        require_role(app, "reviewer", "to review corrections")
    return await service.review_rule(app, rule_id, body.state, caller.of(body), body.reason)


class Conflicts(BaseModel):
    conflicts: list[Disagreement]


class CheckWish(Closed):
    """`source` None: all tables and all documents."""

    source: str | None = None


class Checks(BaseModel):
    checked: list[Checked]


class CleanWish(Closed):
    dry_run: bool = True


@router.get("/conflicts")
async def list_conflicts(app: Citewell, _: Reviewer) -> Conflicts:
    """Confirmed answers that answer one question in two ways, side by side."""
    return Conflicts(conflicts=await all_conflicts(app))


@router.post("/check", operation_id="check_knowledge")
async def check(app: Citewell, _: Admin, wish: CheckWish | None = None) -> Checks:
    """Run confirmed statements again and look up what confirmed answers quote."""
    return Checks(checked=await check_all(app, wish.source if wish else None))


@router.post("/gc", operation_id="clean_knowledge")
async def gc(app: Citewell, _: Admin, wish: CleanWish | None = None) -> Cleaned:
    """Clean up; unless `dry_run` is false, only what would go is told."""
    return await clean(app, dry_run=wish.dry_run if wish else True)


def _compute_weight(settings: Settings, item: Confirmed) -> float:
    return compute_weight(item, time.time(), settings.feedback.half_life_days)
