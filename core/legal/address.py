"""Where the page 法规与案例 shows an article, a law or a case: what a source of an answer points to."""

from __future__ import annotations

from urllib.parse import urlencode

PAGE = "/legal"


def law_query(name: str, article: str | None = None, version: str | None = None) -> dict[str, str]:
    """`article` as in `articleNumber` (第三十八条), `version` as in `publishDate`; without one, the version in force."""
    values = {"law": name, "article": article, "version": version}
    return {key: value for key, value in values.items() if value}


def law_address(name: str, article: str | None = None, version: str | None = None) -> str:
    return f"{PAGE}?{urlencode(law_query(name, article, version))}"


def case_address(number: str) -> str:
    return f"{PAGE}?{urlencode({'case': number})}"
