"""Which URLs a list of domains allows."""

from __future__ import annotations

import pytest

from citewell.errors import InvalidInput
from citewell.fetch.domains import is_valid, parse_domains


@pytest.mark.parametrize(("entry", "url", "valid"), [
    ("example.com", "https://example.com", True),
    ("example.com", "http://example.com:8080/a?b#c", True),
    ("example.com", "HTTPS://EXAMPLE.COM./a", True),
    (" Example.COM. ", "https://example.com/", True),
    ("example.com", "https://docs.example.com/", False),
    ("example.com", "https://notexample.com/", False),
    ("*.example.com", "https://docs.example.com/", True),
    ("*.example.com", "https://a.b.example.com/", True),
    ("*.example.com", "https://example.com/", False),
    ("*.example.com", "https://notexample.com/", False),
    ("*.example.com:8443", "https://a.example.com:8443/", True),
    ("*.example.com:8443", "https://a.example.com/", False),
    ("127.0.0.1:8000", "http://127.0.0.1:8000/a", True),
    ("127.0.0.1:8000", "http://127.0.0.1:8001/a", False),
    ("127.0.0.1:8000", "http://127.0.0.1/", False),
    ("127.0.0.1", "http://127.0.0.1:8001/a", True),
    ("example.com:443", "https://example.com/", True),
    ("example.com:443", "http://example.com/", False),
    ("example.com:80", "http://example.com:80/", True),
    ("https://docs.example.com/guide?x#y", "http://docs.example.com/other", True),
    ("https://docs.example.com/guide", "http://example.com/guide", False),
    ("http://127.0.0.1:8000/", "http://127.0.0.1:8001/", False),
    ("http://127.0.0.1:8000/", "http://127.0.0.1:8000/x", True),
    ("bücher.example", "https://xn--bcher-kva.example/", True),
    ("xn--bcher-kva.example", "https://BÜCHER.example/", True),
    ("*.例子.测试", "https://a.例子.测试/", True),
    # a Cyrillic а
    ("example.com", "https://exаmple.com/", False),
    ("::1", "http://[::1]:8000/", True),
    ("[::1]", "http://[0:0::1]/", True),
    ("[::1]:8000", "http://[::1]:8000/", True),
    ("[::1]:8000", "http://[::1]/", False),
])  # fmt: skip
def test_host(entry: str, url: str, valid: bool) -> None:
    """A name is itself, `*.` what is below it; a port counts where it is given."""
    assert is_valid(url, [entry]) is valid
    assert is_valid(url, ["other.org", entry]) is valid
    assert is_valid(url, ["other.org"]) is False


@pytest.mark.parametrize("url", [
    "https://docs.example.com.evil.org/", "http://example.com:x@evil.org/",
    "https://example.com@evil.org", "//evil.org", "//example.com", "https:example.com",
    "https:///example.com", "https:/example.com", "example.com", "", " ", "https://",
    "https://example.com.evil.org", "https://evil.org/example.com", "https://evil.org?example.com",
    "https://evil.org#example.com", "https://evil.org/#@example.com",
    "https://evil.org#@example.com", "https://evil.org?@example.com", "https://user@example.com",
    "https://example.com\\@evil.org", "https://evil.org\\.example.com",
    "https://example.com\\.evil.org", "https://evil.org\\@example.com",
    "https://example.com%2eevil.org", "https://example.com%00.evil.org",
    "https://example.com%40evil.org", "https://example.com\t.evil.org",
    "https://example.com\n.evil.org", "https://exa mple.com", "https://example.com:0/",
    "https://example.com:99999/", "https://example.com:80:80/", "https://[example.com]/",
    "https://example.com,evil.org", "https://example.com;evil.org", "https://evil.org;example.com",
    "https://example。com.evil.org", "https://example.com／evil.org",
    "https://example．com．evil．org", "https://evil.org/https://example.com",
    "https://evil.org:443@example.com:443", "https://evil.org&example.com", "ftp://example.com/",
    "javascript://example.com/%0aalert(1)", "file://example.com/etc/passwd",
    "data:text/html,example.com", "gopher://example.com", "ws://example.com",
    "mailto:a@example.com", "https://example.com" + "/a" * 2000, "https://-example.com.",
    "https://.example.com/", "https://example..com", "https://xn--.example.com.evil.org",
])  # fmt: skip
def test_what_never_passes_for_a_host(url: str) -> None:
    """Whatever stands where in it; nor for what is below it."""
    assert not parse_domains(["example.com", "https://example.com"]).is_allowed(url)
    assert not is_valid(url, ["*.example.com"])


@pytest.mark.parametrize(
    "url", ["http://0177.1/", "http://2130706433/", "http://0x7f.1/", "http://127.1/"]
)
def test_numbers_that_are_no_address(url: str) -> None:
    assert not is_valid(url, ["127.0.0.1", "0177.1"][:1])
    assert not is_valid(url, [])


def test_no_domains() -> None:
    """Every URL that is one."""
    assert is_valid("https://anything.example/", [])
    assert not is_valid("ftp://anything.example/", [])
    assert not parse_domains(()).is_allowed("//anything.example/")


@pytest.mark.parametrize("entry", [
    "", " ", "*", "*.", "*.*.com", "a.*.com", "exam*ple.com", "**.example.com", "a..b",
    "example.com/docs", "example.com:", "example.com:0", "example.com:http", "example.com:99999",
    "example.com:-1", "300.1.1.1", "0177.1", "*.127.0.0.1", "*.::1", "[::1", "[::1]x",
    "[example.com]", "ftp://example.com", "https://", "https://*.example.com/",
    "https://u:p@example.com/", "u@example.com", "a b.com", "[::1]:", "//example.com", "[",
    "https://[::1", "::1::", "exa\nmple.com",
])  # fmt: skip
def test_entry_that_is_wrong(entry: str) -> None:
    """It is named, with what to write instead; a slip must not open or close a site in silence."""
    with pytest.raises(InvalidInput) as caught:
        parse_domains(["example.com", entry])
    assert caught.value.code == "bad_domain"
    assert entry.rpartition("@")[2].replace("\n", "?") in caught.value.message
    assert "u:p" not in caught.value.message
    with pytest.raises(InvalidInput):
        is_valid("https://example.com/", [entry])
