"""Where the page 法规与案例 shows an article, a law or a case: what a source of an answer points to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import quote, urlencode

PAGE = "/legal"
_ASCII = re.compile(r"[\x00-\x7f]")


def law_query(
    name: str, article: str | None = None, version: str | None = None, on: str | None = None
) -> dict[str, str]:
    """`article` as in `articleNumber` (第三十八条), `version` as in `publishDate`, `on` as in `Period.iso`; without either, the
    version in force."""
    values = {"law": name, "article": article, "version": version, "on": on}
    return {key: value for key, value in values.items() if value}


def law_address(name: str, article: str | None = None, version: str | None = None) -> str:
    return f"{PAGE}?{urlencode(law_query(name, article, version))}"


def case_address(number: str) -> str:
    return f"{PAGE}?{urlencode({'case': number})}"


def short_link(query: Mapping[str, str]) -> str:
    """From the page to another state of it, without what browsers encode by themselves: a law may have a thousand such links."""
    given = (f"{name}={_ASCII.sub(lambda letter: quote(letter[0], safe=''), value)}" for name, value in query.items())
    return f"legal?{'&'.join(given)}"
