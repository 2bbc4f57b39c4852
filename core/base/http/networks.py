"""Tests whether an address is public: outside of this machine and its network."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

_FAKE_ADDRESSES = ipaddress.ip_network("198.18.0.0/15")
"""Range that is not routed. Behind a proxy like Clash every name resolves into it; only then may it be reached."""
# Cloud metadata services, which tell a machine its secrets. The registry lists the first one as global.
_METADATA = frozenset(map(ipaddress.ip_address, ("168.63.129.16", "100.100.100.200", "169.254.0.23", "192.0.0.192")))
_ASSIGNED = ipaddress.ip_network("2000::/3")
"""The IPv6 range in public use. Outside of it are private ranges and spellings of IPv4 addresses (::127.0.0.1)."""
# IPv6 ranges inside of `_ASSIGNED` that stand for an IPv4 address.
_TRANSLATED = tuple(map(ipaddress.ip_network, ("2002::/16", "2001::/32")))


_fake_addresses_lead_out = False


def trust_fake_addresses(trusted: bool) -> None:
    """Set for the whole process whether the fake-ip range counts as public. The administrator knows the network."""
    global _fake_addresses_lead_out
    _fake_addresses_lead_out = trusted


def is_public(address: str) -> bool:
    """Return whether a numeric address is outside of this machine and its network."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.ipv4_mapped is None:
            return ip in _ASSIGNED and ip.is_global and not any(ip in network for network in _TRANSLATED)
        ip = ip.ipv4_mapped
    if ip in _FAKE_ADDRESSES:
        return _fake_addresses_lead_out
    return ip.is_global and not ip.is_multicast and ip not in _METADATA


def is_private_name(netloc: str) -> bool:
    """Return whether the host is private as far as its name shows. No resolver is asked: a proxy may do that instead."""
    host = (urlsplit(f"//{netloc}").hostname or "").rstrip(".").lower()
    try:
        return not is_public(host)
    except ValueError:
        return "." not in host or host.endswith((".localhost", ".local", ".internal"))
