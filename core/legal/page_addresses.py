"""Addresses of the page 法规与案例 that show an article, a law or a case. Sources of answers point to them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import quote, urlencode

PAGE = "/legal"
_ASCII = re.compile(r"[\x00-\x7f]")


def law_query(
    name: str, article: str | None = None, version: str | None = None, as_of: str | None = None
) -> dict[str, str]:
    """Return the query parameters that show a law, or one article of it. `article` is an `articleNumber` (第三十八条),
    `version` a `publishDate`, `as_of` a `Period.iso`. Without version and day the page shows the version in force."""
    values = {"law": name, "article": article, "version": version, "on": as_of}
    return {key: value for key, value in values.items() if value}


def law_address(name: str, article: str | None = None, version: str | None = None) -> str:
    return f"{PAGE}?{urlencode(law_query(name, article, version))}"


def case_address(number: str) -> str:
    return f"{PAGE}?{urlencode({'case': number})}"


def short_link(query: Mapping[str, str]) -> str:
    """Return a relative link from the page to another state of it. Leaves out what browsers encode themselves, because
    a law may have a thousand such links."""
    given = (f"{name}={_ASCII.sub(lambda letter: quote(letter[0], safe=''), value)}" for name, value in query.items())
    return f"legal?{'&'.join(given)}"
