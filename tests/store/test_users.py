"""Users, tokens, sessions of the page as rows: what is kept, what is refused, what ends."""

from __future__ import annotations

import asyncio
import logging

import pytest
from sqlalchemy import text

from citewell.errors import Conflict, InvalidInput, NotFound
from citewell.store.db import Database
from citewell.store.users.access_tokens import hash_secret
from citewell.store.users.sign_ins import SIGN_INS, Lifetime, compute_csrf_token
from citewell.store.users.user_rows import list_reviewers
from citewell.store.users.users import Users

LIFE = Lifetime(1_000, 100)
NAMES_LIKE_MORE = [
    "-rf",
    "request_id=1",
    "a=b",
    '"q"',
    "a'b",
    "$HOME",
    "a:b",
    "a,b",
    "..",
    ".a",
    "@a",
    "_a",
    "a\u200bb",
    "<b>",
]


class Clock:
    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def users(db: Database, clock: Clock) -> Users:
    return Users(db, clock)


async def test_add_list_and_change(db: Database, users: Users) -> None:
    await users.add("Ann", "admin")
    await users.add("王伟", "reader")
    assert [(user.user_id, user.role, user.tokens) for user in await users.list()] == [
        ("Ann", "admin", 0),
        ("王伟", "reader", 0),
    ]
    assert (await users.set_role("王伟", "reviewer")).role == "reviewer"
    assert set(await db.read(list_reviewers)) == {"Ann", "王伟"}
    await users.make_token("Ann")
    assert (await users.get("Ann")).tokens == 1


@pytest.mark.parametrize(
    "name",
    ["", " ", "a b", "a/b", "a\\b", "a\tb", "x" * 65, "a\x00", "\u202eann", *NAMES_LIKE_MORE],
)
async def test_names_that_are_none(users: Users, name: str) -> None:
    with pytest.raises(InvalidInput):
        await users.add(name, "reader")


@pytest.mark.parametrize(
    "name", ["a", "7", "ann.b_c-d@example.com", "王伟", "Зоя", "प्रिया", "e\u0301va", "x" * 64]
)
async def test_names_of_any_script(users: Users, name: str) -> None:
    assert (await users.add(name, "reader")).role == "reader"


async def test_a_name_of_before_stays_usable(db: Database, users: Users) -> None:
    """What may be chosen now says nothing of who is there already."""
    query = text(
        "INSERT INTO users (user_id, person, role, created_at) VALUES ('a=b', 'a=b', 'reader', 1)"
    )
    await db.write(lambda connection: connection.execute(query) and None)
    token = await users.make_token("a=b")
    assert (await users.set_role("a=b", "editor")).user_id == "a=b"
    holder = await users.holder(token.token)
    assert holder is not None
    assert holder.user_id == "a=b"
    assert len(await users.revoke_all("a=b")) == 1
    await users.remove("a=b")


async def test_revoke_all(users: Users) -> None:
    """In one step, of this user only, also while others revoke one by one; each that went is told,
    once.
    """
    await users.add("ann", "reader")
    await users.add("bob", "reader")
    tokens = [(await users.make_token("ann")).info.token_id for _ in range(21)]
    other = (await users.make_token("bob")).info
    all_of_hers = asyncio.create_task(users.revoke_all("ann"))
    singly = await asyncio.gather(*(_revoked(users, each) for each in tokens[:2]))
    gone = [each.token_id for each in await all_of_hers]
    assert sorted([*gone, *singly[0], *singly[1]]) == sorted(tokens)
    assert await users.tokens("ann") == []
    assert await users.tokens("bob") == [other]
    assert await users.revoke_all("ann") == []
    with pytest.raises(NotFound):
        await users.revoke_all("nobody")


async def _revoked(users: Users, token_id: str) -> list[str]:
    try:
        return [(await users.revoke_token(token_id)).token_id]
    except NotFound:
        return []


async def test_a_look_is_no_use(users: Users, clock: Clock) -> None:
    """Who only looks whether somebody is still let in keeps neither a token fresh nor a session
    alive.
    """
    await users.add("ann", "reader")
    made = await users.make_token("ann")
    assert await users.holder(made.token, note=False)
    assert (await users.tokens("ann"))[0].used_at == 0
    secret = await users.sign_in(made.info.token_id)
    for _ in range(3):
        clock.now += 40
        there = await users.find_session_holder(secret, LIFE, note=False)
    assert there is None


async def test_whose_word_is_everybodys(db: Database, users: Users) -> None:
    """A reviewer with a token that stands in a page is none: neither what comes through it counts,
    nor what came before.
    """
    await users.add("guest", "reader")
    widget = await users.make_token("guest", scope="widget", bound="collection:help")
    await users.set_role("guest", "reviewer")
    assert await db.read(list_reviewers) == ()
    await users.revoke_token(widget.info.token_id)
    assert await db.read(list_reviewers) == ("guest",)


@pytest.mark.parametrize("same", ["ann", "ANN", " Ann ", "Ａｎｎ"])
async def test_one_person_one_user(users: Users, same: str) -> None:
    """Two spellings of a name would be told apart by nobody who reads a list."""
    await users.add("Ann", "reader")
    with pytest.raises(Conflict, match="Ann exists already"):
        await users.add(same, "admin")


async def test_what_is_unknown(users: Users) -> None:
    with pytest.raises(InvalidInput, match="unknown role"):
        await users.add("ann", "owner")
    for wanted in (
        users.get("nobody"),
        users.tokens("nobody"),
        users.remove("nobody"),
        users.make_token("nobody"),
    ):
        with pytest.raises(NotFound):
            await wanted
    await users.add("ann", "reader")
    await users.add("bob", "reader")
    token = (await users.make_token("ann")).info
    for refused in (users.revoke_token("tok_none"), users.revoke_token(token.token_id, "bob")):
        with pytest.raises(NotFound):
            await refused
    assert await users.tokens("ann") == [token]


async def test_the_last_admin_stays(users: Users) -> None:
    await users.add("ann", "admin")
    await users.add("bob", "reader")
    for wanted in (users.remove("ann"), users.set_role("ann", "editor")):
        with pytest.raises(Conflict, match="only admin"):
            await wanted
    await users.set_role("bob", "admin")
    await users.set_role("ann", "editor")
    await users.remove("ann")
    await users.remove("bob")  # nobody is left who would need one
    assert await users.list() == []


async def test_tokens_are_kept_as_hashes(db: Database, users: Users, clock: Clock) -> None:
    """A token is found by its hash only, and its use is written down once a minute at most."""
    await users.add("ann", "editor")
    made = await users.make_token("ann", "laptop")
    row = (await db.read(lambda c: c.execute(text("SELECT * FROM tokens")).mappings().all()))[0]
    assert made.token not in map(str, row.values())
    assert row["sha256"] == hash_secret(made.token)
    assert len(made.token) == 3 + 43
    holder = await users.holder(made.token)
    assert holder is not None
    assert (holder.user_id, holder.role, holder.token_id) == ("ann", "editor", made.info.token_id)
    for wrong in (
        "",
        "cw_",
        made.token[:-1],
        made.token + "x",
        made.token.upper(),
        hash_secret(made.token),
        "\ud800",
    ):
        assert await users.holder(wrong) is None
    used = []
    for seconds in (0, 30, 40):
        clock.now += seconds
        await users.holder(made.token)
        await users.settle()
        used.append((await users.tokens("ann"))[0].used_at - 1_000_000)
    assert used == [0, 0, 70]


async def test_a_token_runs_out(users: Users, clock: Clock) -> None:
    await users.add("ann", "editor")
    made = await users.make_token("ann", days=1)
    secret = await users.sign_in(made.info.token_id)
    clock.now += 86_399
    assert await users.holder(made.token)
    clock.now += 1
    assert await users.holder(made.token) is None
    assert await users.find_session_holder(secret, Lifetime(1e9, 1e9)) is None
    assert (await users.get("ann")).tokens == 0


async def test_sessions_of_the_page(db: Database, users: Users, clock: Clock) -> None:
    """They end without use, and at last in use; those that have ended leave no row; two are two."""
    await users.add("ann", "editor")
    token = (await users.make_token("ann")).info.token_id
    idle, used = await users.sign_in(token), await users.sign_in(token)
    assert compute_csrf_token(idle) != compute_csrf_token(used) != used
    alive = []
    for _ in range(11):
        clock.now += 90
        alive.append(await users.find_session_holder(used, LIFE) is not None)
    assert alive == [True] * 11
    assert await users.find_session_holder(idle, LIFE) is None
    clock.now += 10
    assert await users.find_session_holder(used, LIFE) is None
    left = await users.sign_in(token)
    await users.forget_ended(LIFE)
    assert (
        await db.read(lambda c: c.execute(text("SELECT count(*) FROM sign_ins")).scalar_one()) == 1
    )
    await users.sign_out("nothing")
    await users.sign_out(left)
    assert await users.find_session_holder(left, LIFE) is None


async def test_a_clock_that_leaps_signs_nobody_out_for_good(users: Users, clock: Clock) -> None:
    await users.add("ann", "editor")
    secret = await users.sign_in((await users.make_token("ann")).info.token_id)
    await users.forget_ended(LIFE)
    for leap, there in ((30 * 86_400, False), (-30 * 86_400, True)):
        clock.now += leap
        await users.forget_ended(LIFE)
        assert (await users.find_session_holder(secret, LIFE) is not None) == there


async def test_what_ends_with_a_user(db: Database, users: Users) -> None:
    await users.add("ann", "editor")
    await users.sign_in((await users.make_token("ann")).info.token_id)
    await users.remove("ann")
    for table in ("users", "tokens", "sign_ins"):
        query = text(f"SELECT count(*) FROM {table}")  # names of ours
        assert await db.read(lambda c, query=query: c.execute(query).scalar_one()) == 0  # type: ignore[misc]  # bound now


async def test_a_user_and_their_token_are_both_there_or_neither(users: Users) -> None:
    """The first is an admin, also where several come at once; what is refused has left nothing."""
    for name in ("x" * 65, "a\u202eb"):
        with pytest.raises(InvalidInput, match="token name"):
            await users.add_with_token("ann", name=name)
    assert await users.list() == []
    added = await asyncio.gather(*(users.add_with_token(name) for name in ("ann", "bob", "eve")))
    assert sorted(user.role for user, _ in added) == ["admin", "reader", "reader"]
    assert [user.tokens for user, _ in added] == [1, 1, 1]
    for user, made in added:
        holder = await users.holder(made.token)
        assert holder is not None
        assert (holder.user_id, holder.role) == (user.user_id, user.role)
    with pytest.raises(Conflict, match="ann exists"):
        await users.add_with_token("Ann")
    assert (await users.get("ann")).tokens == 1


async def refuse_uses(db: Database, *, refuse: bool = True) -> None:
    """As if the disk had no room: the database takes no date of a use."""
    full = "BEGIN SELECT RAISE(ABORT, 'full'); END"
    for table, unused in (("tokens", "0"), ("sign_ins", "created_at")):
        made, dropped = (
            f"CREATE TRIGGER {table}_full BEFORE UPDATE ON {table} {full}",
            f"DROP TRIGGER {table}_full",
        )
        if db.dialect == "postgresql":
            made, dropped = (
                f"ALTER TABLE {table} ADD CONSTRAINT {table}_full CHECK (used_at = {unused})",
                f"ALTER TABLE {table} DROP CONSTRAINT {table}_full",
            )
        query = made if refuse else dropped
        await db.write(lambda connection, query=query: connection.exec_driver_sql(query) and None)  # type: ignore[misc]  # bound now


async def test_a_full_disk_keeps_nobody_out(
    db: Database, users: Users, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    """By token and by cookie, for as long as it is full, also past the time after which an unused
    session ends; the disk is tried once a minute. When there is room again, the dates are written,
    of the session that nobody used too: that one ends.
    """
    caplog.set_level(logging.WARNING, "citewell.store.users.token_uses")
    await users.add("ann", "reader")
    made = await users.make_token("ann")
    secret, unused = (
        await users.sign_in(made.info.token_id),
        await users.sign_in(made.info.token_id),
    )
    await refuse_uses(db)
    clock.now += 70
    for _ in range(12):
        assert await users.holder(made.token)
        assert await users.find_session_holder(secret, LIFE)
        await users.settle()
        clock.now += 15
    assert (
        2
        <= [record.name for record in caplog.records].count("citewell.store.users.token_uses")
        <= 4
    )
    assert (await users.tokens("ann"))[0].used_at == 0
    await refuse_uses(db, refuse=False)
    await users.forget_ended(LIFE)
    assert await users.find_session_holder(secret, LIFE)
    assert await users.find_session_holder(unused, Lifetime(1e9, 1e9)) is None
    clock.now += 61
    assert await users.holder(made.token)
    await users.settle()
    assert (await users.tokens("ann"))[0].used_at == clock.now


async def test_who_comes_in_does_not_wait_for_a_writer(
    db: Database, users: Users, clock: Clock
) -> None:
    """A use is written when the other writer is through; until then it is known all the same."""
    await users.add("ann", "reader")
    made = await users.make_token("ann")
    secret = await users.sign_in(made.info.token_id)
    clock.now += 90
    async with asyncio.timeout(120), db._writing:
        assert await users.holder(made.token)
        assert await users.find_session_holder(secret, LIFE)
        clock.now += 90
        assert await users.find_session_holder(secret, LIFE)
    await users.settle()
    assert (await users.tokens("ann"))[0].used_at == clock.now - 90
    seen = await db.read(lambda c: c.execute(text("SELECT used_at FROM sign_ins")).scalar_one())
    assert seen == clock.now


async def test_the_newest_sign_ins_stay(db: Database, users: Users) -> None:
    """Of one token, all of one moment; another's are not counted."""
    for name in ("ann", "bob"):
        await users.add(name, "reader")
    hers, his = (
        (await users.make_token("ann")).info.token_id,
        (await users.make_token("bob")).info.token_id,
    )
    other = await users.sign_in(his)
    secrets = [await users.sign_in(hers) for _ in range(SIGN_INS + 3)]
    there = [await users.find_session_holder(each, LIFE) is not None for each in secrets]
    assert there == [False] * 3 + [True] * SIGN_INS
    assert await users.find_session_holder(other, LIFE)
    count = await db.read(lambda c: c.execute(text("SELECT count(*) FROM sign_ins")).scalar_one())
    assert count == SIGN_INS + 1
