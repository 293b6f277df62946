"""`/api/feedback`: people say that an answer is right or wrong. The reply comes before the work,
with its job.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from citewell.interfaces.http.body import Closed, JSONRoute
from citewell.interfaces.http.deps import Asking, Citewell, Reviewer
from citewell.service.knowledge import give_feedback as service
from citewell.service.knowledge.give_feedback import Given
from citewell.store.confirmed.feedback import Vote, Wrong

router = APIRouter(prefix="/api/feedback", tags=["feedback"], route_class=JSONRoute)


class NewFeedback(Closed):
    trace_id: str = Field(max_length=200)
    is_correct: bool
    user_correction: str | None = None
    user_id: str = "local"


class FeedbackList(BaseModel):
    feedback: list[Vote]


class WrongList(BaseModel):
    wrong: list[Wrong]


@router.post("", status_code=202)
async def give_feedback(body: NewFeedback, app: Citewell, caller: Asking) -> Given:
    """202: it is kept; `/api/jobs/{job_id}` and `/api/feedback/{feedback_id}` tell what becomes of
    it. An empty `job_id`: nothing has changed.
    """
    return await service.submit_feedback(
        app, body.trace_id, body.is_correct, body.user_correction, caller.of(body)
    )


@router.get("")
async def list_feedback(
    app: Citewell, caller: Asking, limit: Annotated[int, Query(ge=1, le=500)] = 100
) -> FeedbackList:
    """What a user has said, the newest first."""
    return FeedbackList(feedback=await service.list_feedback(app, caller.user_id, limit))


@router.get("/wrong", operation_id="list_wrong_questions")
async def wrong_questions(
    app: Citewell, _: Reviewer, limit: Annotated[int, Query(ge=1, le=500)] = 100
) -> WrongList:
    """Questions whose answers people said to be wrong, the most often first."""
    return WrongList(wrong=await service.list_wrong_questions(app, limit))


@router.get("/{feedback_id}")
async def get_feedback(feedback_id: str, app: Citewell, caller: Asking) -> Vote:
    """What somebody said, and what became of it."""
    return await service.get_feedback(app, feedback_id, caller.user_id)
