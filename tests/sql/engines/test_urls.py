"""How a database's URL is read, and that its password is never shown."""

from __future__ import annotations

import pytest

from citewell.errors import InvalidInput
from citewell.sql.engines import ENGINES, mask_url, open_engine, parse_location
from citewell.sql.engines.engine import Location
from citewell.sql.engines.parameters import check_remote


@pytest.mark.parametrize(
    ("url", "dialect", "where"),
    [
        ("sqlite:///data/sales.db", "sqlite", "data/sales.db"),
        ("sqlite:////srv/sales.db", "sqlite", "/srv/sales.db"),
        ("sqlite:///数据%20库.db", "sqlite", "数据 库.db"),
        ("sqlite:///C:/sales.db", "sqlite", "C:/sales.db"),
        ("postgres://u:p@h/d", "postgres", "postgresql://u:p@h/d"),
        (
            "PostgreSQL://u@h:5433/d?sslmode=require",
            "postgres",
            "postgresql://u@h:5433/d?sslmode=require",
        ),
        ("postgresql+psycopg://u@h/d", "postgres", "postgresql://u@h/d"),
        (
            "postgresql://u@/d?host=/run/postgresql",
            "postgres",
            "postgresql://u@/d?host=/run/postgresql",
        ),
        ("mariadb://u:p%40q@[::1]:3307/d", "mysql", "mysql://u:p%40q@[::1]:3307/d"),
        ("mysql+pymysql://u@h/d", "mysql", "mysql://u@h/d"),
        ("  mysql://u@h/d\n", "mysql", "mysql://u@h/d"),
    ],
)
def test_read(url: str, dialect: str, where: str) -> None:
    location = parse_location(url)
    assert (location.dialect, location.where) == (dialect, where)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "sales.db",
        "oracle://u:hunter2@h/d",
        "sqlite://",
        "sqlite:///",
        "sqlite:///:memory:",
        "sqlite://host/path.db",
        "sqlite:///a%00b",
        "postgresql://u:hunter2@h",
        "postgresql://u:hunter2@h/",
        "mysql://u:hunter2@h:port/d",
        "mysql://u:hunter2@h:99999/d",
        "mysql://u:hunter2@[::1/d",
        "mysql://u:hunter2#x@h/d",
        "file:///etc/passwd",
        "https://u:hunter2@h/d",
    ],
)
def test_refused(url: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse_location(url)
    assert refused.value.hint
    assert "hunter2" not in refused.value.message + refused.value.hint


@pytest.mark.parametrize(
    ("url", "masked"),
    [
        ("postgresql://u:secret@h:1/d", "postgresql://u:***@h:1/d"),
        ("postgresql://u:se:cr@et@h/d", "postgresql://u:***@h/d"),
        ("postgresql://u:se/cret@h/d", "postgresql://u:***@h/d"),
        ("postgresql://:secret@h/d", "postgresql://:***@h/d"),
        (
            "postgresql://u@h/d?password=secret&sslmode=x",
            "postgresql://u@h/d?password=***&sslmode=x",
        ),
        ("postgresql://h/d?user=u&PASSWORD=secret", "postgresql://h/d?user=u&PASSWORD=***"),
        ("postgresql://h/d?sslpassword=secret", "postgresql://h/d?sslpassword=***"),
        ("mysql://u:秘密@h/d", "mysql://u:***@h/d"),
        ("mysql://u:@h/d", "mysql://u:***@h/d"),
        ("mysql://u@h/d", "mysql://u@h/d"),
        ("sqlite:///a@b.db", "sqlite:///a@b.db"),
        ("nonsense", "nonsense"),
        (
            "postgresql:///d?host=/run/x&%70assword=secret",
            "postgresql:///d?host=/run/x&%70assword=***",
        ),
        ("postgresql://h/d?%2570assw%6frd=secret&a=b", "postgresql://h/d?%2570assw%6frd=***&a=b"),
        ("postgresql://h/d?a=b;password=secret", "postgresql://h/d?a=b;password=***"),
        ("postgresql://a/b:secret@127.0.0.1:1/db", "postgresql://***@127.0.0.1:1/db"),
        ("postgresql://a?b:secret@h/db", "postgresql://***@h/db"),
        ("postgresql://u:x@y:secret/z@h/d", "postgresql://u:***@h/d"),
        ("postgresql:///d?user=a@b&password=secret", "postgresql://***@b&password=***"),
        ("postgresql://u:secret", "postgresql://u:***"),
        ("postgresql://[::1]:5432/d?passfile=/x", "postgresql://[::1]:5432/d?passfile=/x"),
        ("u:secret@h/d", "u:***@h/d"),
    ],
)
def test_shown(url: str, masked: str) -> None:
    assert mask_url(url) == masked


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:p@h/d?sslmode=require&connect_timeout=5&application_name=x",
        "postgresql://u:p@h/d?sslrootcert=/etc/ca.pem&sslcert=c&sslkey=k&passfile=/etc/pgpass",
        "postgresql://u@/d?host=/run/postgresql",
        "postgresql://u@h/d?options=-c%20search_path%3Dsales,public",
        "postgresql://u@h/d?options=-csearch_path%3Dsales%20-c%20TimeZone%3DUTC",
        "postgresql://u@h/d?options=--search_path%3Dsales",
        "mysql://u:p@h/d?charset=utf8mb4",
        "mysql://u:p@h/d?unix_socket=/run/mysql.sock&ssl_ca=/etc/ca.pem",
    ],
)
def test_parameters_of_who_is_here(url: str) -> None:
    assert parse_location(url).where == url


@pytest.mark.parametrize(
    ("url", "said"),
    [
        (
            "postgresql://u:p@h/d?options=-c%20default_transaction_read_only%3Doff",
            "only search_path and timezone",
        ),
        (
            "postgresql://u:p@h/d?options=-c%20search_path%3Da%20-c%20statement_timeout%3D0",
            "only search_path and timezone",
        ),
        (
            "postgresql://u:p@h/d?options=-c%20search_path%3Da%09--transaction_read_only%3Doff",
            "only search_path and timezone",
        ),
        ("postgresql://u:p@h/d?options=-r%20x", "only search_path and timezone"),
        ("postgresql://u:p@h/d?options=", "only search_path and timezone"),
        (
            "postgresql://u:p@h/d?sslmode=require&%6fptions=-cjit%3Don",
            "only search_path and timezone",
        ),
        ("postgresql://u:p@h/d?service=prod", "'service'"),
        ("postgresql://u:p@h/d?servicefile=/tmp/x", "'servicefile'"),
        ("postgresql://u:p@h/d?dbname=other", "'dbname'"),
        ("postgresql://u:p@h/d?replication=database", "'replication'"),
        ("postgresql://u:p@h/d?OPTIONS=x", "'OPTIONS'"),
        ("postgresql://u:p@h/d?sslmode", None),
        ("postgresql://u:p@%2Frun%2Fpostgresql@h/d", "more than one '@'"),
        ("postgresql://u:p@h/d?ho\nst=/run", "control character"),
        ("postgresql://u:p@h/d?application_name=a b", "space"),
        ("mysql://u:p@h/d?init_command=SET%20x%3D1", "'init_command'"),
        ("mysql://u:p@h/d?local_infile=1", "'local_infile'"),
        ("mysql://u:p@h/d?read_default_file=/etc/my.cnf", "'read_default_file'"),
        ("mysql://u:p@h/d?sslmode=require", "'sslmode'"),
    ],
)
def test_parameters_of_nobody(url: str, said: str | None) -> None:
    if said is None:
        parse_location(url)
        return
    with pytest.raises(InvalidInput, match=said) as refused:
        parse_location(url)
    assert refused.value.hint


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:p@h/d",
        "postgresql://u:p@h1,h2:5433/d?target_session_attrs=any",
        (
            "postgresql://u:p@[::1]/d?sslmode=verify-full&connect_timeout=5&application_name=x&ch"
            "annel_binding=require"
        ),
        "mysql://u:p@h/d?charset=utf8mb4&connect_timeout=5",
    ],
)
def test_what_another_machine_may_say(url: str) -> None:
    location = parse_location(url)
    check_remote(location.where, location.dialect)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        *[
            (f"postgresql://u:p@h/d?{name}=/etc/x", name)
            for name in (
                "passfile",
                "sslcert",
                "sslkey",
                "sslrootcert",
                "sslcrl",
                "host",
                "hostaddr",
                "user",
                "password",
                "port",
            )
        ],
        ("postgresql://u:p@h/d?options=-c%20search_path%3Dsales", "options"),
        ("postgresql://u:p@h/d?sslmode=require&s%73lkey=/etc/x", "sslkey"),
        ("mysql://u:p@h/d?unix_socket=/run/x", "unix_socket"),
        ("mysql://u:p@h/d?ssl_ca=/etc/passwd", "ssl_ca"),
        ("postgresql:///d", "name its host"),
        ("postgresql://u:p@/d", "name its host"),
        ("postgresql://u:p@%2Frun%2Fpostgresql/d", "name its host"),
        ("postgresql://u:p@h,%2Frun%2Fpostgresql/d", "name its host"),
        ("postgresql://u:p@h,,/d", "name its host"),
        ("postgresql://u:p@%40abstract/d", "name its host"),
        ("postgresql://h/d", "user and password"),
        ("postgresql://u@h/d", "user and password"),
        ("postgresql://u:@h/d", "user and password"),
        ("postgresql://:p@h/d", "user and password"),
        ("mysql://u@h/d", "user and password"),
    ],
)
def test_what_another_machine_may_not_say(url: str, said: str) -> None:
    location = parse_location(url)
    with pytest.raises(InvalidInput, match=f"(?s)over the network.*{said}") as refused:
        check_remote(location.where, location.dialect)
    assert refused.value.hint


def test_a_location_does_not_print_its_password() -> None:
    assert "secret" not in repr(Location("postgres", "postgresql://u:secret@h/d"))


def test_every_engine_opens() -> None:
    for dialect in ENGINES:
        assert open_engine(Location(dialect, "nowhere")).dialect == dialect
