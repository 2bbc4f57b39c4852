"""The tools: names, titles, what each is for, arguments and results. What does their work is in `tool_calls.py`, which is
imported with the first call: a list of tools needs none of the services."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import mcp_types
from pydantic.json_schema import GenerateJsonSchema

from core.serve import schemas
from core.serve.access import Caller, Scope
from core.serve.mcp import arguments
from core.serve.mcp.arguments import Arguments


@dataclass(frozen=True, slots=True)
class Tool:
    name: str
    title: str
    description: str
    scope: Scope
    arguments: type[Arguments]
    result: type[schemas.Result]
    is_local: bool = False
    """True if it never asks the web."""


TOOLS = {
    tool.name: tool
    for tool in (
        Tool(
            "web_search",
            "搜索网络",
            "搜索互联网，返回标题、网址和摘要。需要最新情况、事实或出处时用。摘要只有几行，没有核验；引用之前用 read_page 读全文。",
            Scope.SEARCH,
            arguments.WebSearchArguments,
            schemas.WebSearchResult,
        ),
        Tool(
            "read_page",
            "阅读网页",
            "打开一个公开的网址，返回网页或文件（PDF、Word 等）的正文。要引用搜索结果里的数字、条件或原话时用。"
            "长文分段返回。内容的真假没有核验。",
            Scope.SEARCH,
            arguments.ReadPageArguments,
            schemas.PageText,
        ),
        Tool(
            "search_statutes",
            "查法条",
            "按法律名称、条号或内容查法律法规的条文，返回原文、效力和施行日期。不知道是哪一条时用；知道时用 get_article。"
            "先查本地法规库，库里没有时搜索网络；不判断条文是否适用。",
            Scope.LAW,
            arguments.SearchStatutesArguments,
            schemas.StatuteSearchResult,
        ),
        Tool(
            "get_article",
            "取一条法条",
            "取某部法律某一条的原文，可以指定日期，取当时施行的版本。引用法条之前用。"
            "只查本地法规库；库里没有、已经废止或没有这一条时会说明。",
            Scope.LAW,
            arguments.GetArticleArguments,
            schemas.ArticleResult,
            is_local=True,
        ),
        Tool(
            "search_cases",
            "查案例",
            "按关键词、案号、案由、法院或年份查司法案例，返回案号、法院、日期和裁判要旨。要了解法院怎么判时用。"
            "先查本地案例库，库里没有时搜索网络；不判断案例是否仍被参照。",
            Scope.LAW,
            arguments.SearchCasesArguments,
            schemas.CaseSearchResult,
        ),
        Tool(
            "verify_statutes",
            "核验法条",
            "核验一段文字引用的每一处法条和案号：有没有这一条，引文或转述是否相符，是否有效；像合同的文字还会审查条款。"
            "写完或收到引用法条的文字后用。只与本地法规库比较，不判断法律适用是否正确。",
            Scope.LAW,
            arguments.VerifyStatutesArguments,
            schemas.VerificationResult,
            is_local=True,
        ),
        Tool(
            "check_claims",
            "核验引用",
            "逐句核验带 [1]、[2] 编号的文字：所标的来源是不是这样说的。写完带来源的回答后用，来源给原文或网址。"
            "没有编号的句子只列出来；来源本身是否正确没有核验。",
            Scope.CHECK,
            arguments.CheckClaimsArguments,
            schemas.ClaimCheckResult,
        ),
        Tool(
            "search_documents",
            "查自己的资料",
            "在自己导入的资料里查段落，返回文件名、页码和原文。问题与自己的合同、报告、文档有关时用。还没有读完的文件查不到。",
            Scope.DOCUMENTS,
            arguments.SearchDocumentsArguments,
            schemas.DocumentSearchResult,
            is_local=True,
        ),
    )
}


def list_tools(caller: Caller) -> list[mcp_types.Tool]:
    """Return the tools that this caller may use."""
    return [_describe(tool) for tool in TOOLS.values() if tool.scope in caller.scopes]


@cache
def _describe(tool: Tool) -> mcp_types.Tool:
    return mcp_types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.arguments.model_json_schema(schema_generator=_WithoutNulls),
        output_schema=tool.result.model_json_schema(schema_generator=_WithoutTitles, mode="serialization"),
        annotations=mcp_types.ToolAnnotations(
            title=tool.title,
            read_only_hint=True,
            destructive_hint=False,
            idempotent_hint=True,
            open_world_hint=not tool.is_local,
        ),
    )


class _WithoutTitles(GenerateJsonSchema):
    """Writes no titles, which repeat the names."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


class _WithoutNulls(_WithoutTitles):
    """Says of what may be left out nothing but what it is when it is given. Not every program understands more."""

    def nullable_schema(self, schema: Any) -> dict[str, Any]:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: Any) -> dict[str, Any]:
        return (
            self.generate_inner(schema["schema"]) if schema.get("default") is None else super().default_schema(schema)
        )
