"""Addresses of web pages: which are usable, whose they are, and which are the same page."""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from core.base.text import one_line

URL_LENGTH = 2_000


@lru_cache(maxsize=4096)
def host_of(url: str) -> str:
    """Return the host that a reader would recognise; empty if it is not a web address."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return ""
    if "\\" in parts.netloc or _IN_NO_HOST.search(host):
        return ""
    return ".".join(map(_recognisable, host.removeprefix("www.").split(".")))


# With one of these a browser reads no host; with a backslash, another host than we do: `evil.test\.google.com`.
_IN_NO_HOST = re.compile(r"[%<>\"'`{}|^\s]")
_LOOKS_LIKE_ITSELF = re.compile(r"[a-z0-9_\-\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]*")
# Beside Latin letters these pass for a slash, a dot or a hyphen: `google.comノlogin.evil.test`.
_MARK = "[ノソゾンー・ヽヾ一丨丶丿]"
_PASSES_FOR_A_MARK = re.compile(f"[a-z0-9]{_MARK}|{_MARK}[a-z0-9]")


def _recognisable(label: str) -> str:
    """Return a label with look-alike letters as `xn--…`, as browsers do: `аpple` with a Cyrillic а looks like ours."""
    if label.isascii() or (_LOOKS_LIKE_ITSELF.fullmatch(label) and not _PASSES_FOR_A_MARK.search(label)):
        return label
    return f"xn--{label.encode('punycode').decode('ascii')}"


def is_web_url(url: str) -> bool:
    """Return whether a result may have this address."""
    is_clean = url == without_user(one_line(url).replace(" ", "%20")) and len(url) <= URL_LENGTH
    return is_clean and host_of(url) != "" and urlsplit(url).scheme in {"http", "https"}


def without_user(url: str) -> str:
    """Return the URL without a user name, which is there to deceive: `https://google.com@evil.test/` is evil.test."""
    try:
        parts = urlsplit(url)
        return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2])) if "@" in parts.netloc else url
    except ValueError:
        return url


_WRITTEN = re.compile(
    r"https?://[!#-&(-;=?-Z_a-z~]+(?:(?<=[/=_-])[^\x00-\x7f\s，。；：、！？（）【】《》「」『』“”‘’…—]+[!#-&(-;=?-Z_a-z~]*)*",
    re.IGNORECASE,
)


def find_urls(text: str) -> tuple[str, ...]:
    """Return the web addresses in a text, each page once. Chinese that follows without a blank continues the sentence,
    except after a joining mark: `/wiki/水表`."""
    written = map(_strip_punctuation, _WRITTEN.findall(text))
    return tuple({canonical_url(url): url for url in reversed([*filter(is_web_url, written)])}.values())[::-1]


def _strip_punctuation(url: str) -> str:
    """Remove the punctuation of the sentence from the end, but keep names like `Mercury_(planet)`."""
    if url.count(")") > url.count("("):
        url = url[: url.rindex(")")]
    return url.rstrip(".,:;!?*")


_TRACKING = ("utm_", "spm", "fbclid", "gclid", "msclkid", "yclid", "mc_cid", "mc_eid")
_OWN_PORT = re.compile(r":(?!80$|443$)\d+$")


@lru_cache(maxsize=4096)
def canonical_url(url: str) -> str:
    """Return the same form for all addresses of one page: no scheme, usual port, `www.`, fragment, tracking, last slash."""
    parts = urlsplit(url)
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    query = [(key, value) for key, value in pairs if not key.lower().startswith(_TRACKING)]
    port = _OWN_PORT.search(parts.netloc)
    return urlunsplit(("", host_of(url) + (port[0] if port else ""), parts.path.rstrip("/"), urlencode(query), ""))
