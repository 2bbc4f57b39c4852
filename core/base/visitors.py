"""Whose limits count."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Visitor:
    """An account, or a browser and where it connects from: a browser becomes a new one by dropping its cookies."""

    name: str
    address: str = ""
    """Empty for an account: that is one person, wherever they are."""


COMMAND_LINE = Visitor("local")


def neighbourhood(address: str) -> str:
    """What one customer of a network gets: an IPv4 address, or 2⁶⁴ IPv6 addresses, which count as one.

    Some proxies tell the port too, and there are thousands of those.
    """
    if told := re.fullmatch(r"\[(.+)\](?::\d+)?|([^:]+):\d+", address):
        address = told[1] or told[2]
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(ip, ipaddress.IPv4Address):
        return str(ip)
    return str(ip.ipv4_mapped or ipaddress.ip_network((ip, 64), strict=False))
