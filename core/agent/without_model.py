"""Agent mode without a language model: searches for the question's key words, at most twice, then quotes the sources."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.base.chinese.script import to_simplified
from core.base.chinese.sentences import key_phrases
from core.base.text import is_chinese, normalize
from core.run import are_related, in_script_of, is_small_talk
from core.search.types import Source

MAX_SEARCHES = 2
MAX_QUERY_LENGTH = 80


@dataclass(frozen=True, slots=True)
class ExcerptStep:
    """A thought and the search that follows it. Without a tool the answer follows."""

    thought: str
    tool: str = ""
    query: str = ""


@dataclass(frozen=True, slots=True)
class _Thoughts:
    must_search: str = "回答要有来源，先用问题中的关键词搜索。"
    search_again: str = "上一次搜索没有找到能回答问题的来源，换一个搜索词再试一次。"
    found: str = "已经找到与问题有关的来源，可以摘录回答。"
    not_found: str = "没有能回答问题的来源，如实说明。"
    no_search_needed: str = "这个问题不需要搜索。"


_CHINESE = _Thoughts()
_ENGLISH = _Thoughts(
    must_search="The answer needs sources, so I search for the key words of the question.",
    search_again="The last search found no source that answers the question; I try other words once.",
    found="There are sources about the question; I can quote them.",
    not_found="No source answers the question; I say so.",
    no_search_needed="This needs no search.",
)


def next_step(question: str, tools: Sequence[str], queries: Sequence[str], sources: Sequence[Source]) -> ExcerptStep:
    """Return the next search; or the answer, once a source speaks about the question or the searches are used up."""
    thoughts = _CHINESE if is_chinese(question) else _ENGLISH
    query, tool = _next_query(question, queries), _choose_tool(question, tools, first=not queries)
    if not query or not tool or is_small_talk(question):
        step = ExcerptStep(thoughts.no_search_needed)
    elif are_related(question, sources):
        step = ExcerptStep(thoughts.found)
    elif len(queries) >= MAX_SEARCHES:
        step = ExcerptStep(thoughts.not_found)
    else:
        step = ExcerptStep(thoughts.search_again if queries else thoughts.must_search, tool, query)
    return ExcerptStep(in_script_of(question, step.thought), step.tool, step.query)


# A question that names an article or a case number is searched in the law library.
_LEGAL_TOOLS = {
    "regulation_search": re.compile(r"第\s*[〇零一二三四五六七八九十百千\d]+\s*条"),
    "case_search": re.compile(r"[(（〔\[]\s*\d{4}\s*[)）〕\]].{2,20}号"),
}


def _choose_tool(question: str, tools: Sequence[str], *, first: bool) -> str:
    names = [name for name in tools if not name.startswith("read_")]  # they take numbers, and here are only words
    legal = [tool for tool, named in _LEGAL_TOOLS.items() if tool in names and named.search(to_simplified(question))]
    documents = [name for name in names if name == "document_search"]  # offered only if the reader has chosen some
    web = [name for name in names if name == "web_search"]
    return next(iter([*((*documents, *legal) if first else ()), *web, *names]), "")


def _next_query(question: str, tried: Sequence[str]) -> str:
    """Return the key words of the question; after the first search fewer of them, the most specific ones."""
    phrases = key_phrases(question) or re.findall(r"\w+", question)
    more = "介绍" if is_chinese(question) else "overview"
    queries = [" ".join(phrases), *_broader_queries(phrases), " ".join((*phrases, more))]
    known = {normalize(query) for query in tried}
    usable = (_limit_length(query) for query in queries if query and phrases)
    return next((query for query in usable if normalize(query) not in known), "")


def _broader_queries(phrases: Sequence[str]) -> Iterator[str]:
    """Yield the longest phrase, which is the most specific, then the second halves: Chinese puts the head last."""
    if len(phrases) > 1:
        yield max(phrases, key=len)
    for phrase in phrases:
        if is_chinese(phrase) and len(phrase) >= 4:
            yield phrase[len(phrase) // 2 :]


def _limit_length(query: str) -> str:
    return query if len(query) <= MAX_QUERY_LENGTH else query[:MAX_QUERY_LENGTH].rsplit(" ", 1)[0]
