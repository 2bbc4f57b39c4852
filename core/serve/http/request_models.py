"""What each operation is asked for: the models that requests are validated with, and described by."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, field_validator
from pydantic.json_schema import WithJsonSchema

from core.base.settings import parse_language
from core.base.text import clean
from core.legal.entities import CaseType
from core.search import parse_time_range
from core.search.types import MAX_RESULTS, SearchType, TimeRange
from core.serve.schemas import ClaimSource

MAX_TEXT = 400_000
MAX_STATEMENT = 2_000
MAX_NAMES = 20
MAX_PAIRS = 200
MAX_HISTORY = 100


class ApiRequest(BaseModel):
    """The base of all requests: texts are cleaned, 3.0 is 3, unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @field_validator("*", mode="before")
    @classmethod
    def _to_whole_number(cls, value: Any) -> Any:
        return int(value) if isinstance(value, float) and value.is_integer() else value

    @field_validator("*", mode="after")
    @classmethod
    def _clean(cls, value: Any) -> Any:
        if type(value) is not str or not value:
            return value
        if not (cleaned := clean(value)):
            raise ValueError("没有看得见的字")
        return cleaned


def _parsed(parse: Callable[[str], Any], *examples: str, **schema: Any) -> tuple[BeforeValidator, WithJsonSchema]:
    """Return the annotations of a field whose text is parsed. An empty text is None."""

    def parse_text(value: Any) -> Any:
        return (parse(value) if value else None) if isinstance(value, str) else value

    schema = {"type": ["string", "null"], **({"examples": list(examples)} if examples else {}), **schema}
    return BeforeValidator(parse_text), WithJsonSchema(schema)


def _parse_day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ValueError("日期写成 2026-03-01") from None


def _decode_base64(text: str) -> bytes:
    try:
        return b64decode(text, validate=True)
    except ValueError:
        raise ValueError("不是 base64 编码") from None


Query = Annotated[str, Field(min_length=1, max_length=2_000, description="搜索词，或问题")]
Day = Annotated[str, Field(max_length=40, description="按这一天的法律，如 2019-05-01、2019-05 或 2019；空：现在")]
Limit = Annotated[int, Field(ge=1, le=MAX_RESULTS, description="最多几条")]
Since = Annotated[
    TimeRange | None,
    *_parsed(parse_time_range, *TimeRange, "2026-03-01"),
    Field(description="只要这以来的：day、week、month、year 或一年之内的日期；引擎只分这四档，取最接近的"),
]
CollectionName = Annotated[str, Field(min_length=1, max_length=60, description="资料集的名称")]
CollectionNames = Annotated[list[str], Field(max_length=MAX_NAMES)]
FileName = Annotated[str, Field(min_length=1, max_length=400, description="文件名，可以带文件夹：合同/租赁.pdf")]


class NoFields(ApiRequest):
    pass


class WebSearch(ApiRequest):
    query: Query
    type: Annotated[SearchType, Field(description="general 一般、news 新闻、regulation 法规、case 案例")] = (
        SearchType.GENERAL
    )
    limit: Limit = MAX_RESULTS
    since: Since = None
    language: Annotated[
        str,
        AfterValidator(lambda code: parse_language(code) if code else ""),
        Field(max_length=10, description="结果的语言，如 zh-CN、en；空：按设置"),
    ] = ""
    engine: Annotated[str, Field(max_length=80, description="只用这一个引擎；空：按顺序")] = ""


class PageReading(ApiRequest):
    url: Annotated[str, Field(min_length=1, max_length=4_000, description="网页的地址")]
    start: Annotated[int, Field(ge=0, le=10**9, description="从第几个字起")] = 0
    length: Annotated[int, Field(ge=1, le=200_000, description="最多几个字")] = 20_000


class StatuteSearch(ApiRequest):
    query: Query
    as_of: Day = ""
    limit: Limit = MAX_RESULTS


class ArticleRequest(ApiRequest):
    law: Annotated[str, Field(min_length=1, max_length=200, description="法名，如 劳动合同法")]
    article: Annotated[str, Field(min_length=1, max_length=40, description="条号，如 第三十八条 或 38")]
    as_of: Day = ""


class StatuteVerification(ApiRequest):
    text: Annotated[str, Field(min_length=1, max_length=MAX_TEXT, description="引用了法条或案号的文字")]
    as_of: Day = ""


class CaseSearch(ApiRequest):
    query: Query
    type: Annotated[CaseType | None, Field(description="只要这一类案件")] = None
    cause: Annotated[str, Field(max_length=100, description="案由，如 民间借贷纠纷")] = ""
    court: Annotated[str, Field(max_length=100, description="法院名称或其中几个字，如 北京")] = ""
    year: Annotated[int | None, Field(ge=1949, le=9999, description="裁判年份")] = None
    limit: Limit = MAX_RESULTS


class ClaimCheck(ApiRequest):
    text: Annotated[str, Field(min_length=1, max_length=MAX_TEXT, description="带 [n] 的文字")]
    sources: Annotated[list[ClaimSource], Field(min_length=1, max_length=999, description="来源，[1] 是第一份")]


class ClaimPair(ApiRequest):
    statement: Annotated[str, Field(max_length=MAX_STATEMENT, description="一句话")]
    source: Annotated[str, Field(max_length=MAX_TEXT, description="它的来源的全文")]


class PairCheck(ApiRequest):
    pairs: Annotated[list[ClaimPair], Field(min_length=1, max_length=MAX_PAIRS)]


class DocumentQuery(ApiRequest):
    query: Query
    collections: Annotated[CollectionNames, Field(description="资料集的名称；不写：全部")] = []
    limit: Annotated[int, Field(ge=1, le=100, description="最多几条")] = 10


class CollectionRequest(ApiRequest):
    collection: CollectionName


class FileRequest(CollectionRequest):
    name: FileName


class FileUpload(FileRequest):
    modified: Annotated[
        date | None, *_parsed(_parse_day, "2026-03-01"), Field(description="文件的日期；空：不知道")
    ] = None


class EarlierMessage(ApiRequest):
    role: Literal["user", "assistant"]
    text: Annotated[str, Field(max_length=MAX_TEXT)]


class AttachedFile(ApiRequest):
    name: FileName
    content: Annotated[
        bytes,
        *_parsed(_decode_base64, type="string", contentEncoding="base64"),
        Field(description="文件的内容，base64 编码"),
    ]


class AnswerRequest(ApiRequest):
    question: Annotated[str, Field(min_length=1, max_length=MAX_TEXT, description="问题")]
    mode: Annotated[Literal["chat", "agent"], Field(description="chat 直接回答，agent 由 Agent 决定怎么查")] = "chat"
    search: Annotated[bool, Field(description="chat：先联网搜索，再回答")] = False
    model: Annotated[str, Field(max_length=200, description="用哪个模型回答；空：默认的")] = ""
    history: Annotated[list[EarlierMessage], Field(max_length=MAX_HISTORY, description="以前的对话，先后排列")] = []
    collections: Annotated[CollectionNames, Field(description="用这些资料集回答")] = []
    since: Since = None
    instructions: Annotated[str, Field(max_length=20_000, description="对回答的要求，如语言和篇幅")] = ""
    files: Annotated[
        list[AttachedFile],
        Field(max_length=MAX_NAMES, description="附上的文件；连同编码不能超过请求的上限，大的请上传到资料集"),
    ] = []
    stream: Annotated[
        bool | None,
        Field(description="true：逐个事件；false：一份 JSON；不写：看请求头 Accept"),
    ] = None
