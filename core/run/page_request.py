"""Request of a model to read pages, as it wrote it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from core.base.text import one_line, shorten
from core.base.web_addresses import URL_LENGTH, find_urls
from core.run.prompts import MAX_MODEL_QUERY_LENGTH

MAX_PAGES_PER_CALL = 3
INPUT_LENGTH = MAX_PAGES_PER_CALL * URL_LENGTH


@dataclass(frozen=True, slots=True)
class PageRequest:
    """The pages in a model's input: `[1]`, `1, 3`, `来源 2` or a link, each optionally followed by what to look for."""

    pages: tuple[int | str, ...]
    """Numbers of sources, and addresses."""
    focus: str = ""

    @classmethod
    def parse(cls, text: str, focus: str = "") -> PageRequest:
        text = one_line(text[:INPUT_LENGTH])
        pages: list[int | str] = []
        end = 0
        while found := _PAGE.match(text, end):
            pages += [int(found[1])] if found[1] else find_urls(found[2])
            end = found.end()
        focus = one_line(focus or text[end:].strip(_BORDERS))
        return cls(tuple(dict.fromkeys(pages)), shorten(focus, MAX_MODEL_QUERY_LENGTH))


_BORDERS = " ,，、;；:：\"'「」[]【】()（）"
_PAGE = re.compile(
    r"[\s,，、;；\"']*(?:(?:and|和|与|及|来源|编号|网页|网址|sources?|numbers?|pages?|urls?)[\s:：]*)*"
    r"(?:[\[【(（「#\"']*\s*(\d{1,3})(?![a-z0-9_%]|\.\d|[年月日])\s*[\]】)）」\"']*|(https?://[^\s，。、；]+))",
    re.IGNORECASE,
)
