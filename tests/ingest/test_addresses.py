"""Which addresses may be connected to, and which spellings of a URL count."""

from __future__ import annotations

import ipaddress
import socket

import pytest

from citewell.errors import ConfigError, InvalidInput, PermanentError, TransientError
from citewell.fetch.addresses import Guard
from citewell.fetch.public_addresses import Address, is_public
from citewell.fetch.urls import LONGEST, canonicalize_url, get_url_identity, join_url


@pytest.mark.parametrize("address", [
    "0.0.0.0",  # noqa: S104
    "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.9.9.9",
    "168.63.129.16", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.192", "192.0.2.1",
    "192.168.1.1", "198.18.0.1", "198.51.100.1", "203.0.113.9", "224.0.0.1", "239.1.1.1",
    "240.0.0.1", "255.255.255.255", "::", "::1", "::127.0.0.1", "::ffff:127.0.0.1",
    "::ffff:10.0.0.1", "::ffff:a9fe:a9fe", "64:ff9b::7f00:1", "64:ff9b::10.0.0.1", "64:ff9b:1::1",
    "100::1", "2001:db8::1", "2002:7f00:1::", "2002:a00:1::1", "2001:0:7f00:1::", "fc00::1",
    "fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1", "2001:0:808:808::80ff:fffe", "3fff::1",
    "3fff:fff:ffff::1", "2001:4860::5efe:7f00:1", "2001:4860::5efe:10.0.0.1",
    "2606:4700:1:2:200:5efe:c0a8:101", "fe80::5efe:808:808", "fe80::200:5efe:808:808",
])  # fmt: skip
def test_address_that_is_not_public(address: str) -> None:
    """Private, loopback, link-local, shared, reserved, for documentation, and IPv6 that carries one
    of these.
    """
    assert not is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize("address", [
    "1.1.1.1", "8.8.8.8", "93.184.216.34", "172.32.0.1", "100.128.0.1", "2606:4700::1111",
    "2a00:1450::1", "::ffff:8.8.8.8", "64:ff9b::808:808", "2001:4860::5efe:808:808",
    "2001:4860::200:5efe:808:808", "2001:4860::7f00:1", "2001:4860::5eff:7f00:1",
])  # fmt: skip
def test_public_address(address: str) -> None:
    """Else nothing could be fetched at all."""
    assert is_public(ipaddress.ip_address(address))


def answers(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    async def resolve(host: str, port: int) -> list[Address]:
        return [ipaddress.ip_address(address) for address in addresses]

    monkeypatch.setattr("citewell.fetch.addresses.resolve", resolve)


async def test_one_private_answer_refuses_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that has a public and a private address is refused; the message names it, the setting,
    and not the address.
    """
    answers(monkeypatch, "93.184.216.34", "10.1.2.3")
    with pytest.raises(InvalidInput) as caught:
        await Guard().addresses("rebind.example", 80)
    assert caught.value.code == "address_refused"
    assert "rebind.example" in caught.value.message
    assert "allow_private_hosts" in caught.value.hint
    assert "10.1.2.3" not in caught.value.message + caught.value.hint


@pytest.mark.parametrize(("allow", "passes"), [
    ("wiki.corp.example", True),
    ("WIKI.corp.example.", True),
    ("*.corp.example", True),
    ("*.example", True),
    ("10.0.0.0/8", True),
    ("10.1.2.3", True),
    ("*.wiki.corp.example", False),
    ("corp.example", False),
    ("10.1.2.4", False),
    ("192.168.0.0/16", False),
    ("*.orp.example", False),
    ("::1", False),
])  # fmt: skip
async def test_hosts_of_this_house(
    monkeypatch: pytest.MonkeyPatch, allow: str, passes: bool
) -> None:
    """A name means itself, `*.` what is below it, a network its addresses."""
    answers(monkeypatch, "10.1.2.3")
    guard = Guard((allow,))
    if passes:
        assert await guard.addresses("wiki.corp.example", 80) == [ipaddress.ip_address("10.1.2.3")]
    else:
        with pytest.raises(InvalidInput):
            await guard.addresses("wiki.corp.example", 80)


async def test_allowed_network_in_other_forms() -> None:
    """A mapped address is the one it carries; other carriers of it stay refused."""
    guard = Guard(("127.0.0.1", "[::1]"))
    assert await guard.addresses("::ffff:127.0.0.1", 80)
    assert await guard.addresses("::1", 80)
    with pytest.raises(InvalidInput):
        await guard.addresses("2002:7f00:1::", 80)
    with pytest.raises(InvalidInput):
        await guard.addresses("127.0.0.2", 80)


@pytest.mark.parametrize("port", [80, 443, 1024, 3000, 5000, 8000, 8080, 8443, 8888, 9000, 65535])
async def test_ports_of_the_web(monkeypatch: pytest.MonkeyPatch, port: int) -> None:
    answers(monkeypatch, "93.184.216.34")
    assert await Guard().addresses("site.example", port) == [ipaddress.ip_address("93.184.216.34")]


@pytest.mark.parametrize("port", [
    1, 21, 22, 23, 25, 53, 110, 143, 445, 465, 587, 993, 1023, 2375, 3306, 5432, 6379, 6667, 9200,
    11211, 27017,
])  # fmt: skip
async def test_ports_of_other_services(monkeypatch: pytest.MonkeyPatch, port: int) -> None:
    """Refused on hosts of others; a host that is listed, by its name or its network, may have any
    port.
    """
    answers(monkeypatch, "93.184.216.34")
    with pytest.raises(InvalidInput, match=rf"site\.example, port {port},") as caught:
        await Guard(("other.example", "10.0.0.0/8")).addresses("site.example", port)
    assert caught.value.code == "bad_url"
    assert "allow_private_hosts" in caught.value.hint
    for allow in ("site.example", "93.184.216.0/24"):
        assert await Guard((allow,)).addresses("site.example", port)


async def test_a_private_host_is_refused_as_one_on_any_port(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And so is a name of which one address only is allowed."""
    answers(monkeypatch, "10.1.2.3", "192.168.1.1")
    for guard in (Guard(), Guard(("10.0.0.0/8",))):
        with pytest.raises(InvalidInput) as caught:
            await guard.addresses("site.example", 6379)
        assert caught.value.code == "address_refused"


@pytest.mark.parametrize(
    "entry", ["10.0.0.0/40", "host:80", "http://host", "a..b", "*", "", "300.1.1.1"]
)
def test_entry_that_is_none(entry: str) -> None:
    """A slip in the setting is told, not ignored."""
    with pytest.raises(ConfigError, match="allow_private_hosts"):
        Guard((entry,))


@pytest.mark.parametrize(
    ("number", "kind"), [(socket.EAI_NONAME, PermanentError), (socket.EAI_AGAIN, TransientError)]
)
async def test_name_that_is_not_found(
    monkeypatch: pytest.MonkeyPatch, number: int, kind: type[Exception]
) -> None:
    """No such host for good, or nobody to ask for now."""

    async def resolve(host: str, port: int) -> list[Address]:
        raise socket.gaierror(number, "no")

    monkeypatch.setattr("citewell.fetch.addresses.resolve", resolve)
    with pytest.raises(kind, match=r"nowhere\.example"):
        await Guard().addresses("nowhere.example", 80)


@pytest.mark.parametrize(("url", "expected"), [
    ("HTTP://Example.COM:80", "http://example.com/"),
    ("https://example.com:443/a/../b/./c/..", "https://example.com/b/"),
    ("https://example.com:8443/A?b=1#part", "https://example.com:8443/A?b=1"),
    ("http://例え.jp/ü?q=中", "http://xn--r8jz45g.jp/%C3%BC?q=%E4%B8%AD"),
    ("http://e.com/%7ea%2fb%e4%B8%ad", "http://e.com/~a%2Fb%E4%B8%AD"),
    ("http://e.com/?utm_source=x&a=1&&fbclid=2&b&gclid=3", "http://e.com/?a=1&b"),
    ("http://e.com/?UTM_Medium=x", "http://e.com/"),
    ("http://e.com/100%/", "http://e.com/100%25/"),
    ("http://e.com/%2e%2e/x", "http://e.com/x"),
    ("http://e.com./docs/", "http://e.com/docs/"),
    ("http://[::FFFF:7f00:1]:8080", "http://[::ffff:7f00:1]:8080/"),
    ("http://①②⑦.⓪.⓪.①/", "http://127.0.0.1/"),
    ("http://my_host.e.com?a=/../b", "http://my_host.e.com/?a=/../b"),
])  # fmt: skip
def test_canonical(url: str, expected: str) -> None:
    """One spelling a page, and that is its own canonical one."""
    assert canonicalize_url(url) == expected
    assert canonicalize_url(expected) == expected


@pytest.mark.parametrize("url", [
    "", "example.com", "/a", "ftp://e.com/", "file:///etc/passwd", "javascript:alert(1)", "http:",
    "http:///a", "http:/e.com", "http://u:secret@e.com/", "http://secret@e.com/",
    "http://e.com\\@f.com/", "http://e .com/", "http://e.com/a b", "http://e.com/\n",
    "\thttp://e.com/", "http://e.com/\u202e", "http://e.com:0/", "http://e.com:99999/",
    "http://e.com:x/", "http://[::1", "http://[fe80::1%25eth0]/", "http://[v1.a]/",
    "http://a%41.com/", "http://a..b/", "http://-/%", "http://.", "http://0177.1/",
    "http://0x7f.1/", "http://2130706433/", "http://127.1/", "http://127.0.0.01/",
    "http://1.2.3.4.5/", "http://" + "a" * 64 + ".com/", "http://e.com/" + "a" * LONGEST,
])  # fmt: skip
def test_url_that_is_refused(url: str) -> None:
    """Anything but http and https, and whatever two programs could read in two ways; a password is
    not repeated.
    """
    with pytest.raises(InvalidInput) as caught:
        canonicalize_url(url)
    assert caught.value.code == "bad_url"
    assert "secret" not in caught.value.message


def test_links_and_identity() -> None:
    """A link is read on its page; a slash at the end tells no two pages apart."""
    assert join_url("http://e.com/a/b", "../c?d=1#e") == "http://e.com/c?d=1"
    assert join_url("https://e.com/a/", "//f.com") == "https://f.com/"
    with pytest.raises(InvalidInput):
        join_url("http://e.com/", "mailto:a@e.com")
    with pytest.raises(InvalidInput):
        join_url("http://e.com/", "http://[")
    assert (
        get_url_identity("http://e.com/a/")
        == get_url_identity("http://e.com/a")
        != get_url_identity("http://e.com/a?b")
    )
