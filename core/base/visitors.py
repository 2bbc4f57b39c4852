"""Visitors: the people, browsers or programs that limits are counted for."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

LOOPBACK = "127.0.0.1"
LOCAL_NAMES = frozenset({"localhost", LOOPBACK, "::1"})
"""Names by which a machine calls itself."""


@dataclass(frozen=True, slots=True)
class Visitor:
    """An account, a browser with its network address, or a program's token. A browser becomes a new visitor when it drops
    its cookies."""

    name: str
    address: str = ""
    """Network address; empty for an account, which is one person at any address. For a token, its maker, who may have several."""
    token_id: str = ""
    """The token with which a program asks; empty for people."""


COMMAND_LINE = Visitor("local")


def address_group(address: str) -> str:
    """Return the address range of one network customer: an IPv4 address, or 2⁶⁴ IPv6 addresses, which count as one.
    Some proxies add a port, which is removed."""
    if with_port := re.fullmatch(r"\[(.+)\](?::\d+)?|([^:]+):\d+", address):
        address = with_port[1] or with_port[2]
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(ip, ipaddress.IPv4Address):
        return str(ip)
    return str(ip.ipv4_mapped or ipaddress.ip_network((ip, 64), strict=False))
