"""What may stand behind the `?` of a database's URL, and which servers somebody at another machine
may name. Lists of what is allowed. A driver's parameters read files of this machine, connect
elsewhere than the host says, or set what a session may do; what is not known to do none of these is
refused by name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from citewell.errors import InvalidInput
from citewell.messages import Text
from citewell.sql.engines.engine import Dialect
from citewell.text.split_words import split_words

# Of anybody. Time-outs, names and character sets are taken because URLs often have them; the
# engine's own count.
ANYBODY: Mapping[str, frozenset[str]] = {
    "postgres": split_words(
        """
        sslmode ssl channel_binding connect_timeout application_name client_encoding
        target_session_attrs
        """
    ),
    "mysql": frozenset({"charset", "connect_timeout"}),
}
# Of who is at this machine, besides: files of it, its sockets, another place for what a URL says
# anyway. Not `service` and `servicefile` (a file that may hold any other parameter, `options` too),
# nor `dbname`.
HERE: Mapping[str, frozenset[str]] = {
    "postgres": split_words(
        """
        host hostaddr port user password passfile options require_auth gssencmode krbsrvname
        sslcert sslkey sslpassword sslrootcert sslcrl sslcertmode sslnegotiation
        ssl_min_protocol_version keepalives keepalives_idle keepalives_interval
        keepalives_count tcp_user_timeout load_balance_hosts
        """
    ),
    "mysql": frozenset({"unix_socket", "ssl_ca"}),
}
# `options` sets anything for the session: that it only reads, its time limit. These two decide
# neither.
SETTINGS = re.compile(
    r"(?:\s*(?:-c\s*|--)(?:search_path|timezone)=(?:[^\s\\]|\\.)+)+\s*", re.IGNORECASE
)
CONTROL = re.compile(r"[\x00-\x20\x7f]")


def check_parameters(url: str, dialect: Dialect) -> None:
    """Raises InvalidInput for what a URL may not say. `url`: seen by `location_of`."""
    parts = _split_url(url)
    known = ANYBODY[dialect] | HERE[dialect]
    for name, value in parse_qsl(parts.query, keep_blank_values=True):
        if name not in known:
            raise InvalidInput(
                Text("a database's URL may not set {name!r}", name=name),
                hint=Text("allowed: {known}", known=", ".join(sorted(known))),
            )
        if name == "options" and not SETTINGS.fullmatch(value):
            hint = Text(
                "options=-c search_path=NAME, or timezone; what a session may do is "
                "not set from outside"
            )
            raise InvalidInput(
                Text("of a database's options only search_path and timezone may be set"), hint=hint
            )


def check_remote(url: str, dialect: Dialect) -> None:
    """Raises InvalidInput for what is not for somebody at another machine to say: a URL must name
    host, user and password, so that the driver looks up none of them here (a socket, ~/.pgpass,
    PGPASSWORD), and no file.
    """
    parts = _split_url(url)
    for name, _ in parse_qsl(parts.query, keep_blank_values=True):
        if name not in ANYBODY[dialect]:
            allowed = ", ".join(sorted(ANYBODY[dialect]))
            hint = Text(
                "allowed: {allowed}; whoever runs Citewell may add others with `citewell data add`",
                allowed=allowed,
            )
            raise InvalidInput(
                Text("over the network a database's URL may not set {name!r}", name=name),
                hint=hint,
                code="url_parameter",
            )
    for host in unquote(parts.hostname or "").split(","):
        if not host or host.startswith(("/", "@", "\\", ".")):
            hint = Text(
                "postgresql://user:password@host:5432/database; sockets are for the command line"
            )
            raise InvalidInput(
                Text("over the network a database's URL must name its host"),
                hint=hint,
                code="url_host",
            )
    if not parts.username or not parts.password:
        hint = Text("user:password@host; where the server asks for no password, any word will do")
        raise InvalidInput(
            Text("over the network a database's URL must say user and password"),
            hint=hint,
            code="url_password",
        )


def _split_url(url: str) -> SplitResult:
    """Raises InvalidInput for what drivers read in another way than we do."""
    if CONTROL.search(url):
        raise InvalidInput(
            Text("a database's URL holds a space or a control character"),
            hint=Text("write a space as %20"),
        )
    parts = urlsplit(url)
    # libpq takes the first for the end of the password, we the last
    if parts.netloc.count("@") > 1:
        raise InvalidInput(
            Text("a database's URL holds more than one '@'"),
            hint=Text("write an @ of the password as %40"),
        )
    return parts
