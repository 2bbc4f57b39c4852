"""The user manual: Markdown files with a front matter. The help page shows them, the bundled engine searches them."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from core.base.paths import PROGRAM_DIR
from core.base.text import clean, one_line

log = logging.getLogger(__name__)

MANUAL_FOLDER = PROGRAM_DIR / "docs" / "manual"

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Written in C where the package has it: the articles are read by every command that may quote them."""
_ORDER = re.compile(r"^\d+-")  # the files' order may change, addresses may not
_FRONT_MATTER = re.compile(r"---[ \t]*\n(.*?)\n---[ \t]*(?:\n|\Z)(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ManualArticle:
    slug: str
    """Name in the address `/help?article={slug}`: the file's name without its ending and its leading number."""
    title: str
    keywords: tuple[str, ...]
    section: str
    body: str
    """Markdown without the front matter."""


def load_manual(folder: Path = MANUAL_FOLDER) -> tuple[ManualArticle, ...]:
    """Return every readable article, in the order of the file names. A bad file costs one article."""
    articles = []
    for path in sorted(folder.glob("*.md")):
        try:
            articles.append(_parse(_ORDER.sub("", path.stem), path.read_text("utf-8-sig")))
        except (OSError, ValueError, yaml.YAMLError) as error:  # a UnicodeError is a ValueError
            log.warning("manual article %s skipped: %s", path.name, one_line(str(error)))
    return tuple(articles)


@cache
def manual_articles() -> tuple[ManualArticle, ...]:
    """Return the articles that came with this program; they are read once."""
    return load_manual()


def find_article(slug: str) -> ManualArticle | None:
    """Return the article with this slug. It may come from a typed address: it is compared, never used as a path."""
    return next((article for article in manual_articles() if article.slug == slug), None)


def _parse(slug: str, text: str) -> ManualArticle:
    match = _FRONT_MATTER.fullmatch(clean(text))
    if not match:
        raise ValueError("no front matter")
    meta = yaml.load(match[1], _Loader)  # noqa: S506 (a safe loader)
    if not isinstance(meta, dict):
        raise ValueError("the front matter is not a list of keys and values")
    title, body = _line(meta.get("title")), match[2].strip()
    if not title or not body:
        raise ValueError("the title or the text is missing")
    return ManualArticle(slug, title, _keywords(meta.get("keywords")), _line(meta.get("section")), body)


def _line(value: Any) -> str:
    return "" if value is None else one_line(str(value))


def _keywords(value: Any) -> tuple[str, ...]:
    words = value if isinstance(value, list) else re.split(r"[,，、;；\s]", _line(value))
    return tuple(word for word in map(_line, words) if word)
