"""The open App as one user may see it. What is another user's is not there. The stores are
narrowed, not the functions that ask them, so that what is built on the App needs no thought of its
own about whose things are whose. Models, runs and background work stay shared.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from citewell.errors import NotAllowed
from citewell.messages import Text
from citewell.models.base import LLM, Embedder, Reranker
from citewell.models.reader_base import Reader
from citewell.retrieve.confidence import Calibration
from citewell.runtime.app import App, T, Viewer
from citewell.store.confirmed.types import Confirmed, Rule
from citewell.store.index.protocol import Index
from citewell.store.users.identity import normalize_user_id
from citewell.store.users.user_rows import ROLES, Role


class View(App):
    """Opens and closes nothing: it lives as long as a request, in the App that it is a view of."""

    def __init__(self, whole: App, viewer: Viewer) -> None:
        self.settings = whole.settings
        self.root, self.viewer = whole, viewer
        self.db, self.new_job, self.turns, self.running = (
            whole.db,
            whole.new_job,
            whole.turns,
            whole.running,
        )
        self.stopping = whole.stopping
        self.sessions, self.traces, self.memories, self.runs = (
            whole.sessions,
            whole.traces,
            whole.memories,
            whole.runs,
        )
        self.snapshots, self.sites, self.syncs, self.users, self.audit = (
            whole.snapshots,
            whole.sites,
            whole.syncs,
            whole.users,
            whole.audit,
        )
        self.folders, self.shares = whole.folders, whole.shares
        self.file_objects = whole.file_objects
        self.catalog = whole.catalog.restrict_to_viewer(viewer.user_id)
        self.collections = whole.collections.restrict_to_viewer(viewer.user_id)
        self.pending_chunks = whole.pending_chunks
        self.jobs = whole.jobs.restrict_to_viewer(viewer.user_id)
        self.sources = whole.sources.restrict_to_viewer(viewer.user_id)
        self.saved_questions = whole.saved_questions.restrict_to_viewer(viewer.user_id)
        self.boards = whole.boards.restrict_to_viewer(viewer.user_id)

    @property
    def llm(self) -> LLM | None:
        return self.root.llm

    @property
    def embedder(self) -> Embedder:
        return self.root.embedder

    @property
    def reader(self) -> Reader | None:
        return self.root.reader

    @property
    def judge_llm(self) -> LLM | None:
        return self.root.judge_llm

    @property
    def reranker(self) -> Reranker | None:
        return self.root.reranker

    @property
    def calibration(self) -> Calibration:
        return self.root.calibration

    def part(
        self, build: Callable[[App], T], close: Callable[[T], Awaitable[None]] | None = None
    ) -> T:
        return self.root.part(build, close)

    @property
    def index(self) -> Index:
        return self.root.index


def get_user_view(app: App, user_id: str, role: Role) -> App:
    """The App for a request of this user: all of it for an admin."""
    return app.root if role == "admin" else View(app.root, Viewer(user_id, role))


def is_role_at_least(role: Role, needed: Role) -> bool:
    """Whether a role may do what this one may."""
    return ROLES.index(role) >= ROLES.index(needed)


def require_role(app: App, role: Role, what: str) -> None:
    """Raises NotAllowed where the one who looks has a lesser role."""
    if app.viewer is not None and not is_role_at_least(app.viewer.role, role):
        raise make_role_error(app.viewer.user_id, app.viewer.role, role, what)


def make_role_error(user_id: str, has: Role, needed: Role, what: str) -> NotAllowed:
    hint = Text(
        "ask an admin of this server: citewell user role {user_id} {needed}",
        user_id=user_id,
        needed=needed,
    )
    return NotAllowed(
        Text(
            "{what} takes the role {needed}; {user_id} is {has}",
            what=what,
            needed=needed,
            user_id=user_id,
            has=has,
        ),
        hint=hint,
    )


def has_visible_owner(app: App, item: Confirmed | Rule) -> bool:
    """Whether what was confirmed or corrected rests on nothing that is another user's alone."""
    return app.viewer is None or item.owner in {"", app.viewer.user_id}


def is_shown(app: App, item: Confirmed | Rule) -> bool:
    """That, and it is in force, or somebody's to judge: a reviewer's, or theirs who said so."""
    if app.viewer is None or not has_visible_owner(app, item):
        return app.viewer is None
    said = (
        {each.user_id for each in item.confirmed_by}
        if isinstance(item, Confirmed)
        else {item.user_id}
    )
    return (
        item.state == "active"
        or is_role_at_least(app.viewer.role, "reviewer")
        or normalize_user_id(app.viewer.user_id) in said
    )
