"""The arguments of the tools: their limits, and what the model is told of each."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from core.base.text import clean
from core.serve.schemas import ClaimSource

MAX_QUERY = 1_000


_DEEPEST = 4
"""Levels of lists and objects that arguments have at most. What lies deeper fits no tool."""


def _readable(given: Any, depth: int = 0) -> Any:
    """Return arguments without nulls, and without characters that nobody sees, among them halves of a pair, which no
    encoding has."""
    if isinstance(given, str):
        return clean(given)
    if isinstance(given, list) and depth < _DEEPEST:
        return [_readable(one, depth + 1) for one in given]
    if isinstance(given, dict) and depth < _DEEPEST:
        return {clean(name): _readable(one, depth + 1) for name, one in given.items() if one is not None}
    return given


class Arguments(BaseModel):
    """The base of all arguments. Numbers are taken for texts, and null is taken for nothing: models write both."""

    model_config = ConfigDict(extra="forbid", coerce_numbers_to_str=True)

    @model_validator(mode="before")
    @classmethod
    def _clean(cls, given: Any) -> Any:
        return _readable(given)


AsOf = Annotated[
    str, Field(max_length=40, description="按那一天或那一年的法律，如 2019-05-01 或 2019；不写时按现行法律")
]


class WebSearchArguments(Arguments):
    query: Annotated[str, Field(max_length=MAX_QUERY, description="关键词或问题，具体一些")]
    type: Annotated[
        Literal["general", "news", "regulation", "case"],
        Field(description="general 一般、news 新闻、regulation 法规、case 案例"),
    ] = "general"
    time_range: Annotated[
        Literal["day", "week", "month", "year"] | None, Field(description="只要最近一天、一周、一月或一年的")
    ] = None
    limit: Annotated[int, Field(ge=1, le=10, description="最多返回几条")] = 8


class ReadPageArguments(Arguments):
    url: Annotated[str, Field(max_length=4_000, description="网址，以 http:// 或 https:// 开头")]
    start: Annotated[int, Field(ge=0, le=100_000_000, description="从第几个字读起；接着读时写上次的 nextStart")] = 0
    length: Annotated[int, Field(ge=500, le=40_000, description="最多返回多少字")] = 8_000


class SearchStatutesArguments(Arguments):
    query: Annotated[
        str, Field(max_length=MAX_QUERY, description="法律名称、条号，或条文会用的词句，如 未及时足额支付劳动报酬")
    ]
    as_of: AsOf = ""
    limit: Annotated[int, Field(ge=1, le=20, description="最多返回几条")] = 6


class GetArticleArguments(Arguments):
    law: Annotated[str, Field(min_length=1, max_length=100, description="法律名称或通行的简称，如 劳动合同法")]
    article: Annotated[
        str, Field(min_length=1, max_length=40, description="条号，如 第三十八条、38 或 第一百二十条之一")
    ]
    as_of: AsOf = ""


class SearchCasesArguments(Arguments):
    query: Annotated[str, Field(max_length=MAX_QUERY, description="关键词、案号，或指导性案例的编号")]
    type: Annotated[Literal["民事", "刑事", "行政", "其他"] | None, Field(description="只要这一类案件")] = None
    cause: Annotated[str, Field(max_length=60, description="案由或其中几个字，如 民间借贷")] = ""
    court: Annotated[str, Field(max_length=60, description="法院名称或其中几个字，如 北京")] = ""
    year: Annotated[int | None, Field(ge=1949, le=2100, description="裁判年份")] = None
    limit: Annotated[int, Field(ge=1, le=10, description="最多返回几件")] = 5


class VerifyStatutesArguments(Arguments):
    text: Annotated[
        str, Field(min_length=1, max_length=400_000, description="要核验的全文：引用法条或案号的回答、文书、合同")
    ]
    as_of: AsOf = ""


class CheckClaimsArguments(Arguments):
    text: Annotated[
        str, Field(min_length=1, max_length=20_000, description="要核验的文字，句子后面带 [1]、[2] 这样的编号")
    ]
    sources: Annotated[
        list[ClaimSource], Field(min_length=1, max_length=100, description="来源：每份给原文 text，或给网址 url")
    ]


class SearchDocumentsArguments(Arguments):
    query: Annotated[str, Field(max_length=MAX_QUERY, description="关键词或问题，用资料里可能用的词")]
    collections: Annotated[
        list[Annotated[str, Field(max_length=200)]],
        Field(max_length=20, description="只查这些资料集，写名称；不写时查全部"),
    ] = Field(default_factory=list)
    limit: Annotated[int, Field(ge=1, le=20, description="最多返回几段")] = 8
