"""What a user may see of what has an owner, as a condition of a statement."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Text, bindparam, or_


def may_see(owner: ColumnElement[str]) -> ColumnElement[bool]:
    """What is everybody's (empty `owner`) or the statement's `viewer`'s; None sees all."""
    viewer = bindparam("viewer", type_=Text)
    return or_(viewer.is_(None), owner == "", owner == viewer)
