"""The numbers of articles: 第三十八条, 第38条, 第一百二十条之一."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from core.base.chinese.numerals import NUMERAL, to_chinese, to_int

_SHORTENED = re.compile("万[一二两三四五六七八九]$")


class ArticleNumber(NamedTuple):
    """`ArticleNumber(120, 1)` is 第一百二十条之一. Zero stands for text that belongs to no article."""

    number: int
    suffix: int = 0

    def __str__(self) -> str:
        if not self.number:
            return ""
        return f"第{to_chinese(self.number)}条" + (f"之{to_chinese(self.suffix)}" if self.suffix else "")

    @classmethod
    def read(cls, number: str, suffix: str | None = None) -> ArticleNumber:
        """Return the number that two numerals name; a ValueError for 一万二, which no statute writes."""
        if _SHORTENED.search(number):
            raise ValueError(number)
        return cls(to_int(number), to_int(suffix) if suffix else 0)


_ARTICLE = re.compile(rf"[第笫]?\s*({NUMERAL})\s*条?(?:\s*之\s*({NUMERAL}))?")


def parse_article_number(text: str) -> ArticleNumber:
    """Return the number of one article in any notation: 第38条, 三十八, 第 120 条之一. A ValueError for everything else."""
    found = _ARTICLE.fullmatch(unicodedata.normalize("NFKC", text).strip())
    if not found:
        raise ValueError(text)
    return ArticleNumber.read(*found.groups())
