"""Cache of pages that were read not long ago, by address: no site is asked twice a day for the same page.

Others may be able to write to the cache. What it returns is checked like text from outside.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, get_args

from core.base.cache import DiskTtlCache, RedisTtlCache, TtlCache
from core.base.chinese.calendar import iso_day
from core.base.compression import compress_text, decompress_text
from core.base.redis_link import RedisLink
from core.base.settings import Settings
from core.base.text import clean, is_blank, one_line, shorten
from core.base.web_addresses import is_web_url
from core.reading.page import MAX_TEXT, MAX_TITLE, Page, PageKind
from core.reading.section_codec import decode_sections, encode_sections
from core.reading.sections import MAX_NUMBER, MAX_SECTIONS, TextSection, check_positions, check_section
from core.reading.settings import ReadingSettings

CLOCK_SKEW = 60.0
"""Seconds that a page may lie in the future. Beyond that a wrong clock wrote it, and its age means nothing."""
HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class CachedPage:
    """A page from the cache."""

    page: Page
    is_public: bool
    """False if it came from a private host that the administrator had allowed, and may not allow any more."""


class PageCache:
    """A cache of pages that were read. Failures are not kept: they may be over in a moment. The reader never sees its
    errors."""

    def __init__(self, store: TtlCache, *, good_for: float, clock: Callable[[], float] = time.time) -> None:
        self._store = store
        self._good_for = good_for
        self._clock = clock

    @classmethod
    def from_settings(cls, settings: Settings, link: RedisLink | None = None) -> PageCache | None:
        section = settings.section(ReadingSettings)
        if not section.cache_hours or not section.pages:
            return None
        disk = DiskTtlCache(settings.data_dir / "page_cache", name="网页缓存")
        store = RedisTtlCache(link, fallback=disk) if link else disk
        return cls(store, good_for=section.cache_hours * HOUR)

    @property
    def warning(self) -> str:
        return self._store.warning

    def get(self, address: str) -> CachedPage | None:
        """Return the page that was read at this normalized address, while it is good; else None."""
        packed = self._store.get(_stored_key(address))
        if packed is None:
            return None
        try:
            cached = _decode(packed, address)
        except ValueError:
            return None
        age = self._clock() - cached.page.fetched_at.timestamp()
        return cached if -CLOCK_SKEW <= age < self._good_for else None

    def put(self, address: str, cached: CachedPage) -> None:
        self._store.set(_stored_key(address), _encode(cached, address), self._good_for)

    def close(self) -> None:
        self._store.close()


def _stored_key(address: str) -> str:
    """Return the key of an address with its scheme: text that came without encryption must not pass for encrypted text.
    The number changes with the codec."""
    return f"wenyuan:page:2:{hashlib.sha256(address.encode()).hexdigest()}"


def _encode(cached: CachedPage, address: str) -> str:
    stored = {"address": address, "fetched_at": cached.page.fetched_at.timestamp(), "is_public": cached.is_public}
    page = asdict(cached.page)
    page["sections"] = encode_sections(cached.page.sections, page.pop("uncertain"))
    text = json.dumps(page | stored, ensure_ascii=False, separators=(",", ":"))
    return compress_text(text.encode("utf-8", "replace").decode())


def _decode(packed: str, address: str) -> CachedPage:
    """Return the page. Raise ValueError for anything that `_encode` did not write for this address."""
    try:
        document = json.loads(decompress_text(packed))
        text = _text(document["text"])
        sections, uncertain = _sections(text, document["sections"])
        page = Page(
            address=_checked(document["address"], document["address"] == address),
            final_address=_checked(document["final_address"], is_web_url(_typed(document["final_address"], str))),
            title=shorten(one_line(_typed(document["title"], str)), MAX_TITLE),
            text=text,
            published=_checked(document["published"], iso_day(document["published"]) == document["published"]),
            kind=_checked(document["kind"], document["kind"] in get_args(PageKind)),
            fetched_at=datetime.fromtimestamp(_typed(document["fetched_at"], float), UTC),
            instructions=max(0, _typed(document["instructions"], int)),
            is_cut=_typed(document["is_cut"], bool),
            sections=sections,
            uncertain=uncertain,
            unread_pages=_numbers(document["unread_pages"]),
        )
        return CachedPage(page, is_public=_typed(document["is_public"], bool))
    except (KeyError, TypeError, OverflowError, OSError, RecursionError) as error:
        raise ValueError("not a cached page") from error


def _typed(value: Any, kind: type) -> Any:
    if type(value) is not kind:  # True is no number here
        raise TypeError
    return value


def _checked(value: Any, is_valid: bool) -> Any:
    if not is_valid:
        raise ValueError("not a value that was stored")
    return value


def _sections(text: str, stored: Any) -> tuple[tuple[TextSection, ...], tuple[tuple[int, int], ...]]:
    sections, uncertain = decode_sections(_typed(stored, str))
    check_positions(text, sections, uncertain)
    return tuple(map(check_section, sections)), uncertain


def _numbers(stored: Any) -> tuple[int, ...]:
    numbers = tuple(_typed(number, int) for number in _typed(stored, list))
    if len(numbers) > MAX_SECTIONS or not all(0 < number <= MAX_NUMBER for number in numbers):
        raise ValueError("not numbers of pages")
    return numbers


def _text(value: Any) -> str:
    text = clean(_typed(value, str)[:MAX_TEXT])
    if is_blank(text[:1_000]) and is_blank(text):  # the first check is quick and nearly always enough
        raise ValueError("a page without text")
    return text
