"""Which addresses are public: outside of this machine and its network."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

_FAKE_ADDRESSES = ipaddress.ip_network("198.18.0.0/15")
"""Nobody routes this range. Behind a proxy like Clash every name resolves into it, and only then may it be reached."""
# Services of a cloud that tell a machine its secrets; the registry calls the first one global.
_METADATA = frozenset(map(ipaddress.ip_address, ("168.63.129.16", "100.100.100.200", "169.254.0.23", "192.0.0.192")))
_ASSIGNED = ipaddress.ip_network("2000::/3")
"""All that the world uses of IPv6. Outside of it lie, besides private ranges, spellings of IPv4 addresses: ::127.0.0.1."""
# Those inside of it that stand for an IPv4 address, whichever it is.
_TRANSLATED = tuple(map(ipaddress.ip_network, ("2002::/16", "2001::/32")))


_fake_addresses_lead_out = False


def trust_fake_addresses(trusted: bool) -> None:
    """For the whole process: what the administrator says of the network that it runs in."""
    global _fake_addresses_lead_out
    _fake_addresses_lead_out = trusted


def is_public(address: str) -> bool:
    """Whether a numeric address lies outside of this machine and its network."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.ipv4_mapped is None:
            return ip in _ASSIGNED and ip.is_global and not any(ip in network for network in _TRANSLATED)
        ip = ip.ipv4_mapped
    if ip in _FAKE_ADDRESSES:
        return _fake_addresses_lead_out
    return ip.is_global and not ip.is_multicast and ip not in _METADATA


def is_private_name(netloc: str) -> bool:
    """What can be told without asking a resolver: a proxy may be the one who asks it."""
    host = (urlsplit(f"//{netloc}").hostname or "").rstrip(".").lower()
    try:
        return not is_public(host)
    except ValueError:
        return "." not in host or host.endswith((".localhost", ".local", ".internal"))
