"""Map the charset name of a web page to the Python codec that browsers would use."""

from __future__ import annotations

import codecs
import re

# Codecs that real pages are written in. A server must not be able to choose any other: punycode, for example, takes
# minutes for a megabyte.
_OF_THE_WEB = re.compile(r"utf-(8|16)|gb|big5|shift_jis|euc_|iso8859-|cp125|koi8")
# Pages with these labels use characters that only the superset knows.
_SUPERSETS = {"gb2312": "gb18030", "gbk": "gb18030", "big5": "big5hkscs", "shift_jis": "cp932", "iso8859-1": "cp1252"}


def web_codec(label: str) -> str | None:
    """Return the codec for a charset label; None for an unknown label, or a codec that no page is written in."""
    try:
        name = codecs.lookup(label).name
    except (LookupError, ValueError, OSError):  # the last in a process that may open no file
        return None
    return _SUPERSETS.get(name, name) if _OF_THE_WEB.match(name) else None


def charset_label(content_type: str) -> str:
    """Return the name after `charset=` in a Content-Type header or a meta element; empty if there is none."""
    found = re.search(r"charset\s*=\s*[\"']?([\w.:-]+)", content_type, re.ASCII | re.IGNORECASE)
    return found[1] if found else ""
