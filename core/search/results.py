"""From what an engine sent to results that anyone may show: cleaned, only web links, each address once."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from html import unescape
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from core.base.text import one_line, shorten
from core.search.types import SearchResult, host_of

log = logging.getLogger(__name__)

TITLE_LENGTH = 200
SNIPPET_LENGTH = 1_000
URL_LENGTH = 2_000


@dataclass(frozen=True, slots=True)
class RawResult:
    """One result as an engine's parser reads it: any field may still be missing, hostile or of the wrong type."""

    title: Any
    url: Any
    snippet: Any = ""
    published: Any = None


class Found(list[SearchResult]):
    """The usable results of one engine, and how many were not usable."""

    def __init__(self, results: Iterable[SearchResult] = (), *, skipped: int = 0, notes: tuple[str, ...] = ()) -> None:
        super().__init__(results)
        self.skipped = skipped
        self.notes = notes


def clean_results(raw: Iterable[RawResult], *, engine: str, limit: int, notes: tuple[str, ...] = ()) -> Found:
    """The first `limit` usable results; a broken one costs only itself."""
    found: dict[str, SearchResult] = {}
    skipped = 0
    for entry in raw:
        result = _clean(entry, engine, rank=len(found) + 1)
        if result is None:
            skipped += 1
        elif len(found) < limit:
            found.setdefault(canonical(result.url), result)
    if skipped:
        log.warning("engine %s: %d results could not be read and were skipped", engine, skipped)
    return Found(found.values(), skipped=skipped, notes=notes)


def _clean(raw: RawResult, engine: str, *, rank: int) -> SearchResult | None:
    if not isinstance(raw.url, str) or not isinstance(raw.title, str | None):
        return None
    url = without_user(one_line(raw.url[: URL_LENGTH + 1]).replace(" ", "%20"))
    source = host_of(url)
    if not source or len(url) > URL_LENGTH or urlsplit(url).scheme not in {"http", "https"}:
        return None
    return SearchResult(
        title=_words(raw.title or "", TITLE_LENGTH) or source,
        url=url,
        snippet=_words(raw.snippet, SNIPPET_LENGTH) if isinstance(raw.snippet, str) else "",
        source=source,
        published=one_line(raw.published[:40]) or None if isinstance(raw.published, str) else None,
        engine=engine,
        rank=rank,
    )


def _words(text: str, limit: int) -> str:
    """As a reader would see them: many engines send text that was written for HTML (`AT&amp;T`)."""
    return shorten(one_line(unescape(text[: limit * 4])), limit)


def without_user(url: str) -> str:
    """`https://google.com@evil.test/` leads to evil.test: what stands before the `@` is there to deceive."""
    try:
        parts = urlsplit(url)
        return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2])) if "@" in parts.netloc else url
    except ValueError:
        return url


_TRACKING = ("utm_", "spm", "fbclid", "gclid", "msclkid", "yclid", "mc_cid", "mc_eid")


def canonical(url: str) -> str:
    """Equal for two addresses of one page: without scheme, `www.`, fragment, tracking marks and trailing slash."""
    parts = urlsplit(url)
    query = [
        (key, value)
        for key, value in parse_qsl(parts.query, keep_blank_values=True)
        if not key.lower().startswith(_TRACKING)
    ]
    return urlunsplit(("", host_of(url), parts.path.rstrip("/"), urlencode(query), ""))
