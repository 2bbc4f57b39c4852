"""The agent's legal tools: statutes by article or content, and judgments; in the imported library, then on the web.

A look-up is reported as a search, so that it is numbered, cited, shown, stored and listed in 搜索记录 like any other.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from typing import Annotated, Any

from langchain_core.tools import BaseTool
from pydantic import BaseModel, BeforeValidator, Field

from core.agent.tools import AgentTool, Observation, ToolContext, ToolResult
from core.answer.events import SearchFinished
from core.base.text import one_line, shorten
from core.base.web_addresses import canonical_url, host_of
from core.legal import (
    CaseResponse,
    LegalArticle,
    LegalServices,
    NoCases,
    NoLegalIndex,
    Period,
    RegulationResponse,
    article_source,
    case_address,
    case_keys,
    case_parts,
    force_note,
    parse_article_number,
    parse_period,
    past_periods,
    reference_notes,
)
from core.legal.entities import CASES, LAWS, LIBRARY_LABELS, MAX_ARTICLES, CaseFilter, CaseType, CourtCase
from core.run import fair_share
from core.search import NOTHING_FOUND, SNIPPET_LENGTH, sources_block
from core.search.types import Attempt, AttemptOutcome, SearchQuery, SearchResponse, SearchResult, SearchType

ARTICLE_LENGTH, ARTICLES_LENGTH = 1_500, 4_000
"""Characters of one article, and of all articles of a look-up. Short ones leave their room to long ones."""
CASE_LENGTH = 600
WHOLE_CASE_LENGTH = 4_000


@dataclass(frozen=True, slots=True)
class LookupResult:
    response: SearchResponse
    details: dict[str, str]
    """The text of each library result for the model, by its address. The reader's list has only its beginning."""
    document: dict[str, Any]
    note: str = ""


class LegalTool(AgentTool):
    """Looks up in a thread, because SQLite and the index block. Subclasses build the query and look it up."""

    def build_query(self, *args: Any, **arguments: Any) -> SearchQuery:
        raise NotImplementedError

    def look_up(self, search_query: SearchQuery, *args: Any, **arguments: Any) -> LookupResult:
        raise NotImplementedError

    @property
    def desk(self) -> LegalServices:
        assert self.context.legal is not None
        return self.context.legal

    async def use(self, call_id: str, *args: Any, **arguments: Any) -> ToolResult:
        given = {name: value for name, value in arguments.items() if value is not None}
        asked = self.build_query(*args, **given)
        with self.announce_search(asked, call_id):
            found = await asyncio.to_thread(self.look_up, asked, *args, **given)
        return self._report_result(found, call_id)

    def _report_result(self, lookup: LookupResult, call_id: str) -> ToolResult:
        response, settings = lookup.response, self.context.settings.search
        count = MAX_ARTICLES if response.provider == LAWS else settings.result_count
        sources = self.context.run_sources.add_results(response.results[:count])
        self.context.emit(SearchFinished(response.without_texts, sources, call_id=call_id))
        if not sources:
            text = f"（{lookup.note}不要编造条文或来源。）" if lookup.note else NOTHING_FOUND
            return Observation(text, ok=True, summary=lookup.note or "没有找到结果"), lookup.document
        library = LIBRARY_LABELS.get(
            response.provider, ""
        )  # instead of its long addresses, which the model does not need
        by_address = {canonical_url(result.url): result for result in response.results}
        described = [
            replace(source, url=library, snippet=lookup.details[result.url])
            if (result := by_address[canonical_url(source.url)]).url in lookup.details
            else replace(source, snippet=shorten(result.snippet, settings.snippet_length))
            for source in sources
        ]
        origin = library if lookup.details else "网络"
        room = self.context.prompt.next_budget().tokens  # in characters, of which a token has at least one
        longest = min(WHOLE_CASE_LENGTH, fair_share([len(source.snippet) for source in described], room))
        text = f"（{lookup.note}以下来自{origin}。）\n{sources_block(described, snippet_length=longest)}"
        self.context.prompt.add(text)
        return Observation(text, ok=True, summary=f"找到 {len(response.results)} 条结果"), lookup.document

    def make_result(
        self,
        library: str,
        search_query: SearchQuery,
        answer: RegulationResponse | CaseResponse,
        library_results: Sequence[tuple[SearchResult, str]],
        *,
        note: str = "",
        remark: str = "",
    ) -> LookupResult:
        """Return the library's results with their details; or the web's results, if the library had none."""
        if answer.web is None:
            results = tuple({result.url: result for result, _ in library_results}.values())
            attempt = Attempt(library, AttemptOutcome.OK if results else AttemptOutcome.EMPTY, answer.search_time)
            response = SearchResponse(search_query, results, (attempt,), provider=library)
        else:
            attempt = Attempt(library, AttemptOutcome.EMPTY)
            if not self.desk.has_texts(library):
                empty = NoCases if library == CASES else NoLegalIndex
                reason, cure = empty.default_message, empty.default_cure
                attempt = Attempt(library, AttemptOutcome.SKIPPED, reason=reason, cure=cure)
            response = replace(answer.web, query=search_query, attempts=(attempt, *answer.web.attempts))
        remarks = tuple(filter(None, (remark, note)))
        response = replace(response, search_time=answer.search_time, notes=(*response.notes, *remarks))
        return LookupResult(response, {result.url: words for result, words in library_results}, answer.to_json(), note)


# ── Statutes ──────────────────────────────────────────────────────────────────────────────────────────────────────

_Text = Annotated[str, BeforeValidator(lambda value: str(value) if isinstance(value, int) else value)]
"""A text; models may send an article's number as an integer."""


class RegulationInput(BaseModel):
    query: _Text = Field(
        default="",
        description="法律条文会用的词句（不是口语），加上最可能适用的条文；只查一条时写法律名称和条号",
        examples=[
            "劳动合同法第三十八条",
            "用人单位未及时足额支付劳动报酬 劳动者解除劳动合同 经济补偿 《劳动合同法》第三十八条 《劳动合同法》第四十六条",
        ],
    )
    law_name: _Text | None = Field(default=None, description="可选：法律名称，如 劳动合同法")
    article: _Text | None = Field(default=None, description="可选：条号，如 第三十八条")
    as_of: _Text | None = Field(
        default=None,
        description="可选：事情发生在过去时，填那一天或那一年，按当时施行的版本查",
        examples=["2019-05-01", "2019"],
    )


class RegulationSearchTool(LegalTool):
    name: str = "regulation_search"
    description: str = (
        "查法律法规的条文：按法律名称、条号或内容查找法律、行政法规和司法解释，返回条文原文和施行日期；事情发生在过去时用 as_of 查当时的版本。"
        "query 先写条文会用的词句，特别规定和它依据的一般规定都要想到，再写你认为最可能适用的条文（《法》第几条）；库中没有的条文不会返回。"
        "凡是要引用、核验法条，或回答法律如何规定，都先用此工具；查判决和案例用 case_search，其他内容用 web_search。"
    )
    args_schema: Any = RegulationInput

    def build_query(self, query: str = "", law_name: str = "", article: str = "", **_: Any) -> SearchQuery:
        words = one_line(" ".join(filter(None, (law_name, article, query))))
        return SearchQuery(words, type=SearchType.REGULATION, language=self.context.settings.search.language)

    def look_up(
        self, search_query: SearchQuery, query: str = "", law_name: str = "", article: str = "", as_of: str = ""
    ) -> LookupResult:
        """Search the statutes, at the time that the model or the question names."""
        context = self.context
        service = self.desk.regulations(
            context.visitor, context.session_cache, context.search, skip_caches=context.skip_caches
        )
        period, note = self._period(as_of)
        wording = _query_text(query, law_name, article)
        answer = service.search(wording, other_wordings=(self.context.question,), as_of=period)
        articles = answer.results if answer.origin == "index" else ()
        longest = min(ARTICLE_LENGTH, fair_share([len(one.content) for one in articles], ARTICLES_LENGTH))
        held = [
            (article_source(self.desk.public_url, one, rank), _article_details(one, longest))
            for rank, one in enumerate(articles, 1)
        ]
        return self.make_result(LAWS, search_query, answer, held, note=note + answer.note)

    def _period(self, as_of: str) -> tuple[Period | None, str]:
        """Return the time that the model names, else the one that the question is about, and a note on it."""
        if as_of:
            period = parse_period(as_of)
            unread = f"没有按日期查：「{shorten(one_line(as_of), 20)}」不是 2019-05-01 或 2019 这样的日期。"
            return period, f"按 {period.spaced}的法律查找。" if period else unread
        times = past_periods(self.context.question, date.today())
        if len(times) == 1:
            return times[0], times[0].search_note
        several = f"问题里有几个时间（{'、'.join(map(str, times))}），按现行法律查找；要查当时的版本请用 as_of。"
        return None, several if times else ""


def _query_text(query: str, law_name: str, article: str) -> str:
    """Return one line as a person would type it. Models often repeat the other arguments in `query`."""
    law = law_name.strip(" 《》")
    if law and law in query:
        return query
    with suppress(ValueError):  # a number with 款 and 项, or no number at all
        article = str(parse_article_number(article))
    cited = f"《{law}》{article}" if law and article else law or article
    return f"{cited} {query}" if query and query not in cited else cited


def _article_details(article: LegalArticle, longest: int) -> str:
    parts = [force_note(article)]
    if article.excerpt and article.excerpt != article.content:
        parts.append(f"所查的款项：{article.excerpt}全条：")
    parts.append(shorten(one_line(article.content), longest))
    return "".join([*parts, *reference_notes(article)])


# ── Cases ─────────────────────────────────────────────────────────────────────────────────────────────────────────

_CASE_WORDS = {
    CaseType.CRIMINAL: ("刑", "criminal"),
    CaseType.ADMINISTRATIVE: ("行政", "administrative"),
    CaseType.CIVIL: ("民", "商事", "civil", "commercial"),
    CaseType.OTHER: ("其他", "执行", "赔偿", "other"),
}


def _case_type(value: Any) -> CaseType | None:
    """Return the type of case. Models write 民事案件, 刑, `Civil` or an invented type; an unknown one means all types."""
    written = str(value).lower()
    return next((kind for kind, words in _CASE_WORDS.items() if any(word in written for word in words)), None)


def _year(value: Any) -> int | None:
    """Return the year: 2021 in 2021年; None for 近年, 不限 and anything else."""
    found = re.search(r"(?<!\d)(?:19|20)\d\d(?!\d)", str(value))
    return int(found[0]) if found else None


_WORDS_FOR_ANY = {"不限", "全部", "所有", "无", "none", "null", "all", "any"}


def _clean_name_part(value: Any) -> str:
    written = one_line(str(value or ""))
    return "" if written.lower() in _WORDS_FOR_ANY else written


_PartOfName = Annotated[str, BeforeValidator(_clean_name_part)]


class CaseInput(BaseModel):
    query: _Text = Field(
        default="",
        description="案件的关键词、案号，或指导性案例的编号",
        examples=["用人单位违法解除 赔偿金", "（2021）最高法民申1234号", "指导性案例24号"],
    )
    case_type: Annotated[CaseType | None, BeforeValidator(_case_type)] = Field(
        default=None, description="可选：民事、刑事、行政 或 其他"
    )
    cause: _PartOfName = Field(default="", description="可选：案由或其中几个字，如 民间借贷")
    court: _PartOfName = Field(default="", description="可选：法院名称或其中几个字，如 北京")
    year: Annotated[int | None, BeforeValidator(_year)] = Field(default=None, description="可选：裁判年份，如 2021")


class CaseSearchTool(LegalTool):
    name: str = "case_search"
    description: str = (
        "查司法案例和裁判文书：按关键词或案号查找判决、裁定和典型案例，可以限定案由、法院、年份和类型，返回案号、法院、日期、案由、裁判要旨和案情。"
        "要了解法院怎么判、有没有类似案件时使用此工具；查法条用 regulation_search，其他内容用 web_search。"
    )
    args_schema: Any = CaseInput

    def build_query(self, query: str = "", cause: str = "", court: str = "", year: int = 0, **_: Any) -> SearchQuery:
        words = one_line(" ".join(map(str, filter(None, (query, cause, court, year)))))
        return SearchQuery(words, type=SearchType.CASE, language=self.context.settings.search.language)

    def look_up(
        self,
        search_query: SearchQuery,
        query: str = "",
        case_type: CaseType | None = None,
        cause: str = "",
        court: str = "",
        year: int | None = None,
    ) -> LookupResult:
        """Search the judgments. A query with a case number gets the whole document."""
        context = self.context
        service = self.desk.cases(
            context.visitor, context.session_cache, context.search, skip_caches=context.skip_caches
        )
        wanted = CaseFilter(case_type, cause, court, year)
        answer = service.search(query, case_filter=wanted, may_relax_filter=True)
        whole = bool(case_keys(query))
        cases = enumerate(answer.results if answer.origin == "index" else (), 1)
        public_url = self.desk.public_url
        held = [(_case_result(public_url, one, rank), _case_details(one, with_full_text=whole)) for rank, one in cases]
        remark = f"只查{wanted}。" if wanted and not answer.note else ""
        return self.make_result(CASES, search_query, answer, held, note=answer.note, remark=remark)


def _case_result(public_url: str, case: CourtCase, rank: int) -> SearchResult:
    url = public_url + case_address(case.number or case.name)
    return SearchResult(
        title=f"{case.name} {case.number}" if case.number and case.number not in case.name else case.name,
        url=url,
        snippet=shorten(one_line(case.gist or case.summary or case.verdict or case.text), SNIPPET_LENGTH),
        source=host_of(url),
        published=case.date,
        engine=CASES,
        rank=rank,
        read="library",
        text=_case_text(case),
    )


def _case_text(case: CourtCase) -> str:
    known = {**_case_facts(case), **dict(case_parts(case)), "全文": case.text}
    return "\n".join([case.name, *(f"{name}：{value}" for name, value in known.items() if value)])


def _case_facts(case: CourtCase) -> dict[str, str | None]:
    return {"案号": case.number, "法院": case.court, "日期": case.date, "类型": case.type, "案由": case.cause}


def _case_details(case: CourtCase, *, with_full_text: bool) -> str:
    """Return what the source says of a case; with the full text if it was asked for by its number."""
    known = {
        **_case_facts(case),
        **{title: shorten(one_line(text), CASE_LENGTH) for title, text in case_parts(case)},
        "全文": one_line(case.text) if with_full_text else "",
    }
    return "；".join(f"{name}：{value}" for name, value in known.items() if value)


def build_regulation_search(context: ToolContext) -> BaseTool | None:
    return RegulationSearchTool(context=context) if context.legal and context.legal.is_available else None


def build_case_search(context: ToolContext) -> BaseTool | None:
    return CaseSearchTool(context=context) if context.legal and context.legal.is_available else None
