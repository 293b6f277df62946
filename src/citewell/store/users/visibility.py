"""What a user may see of what has an owner, as a condition of a statement."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Text, bindparam, or_


def may_see(owner: ColumnElement[str]) -> ColumnElement[bool]:
    """What is everybody's (an empty `owner`) and what is the user's whom the statement is told as
    `viewer`; None sees all.
    """
    viewer = bindparam("viewer", type_=Text)
    return or_(viewer.is_(None), owner == "", owner == viewer)
