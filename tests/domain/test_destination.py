"""Which URLs and addresses a webhook may go to."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from souvenance.domain.webhooks import MOST_CHARACTERS, destination, is_public
from souvenance.errors import InvalidInput

steady = settings(deadline=None, derandomize=True)


def refusal(url, **options):
    with pytest.raises(InvalidInput) as refused:
        destination(url, **options)
    return refused.value.detail


@pytest.mark.parametrize(
    ("url", "normal"),
    [
        ("https://example.com", "https://example.com/"),
        ("HTTPS://Example.COM/Hook?Q=1", "https://example.com/Hook?Q=1"),
        ("https://example.com./hook", "https://example.com/hook"),
        ("https://example.com:443/", "https://example.com/"),
        ("http://example.com:80/", "http://example.com/"),
        ("http://example.com:443/", "http://example.com:443/"),
        ("https://example.com:8443/a%20b", "https://example.com:8443/a%20b"),
        ("https://example.com:/", "https://example.com/"),
        ("https://xn--bcher-kva.example/", "https://xn--bcher-kva.example/"),
        ("https://my_host-1.example/", "https://my_host-1.example/"),
        ("http://93.184.216.34/", "http://93.184.216.34/"),
        ("http://93.184.216.34./", "http://93.184.216.34/"),
        ("https://[2606:4700:0:0::1111]:8443/", "https://[2606:4700::1111]:8443/"),
        ("https://intranet/", "https://intranet/"),
        ("https://localhost.example.com/", "https://localhost.example.com/"),
    ],
)
def test_a_good_url_has_one_spelling(url, normal):
    assert destination(url).url == normal
    assert destination(normal).url == normal


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("", "special"),
        ("example.com/hook", "neither"),
        ("//example.com/hook", "neither"),
        ("ftp://example.com/", "neither"),
        ("file:///etc/passwd", "neither"),
        ("gopher://example.com/", "neither"),
        ("javascript:alert(1)", "neither"),
        ("https:///hook", "malformed"),
        ("https://user:pass@example.com/", "credentials"),
        ("https://@example.com/", "credentials"),
        ("https://example.com@127.0.0.1/", "credentials"),
        ("https://example.com/#part", "fragment"),
        ("https://example.com/#", "fragment"),
        ("https://example.com:0/", "port"),
        ("https://example.com:22/", "port"),
        ("https://example.com:65536/", "malformed"),
        ("https://example.com:-1/", "malformed"),
        ("https://example.com:http/", "malformed"),
        ("https://example.com /", "special"),
        ("https://example.com/a b", "special"),
        ("https://example.com/\r\nX: y", "special"),
        ("\thttps://example.com/", "special"),
        ("https://exa\nmple.com/", "special"),
        ("https://example.com\\@evil.example/", "special"),
        ("https://bücher.example/", "special"),
        ("https://ⓛocalhost/", "special"),
        ("https://１２７.０.０.１/", "special"),
        ("https://127。0。0。1/", "special"),
        ("https://example..com/", "malformed"),
        ("https://example.com../", "malformed"),
        ("https://.example.com/", "malformed"),
        ("https://-example.com/", "malformed"),
        ("https://exa$mple.com/", "malformed"),
        ("https://exa%6dple.com/", "malformed"),
        (f"https://{'a' * 64}.example/", "malformed"),
        (f"https://{'a.' * 130}example/", "malformed"),
        ("https://[::1/", "malformed"),
        ("https://::1/", "malformed"),
        ("https://[2606:4700::1111]evil.example/", "malformed"),
        ("https://evil.example[2606:4700::1111]/", "malformed"),
        ("https://[fe80::1%25eth0]/", "malformed"),
        ("https://[example.com]/", "malformed"),
        ("https://example.com/" + "a" * MOST_CHARACTERS, "longer"),
    ],
    ids=lambda value: ascii(value[:40]),
)
@pytest.mark.parametrize("allow_private", [False, True])
def test_a_bad_url_is_refused_with_the_reason(url, reason, allow_private):
    if reason == "port" and allow_private and ":22" in url:
        assert destination(url, allow_private=True).port == 22
    else:
        assert reason in refusal(url, allow_private=allow_private)


@pytest.mark.parametrize(
    "host",
    [
        *["localhost", "LOCALHOST", "localhost.", "a.localhost", "a.b.localhost."],
        *["127.0.0.1", "127.0.0.1.", "127.255.255.254", "0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1"],
        *[
            "100.127.255.255",
            "100.100.100.200",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.192",
        ],
        *[
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.7",
            "203.0.113.9",
        ],
        *["168.63.129.16", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255"],
        *[
            "[::]",
            "[::1]",
            "[0:0:0:0:0:0:0:1]",
            "[::127.0.0.1]",
            "[::ffff:127.0.0.1]",
            "[::ffff:93.184.216.34]",
        ],
        *["[::ffff:7f00:1]", "[64:ff9b::7f00:1]", "[64:ff9b::5db8:d822]", "[64:ff9b:1::1]", "[100::1]"],
        *[
            "[2001::1]",
            "[2001:0:4136:e378:8000:63bf:3fff:fdd2]",
            "[2001:db8::1]",
            "[2001:20::1]",
            "[2002:7f00:1::]",
        ],
        *["[2002:5db8:d822::1]", "[3fff::1]", "[5f00::1]", "[fc00::1]", "[fd00:ec2::254]", "[fe80::1]"],
        *["[fec0::1]", "[ff02::1]", "[ff0e::1]", "[4000::1]"],
    ],
)
def test_a_host_that_is_near_is_refused_unless_it_is_wanted(host):
    assert "names" in refusal(f"http://{host}/")
    assert destination(f"http://{host}/", allow_private=True).target == "/"


@pytest.mark.parametrize(
    "host",
    [
        *[
            "2130706433",
            "017700000001",
            "0x7f000001",
            "0X7F000001",
            "127.1",
            "127.0.1",
            "0177.0.0.1",
            "0x7f.0.0.1",
        ],
        *["127.0.0.01", "127.0.0.0x1", "1.2.3.4.5", "256.1.1.1", "0x", "00000127.0.0.1", "3232235777", "0"],
        *["127.0.0.1.0x7f", "93.184.216"],
    ],
)
@pytest.mark.parametrize("allow_private", [False, True])
def test_an_address_is_four_decimal_numbers_and_nothing_else(host, allow_private):
    assert "decimal" in refusal(f"http://{host}/", allow_private=allow_private)


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2a00::1"]
)
def test_an_address_on_the_internet_is_public(address):
    assert is_public(address)


def test_an_address_with_a_zone_is_not_public():
    assert not is_public("2606:4700::1111%eth0")


@given(st.ip_addresses())
@steady
def test_nothing_is_public_that_the_standard_library_calls_private(address):
    embedded = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    for found in filter(None, [address, embedded]):
        if (
            found.is_private
            or found.is_multicast
            or found.is_reserved
            or found.is_link_local
            or found.is_loopback
        ):
            assert not is_public(str(address))


@given(st.ip_addresses(v=4))
@steady
def test_an_address_hidden_in_another_is_never_public(address):
    low = int(address)
    hiding = [(0xFFFF << 32) + low, low, (0x64_FF9B << 96) + low, (0x2002 << 112) + (low << 80)]
    assert not any(is_public(str(IPv6Address(number))) for number in hiding)


@given(st.text(max_size=40) | st.from_regex(r"https?://[a-z0-9.:\[\]@/?#%]{0,30}", fullmatch=True))
@steady
def test_any_text_is_refused_or_becomes_a_url_that_stays_as_it_is(text):
    try:
        found = destination(text)
    except InvalidInput:
        return
    assert destination(found.url) == found
    if found.is_address:
        assert is_public(str(ip_address(found.host)))


@given(st.integers(0, 2**32 - 1))
@steady
def test_any_dotted_address_is_accepted_exactly_when_it_is_public(number):
    address = str(IPv4Address(number))
    try:
        assert destination(f"http://{address}/").is_address
        accepted = True
    except InvalidInput:
        accepted = False
    assert accepted == is_public(address)
