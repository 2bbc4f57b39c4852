"""The agent's legal tools: statutes by article or content, and judgments; in the imported library, then on the web.

A look-up is reported as a search, so that it is numbered, cited, shown, stored and listed in 搜索账本 like any other.
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

from core.agent.tools import AgentTool, Observation, Result, ToolContext
from core.answer.events import SearchFinished
from core.base.text import one_line, shorten
from core.base.web_addresses import canonical, host_of
from core.legal.address import case_address
from core.legal.desk import LegalDesk
from core.legal.export import parts_of_case
from core.legal.library.cases import CaseResponse
from core.legal.library.statutes import LegalArticle, RegulationResponse
from core.legal.sources import article_source, in_force, mentioned
from core.legal.text.article_numbers import parse_article_number
from core.legal.text.as_of import Period, asked_for, parse_period
from core.legal.text.case_numbers import find_case_numbers
from core.legal.types import CASES, LAWS, LIBRARIES, CaseFilter, CaseType, CourtCase
from core.search.format import NOTHING_FOUND, sources_block
from core.search.results import SNIPPET_LENGTH
from core.search.types import Attempt, Outcome, SearchQuery, SearchResponse, SearchResult, SearchType

ARTICLE_LENGTH = 1_500
CASE_LENGTH = 600
WHOLE_CASE_LENGTH = 4_000


@dataclass(frozen=True, slots=True)
class Found:
    response: SearchResponse
    details: dict[str, str]
    """The text of each library result for the model, by its address. The reader's list has only its beginning."""
    document: dict[str, Any]
    note: str = ""


class LegalTool(AgentTool):
    """Looks up in a thread, because SQLite and the index block. Subclasses build the query and look it up."""

    def asked(self, *args: Any, **given: Any) -> SearchQuery:
        raise NotImplementedError

    def find(self, asked: SearchQuery, *args: Any, **given: Any) -> Found:
        raise NotImplementedError

    @property
    def desk(self) -> LegalDesk:
        assert self.context.legal is not None
        return self.context.legal

    async def use(self, call_id: str, *args: Any, **given: Any) -> Result:
        asked = self.asked(*args, **given)
        with self.searching(asked, call_id):
            found = await asyncio.to_thread(self.find, asked, *args, **given)
        return self._told(found, call_id)

    def _told(self, found: Found, call_id: str) -> Result:
        response, settings = found.response, self.context.settings.search
        sources = self.context.evidence.number(response.results[: settings.result_count])
        self.context.emit(SearchFinished(response.told, sources, call_id=call_id))
        if not sources:
            text = f"（{found.note}不要编造条文或来源。）" if found.note else NOTHING_FOUND
            return Observation(text, ok=True, summary=found.note or "没有找到结果"), found.document
        library = LIBRARIES.get(
            response.provider, ""
        )  # the library's addresses are long, and the model does not need them
        by_address = {canonical(result.url): result for result in response.results}
        described = [
            replace(source, url=library, snippet=found.details[result.url])
            if (result := by_address[canonical(source.url)]).url in found.details
            else replace(source, snippet=shorten(result.snippet, settings.snippet_length))
            for source in sources
        ]
        origin = library if found.details else "网络"
        block = sources_block(described, snippet_length=WHOLE_CASE_LENGTH)
        text = f"（{found.note}以下来自{origin}。）\n{block}"
        return Observation(text, ok=True, summary=f"找到 {len(response.results)} 条结果"), found.document

    def found(
        self,
        library: str,
        asked: SearchQuery,
        answer: RegulationResponse | CaseResponse,
        held: Sequence[tuple[SearchResult, str]],
        *,
        note: str = "",
        remark: str = "",
    ) -> Found:
        """Return the library's results with their details; or the web's results, if the library had none."""
        if answer.web is None:
            results = tuple({result.url: result for result, _ in held}.values())
            attempt = Attempt(library, Outcome.OK if results else Outcome.EMPTY, answer.search_time)
            response = SearchResponse(asked, results, (attempt,), provider=library)
        else:
            attempt = Attempt(library, Outcome.EMPTY)
            if not self.desk.library.available:
                attempt = Attempt(library, Outcome.SKIPPED, reason="还没有导入。", cure="可在「法规与案例」页导入。")
            response = replace(answer.web, query=asked, attempts=(attempt, *answer.web.attempts))
        remarks = tuple(filter(None, (remark, note)))
        response = replace(response, search_time=answer.search_time, notes=(*response.notes, *remarks))
        return Found(response, {result.url: words for result, words in held}, answer.to_json(), note)


# ── Statutes ──────────────────────────────────────────────────────────────────────────────────────────────────────

_Text = Annotated[str, BeforeValidator(lambda value: str(value) if isinstance(value, int) else value)]
"""A text; models may send an article's number as an integer."""


class RegulationInput(BaseModel):
    query: _Text = Field(
        default="",
        description="法律名称和条号，或用法律条文的用语描述要找的规定",
        examples=["劳动合同法第三十八条", "用人单位未及时足额支付劳动报酬 劳动者解除劳动合同"],
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
        "凡是要引用、核对法条，或回答法律如何规定，都先用此工具；查判决和案例用 case_search，其他内容用 web_search。"
    )
    args_schema: Any = RegulationInput

    def asked(
        self, query: str = "", law_name: str | None = None, article: str | None = None, as_of: str | None = None
    ) -> SearchQuery:
        words = one_line(" ".join(filter(None, (law_name, article, query))))
        return SearchQuery(words, type=SearchType.REGULATION, language=self.context.settings.search.language)

    def find(
        self,
        asked: SearchQuery,
        query: str = "",
        law_name: str | None = None,
        article: str | None = None,
        as_of: str | None = None,
    ) -> Found:
        """Search the statutes, at the time that the model or the question names."""
        service = self.desk.regulations(self.context.user, self.context.session_cache, self.context.search)
        period, note = self._time(as_of)
        wording = _wording(query, law_name or "", article or "")
        answer = service.search(wording, also=(self.context.question,), as_of=period)
        articles = enumerate(answer.results if answer.origin == "index" else (), 1)
        held = [(article_source(self.desk.public_url, one, rank), _article_details(one)) for rank, one in articles]
        return self.found(LAWS, asked, answer, held, note=note + answer.note)

    def _time(self, as_of: str | None) -> tuple[Period | None, str]:
        """Return the time that the model names, else the one that the question is about, and a note on it."""
        if as_of:
            period = parse_period(as_of)
            unread = f"没有按日期查：「{shorten(one_line(as_of), 20)}」不是 2019-05-01 或 2019 这样的日期。"
            return period, f"按 {period.spaced}的法律查找。" if period else unread
        times = asked_for(self.context.question, date.today())
        if len(times) == 1:
            return times[0], times[0].said
        several = f"问题里有几个时间（{'、'.join(map(str, times))}），按现行法律查找；要查当时的版本请用 as_of。"
        return None, several if times else ""


def _wording(query: str, law_name: str, article: str) -> str:
    """Return one line as a person would type it. Models often repeat the other arguments in `query`."""
    law = law_name.strip(" 《》")
    if law and law in query:
        return query
    with suppress(ValueError):  # a number with 款 and 项, or no number at all
        article = str(parse_article_number(article))
    cited = f"《{law}》{article}" if law and article else law or article
    return f"{cited} {query}" if query and query not in cited else cited


def _article_details(article: LegalArticle) -> str:
    parts = [in_force(article)]
    if article.excerpt and article.excerpt != article.content:
        parts.append(f"所查的款项：{article.excerpt}全条：")
    parts.append(shorten(one_line(article.content), ARTICLE_LENGTH))
    return "".join([*parts, *mentioned(article)])


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


_ANYTHING = {"不限", "全部", "所有", "无", "none", "null", "all", "any"}


def _part_of_name(value: Any) -> str:
    written = one_line(str(value or ""))
    return "" if written.lower() in _ANYTHING else written


_PartOfName = Annotated[str, BeforeValidator(_part_of_name)]


class CaseInput(BaseModel):
    query: _Text = Field(
        default="",
        description="案件的关键词，或案号",
        examples=["用人单位违法解除 赔偿金", "（2021）最高法民申1234号"],
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

    def asked(
        self,
        query: str = "",
        case_type: CaseType | None = None,
        cause: str = "",
        court: str = "",
        year: int | None = None,
    ) -> SearchQuery:
        words = one_line(" ".join(map(str, filter(None, (query, cause, court, year)))))
        return SearchQuery(words, type=SearchType.CASE, language=self.context.settings.search.language)

    def find(
        self,
        asked: SearchQuery,
        query: str = "",
        case_type: CaseType | None = None,
        cause: str = "",
        court: str = "",
        year: int | None = None,
    ) -> Found:
        """Search the judgments. A query with a case number gets the whole document."""
        service = self.desk.cases(self.context.user, self.context.session_cache, self.context.search)
        wanted = CaseFilter(case_type, cause, court, year)
        answer = service.search(query, wanted=wanted, loosely=True)
        whole = bool(find_case_numbers(query))
        cases = enumerate(answer.results if answer.origin == "index" else (), 1)
        held = [(_case_result(self.desk.public_url, one, rank), _case_details(one, whole=whole)) for rank, one in cases]
        remark = f"只查{wanted}。" if wanted and not answer.note else ""
        return self.found(CASES, asked, answer, held, note=answer.note, remark=remark)


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
    known = {**_case_facts(case), **dict(parts_of_case(case)), "全文": case.text}
    return "\n".join([case.name, *(f"{name}：{value}" for name, value in known.items() if value)])


def _case_facts(case: CourtCase) -> dict[str, str | None]:
    return {"案号": case.number, "法院": case.court, "日期": case.date, "类型": case.type, "案由": case.cause}


def _case_details(case: CourtCase, *, whole: bool) -> str:
    """Return what the source says of a case; with the full text if it was asked for by its number."""
    known = {
        **_case_facts(case),
        **{title: shorten(one_line(text), CASE_LENGTH) for title, text in parts_of_case(case)},
        "全文": one_line(case.text) if whole else "",
    }
    return "；".join(f"{name}：{value}" for name, value in known.items() if value)


def regulation_search(context: ToolContext) -> BaseTool | None:
    return RegulationSearchTool(context=context) if context.legal and context.legal.available else None


def case_search(context: ToolContext) -> BaseTool | None:
    return CaseSearchTool(context=context) if context.legal and context.legal.available else None
