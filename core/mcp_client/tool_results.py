"""The result of a foreign tool: links and texts that can be cited, whatever the shape in which the server sends them."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.base.text import clean, one_line, shorten
from core.base.web_addresses import is_web_url
from core.reading import count_instructions

if TYPE_CHECKING:
    from mcp_types import CallToolResult, ContentBlock

MAX_CHARS = 200_000
"""Characters of all texts of one result."""
MAX_ITEMS = 20
MAX_TITLE = 200
SNIPPET_AT_MOST = 1_000
"""Characters up to which the only text of an item is taken for an excerpt of it."""

_ADDRESSES = ("url", "link", "href", "uri", "sourceUrl", "source_url", "finalUrl")
_TITLES = ("title", "name", "headline", "lawName", "caseName")
_SNIPPETS = ("snippet", "summary", "description", "abstract", "gist")
_TEXTS = ("text", "content", "body", "markdown", "raw_content")
_DATES = ("published", "publishedDate", "published_date", "publishDate", "date")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass(frozen=True, slots=True)
class FoundItem:
    """Something with a web address that a tool has found."""

    url: str
    title: str
    snippet: str = ""
    text: str = ""
    published: str | None = None


@dataclass(frozen=True, slots=True)
class ToolOutput:
    items: tuple[FoundItem, ...] = ()
    text: str = ""
    """What is not an item, cleaned."""
    is_cut: bool = False
    """True if there was more than is read of a result."""
    dropped: str = ""
    """What is not text, in words: 2 张图片."""
    is_error: bool = False
    """True if the server says that the tool has failed."""
    instructions: int = 0
    """The number of places that look like instructions to a model."""

    @property
    def is_empty(self) -> bool:
        return not (self.items or self.text)


def read_result(result: CallToolResult) -> ToolOutput:
    """Return the links and texts of a result. May take some milliseconds for a long one."""
    texts, linked, dropped = list[str](), list[FoundItem](), Counter[str]()
    structured = result.structured_content
    items = list(_items_in(structured))
    for block in result.content:
        _read_block(block, texts, linked, dropped)
    if items:
        texts = []  # the same in words, or as JSON
    elif texts:
        items, texts = _items_and_texts(texts)
    elif structured is not None:
        texts = [json.dumps(structured, ensure_ascii=False, indent=1)]
    room = _Room(MAX_CHARS)
    kept = tuple(room.item(one) for one in _distinct([*items, *linked])[:MAX_ITEMS] if room.left)
    text = room.text("\n\n".join(filter(None, texts)))
    return ToolOutput(
        kept,
        text,
        is_cut=room.is_cut or len(items) + len(linked) > MAX_ITEMS,
        dropped="、".join(f"{count} {name}" for name, count in dropped.items()),
        is_error=result.is_error,
        instructions=sum(map(count_instructions, (text, *(f"{one.title} {one.snippet} {one.text}" for one in kept)))),
    )


class _Room:
    """The characters that are left for the texts of a result."""

    def __init__(self, characters: int) -> None:
        self.left = characters
        self.is_cut = False

    def text(self, text: str) -> str:
        kept = clean(text[: self.left]).strip()
        self.is_cut |= len(text) > self.left
        self.left = max(self.left - len(kept), 0)
        return kept

    def item(self, item: FoundItem) -> FoundItem:
        title = shorten(one_line(item.title[: MAX_TITLE * 4]), MAX_TITLE)
        return FoundItem(item.url, title, one_line(self.text(item.snippet)), self.text(item.text), item.published)


def _read_block(block: ContentBlock, texts: list[str], linked: list[FoundItem], dropped: Counter[str]) -> None:
    match block.type:
        case "text":
            texts.append(block.text)
        case "resource_link":
            title = block.title or block.name
            if is_web_url(block.uri):
                linked.append(FoundItem(block.uri, title, block.description or ""))
            else:
                texts.append("：".join(filter(None, (f"{title}（{block.uri}）", block.description))))
        case "resource":
            resource = block.resource
            text = getattr(resource, "text", None)
            if text is None:
                dropped["个文件"] += 1
            elif is_web_url(resource.uri):
                linked.append(FoundItem(resource.uri, resource.uri, text=text))
            else:
                texts.append(f"{resource.uri}\n{text}")
        case "image":
            dropped["张图片"] += 1
        case "audio":
            dropped["段声音"] += 1


def _items_and_texts(texts: Iterable[str]) -> tuple[list[FoundItem], list[str]]:
    """Return the items in those texts that are JSON, and the other texts."""
    items, rest = list[FoundItem](), list[str]()
    for text in texts:
        found = list(_items_in(_parsed(text)))
        items += found
        rest += [] if found else [text]
    return items, rest


def _parsed(text: str) -> Any:
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _items_in(value: Any) -> Iterator[FoundItem]:
    """Yield the items of a list, of the lists in a mapping, or the one that a mapping is."""
    if isinstance(value, dict):
        if (item := _item(value)) is not None:
            yield item
            return
        lists: list[Any] = [one for one in value.values() if isinstance(one, list)]
    else:
        lists = [value] if isinstance(value, list) else []
    for entries in lists:
        items = [_item(entry) for entry in entries if isinstance(entry, dict)]
        if entries and all(items) and len(items) == len(entries):
            yield from (item for item in items if item)


def _item(entry: Mapping[str, Any]) -> FoundItem | None:
    """Return the item that a mapping is: it has a web address, and a title or a text."""
    url = next((entry[key] for key in _ADDRESSES if isinstance(entry.get(key), str) and is_web_url(entry[key])), "")
    title, snippet, text = (_first_text(entry, keys) for keys in (_TITLES, _SNIPPETS, _TEXTS))
    if not url or not (title or snippet or text):
        return None
    if len(text) <= SNIPPET_AT_MOST and not snippet:
        snippet, text = text, ""
    day = _first_text(entry, _DATES)[:10]
    return FoundItem(url, title or url, snippet, text, day if _DAY.fullmatch(day) else None)


def _first_text(entry: Mapping[str, Any], keys: Iterable[str]) -> str:
    return next((entry[key] for key in keys if isinstance(entry.get(key), str) and entry[key].strip()), "")


def _distinct(items: Iterable[FoundItem]) -> list[FoundItem]:
    first: dict[str, FoundItem] = {}
    for item in items:
        first.setdefault(item.url, item)
    return list(first.values())
