"""Settings: defaults < settings.yaml < environment. Read once, validated once, frozen; nobody else reads os.environ.

One rule names everything: key `timeout` in section `search` is `search: {timeout: …}` in settings.yaml and
`SEARCH_TIMEOUT` in the environment.

What an unusual value means, for every setting:
- blank, or only spaces: as if it were not set;
- padded with spaces, or in full-width characters (`１０`): read as the plain characters;
- not a number, not finite, zero or negative where that makes no sense, or outside the documented range: the
  default is used, and a `Problem` says so in the log, in `doctor` and on the settings page.
The program always starts.
"""

from __future__ import annotations

import logging
import os
import re
import unicodedata
from collections.abc import Collection, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, get_args
from urllib.parse import urlsplit

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    field_validator,
)
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

log = logging.getLogger(__name__)

ROOT = Path(__file__).resolve().parent.parent.parent
_PASSWORD = re.compile(r"://[^/@\s:]*:([^/@\s]+)@")


@dataclass(frozen=True, slots=True)
class Problem:
    """One value that could not be used."""

    key: str
    reason: str
    used: str

    def __str__(self) -> str:
        return f"{self.key}：{self.reason}，已改用 {self.used}"


_problems: ContextVar[list[Problem] | None] = ContextVar("settings_problems", default=None)


def _plain_number(value: Any) -> Any:
    """Full-width digits and padding are what people type; True is not what they mean by 1."""
    if isinstance(value, bool):
        raise ValueError("需要一个数字")
    return unicodedata.normalize("NFKC", value).strip() if isinstance(value, str) else value


def _plain_word(value: Any) -> Any:
    return unicodedata.normalize("NFKC", value).strip() if isinstance(value, str) else value


def _comma_list(value: Any) -> Any:
    if isinstance(value, str):
        value = unicodedata.normalize("NFKC", value).replace("、", ",").replace(";", ",").split(",")
    if isinstance(value, list | tuple):
        return tuple(str(item).strip() for item in value if str(item).strip())
    return value


def _nothing(value: tuple[str, ...]) -> tuple[str, ...]:
    """An environment variable cannot hold an empty list: blank means not set."""
    return () if value == ("none",) else value


def _web_address(value: str) -> str:
    """http(s)://host[:port][/path], nothing that two URL parsers could read differently."""
    value = value.strip().rstrip("/")
    if any(character in value for character in "\\ \t\r\n<>\"'`{}|^") or not value.isascii():
        raise ValueError("地址中有不允许的字符")
    try:
        parts = urlsplit(value)
        port = parts.port
    except ValueError:
        raise ValueError("不是有效的网址") from None
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("地址应以 http:// 或 https:// 开头")
    if port == 0 or parts.fragment or parts.query:
        raise ValueError("不是有效的服务地址")
    return value


def _web_addresses(value: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(_web_address(address) for address in value)


def _language(value: str) -> str:
    found = re.fullmatch(r"(auto|[a-z]{2,3})(?:[-_]([a-z]{2}))?", value, re.ASCII | re.IGNORECASE)
    if not found:
        raise ValueError("应是 auto 或语言代码，如 zh-CN、en")
    code, region = found.groups()
    return f"{code.lower()}-{region.upper()}" if region else code.lower()


def _redis_address(value: SecretStr) -> SecretStr:
    if not value.get_secret_value().startswith(("redis://", "rediss://", "unix://")):
        raise ValueError("地址应以 redis:// 或 rediss:// 开头")
    return value


def _quotas(value: tuple[str, ...]) -> tuple[tuple[str, int], ...]:
    """`tavily=20`: the engine and its own number."""
    quotas = []
    for entry in value:
        name, _, amount = entry.partition("=")
        if not amount.strip().isdecimal() or not 1 <= int(amount[:9]) <= 1_000_000:
            raise ValueError("应写成「引擎名=每分钟次数」，次数为 1–1000000")
        quotas.append((name.strip(), int(amount)))
    return tuple(quotas)


def _prices(value: tuple[str, ...]) -> tuple[tuple[str, float, float], ...]:
    """`gpt-5-mini=1.8/14.4`: the model, and what a million tokens cost that it reads, and that it writes."""
    prices = []
    for entry in value:
        name, _, amounts = entry.rpartition("=")
        found = re.fullmatch(r"(\d{1,6}(?:\.\d+)?)\s*/\s*(\d{1,6}(?:\.\d+)?)", amounts.strip(), re.ASCII)
        if not name.strip() or not found:
            raise ValueError("应写成「模型名=输入价/输出价」，如 gpt-5-mini=1.8/14.4")
        prices.append((name.strip(), float(found[1]), float(found[2])))
    return tuple(prices)


def _secret(value: SecretStr) -> SecretStr:
    text = value.get_secret_value().strip()
    if not text.isascii() or any(character.isspace() or not character.isprintable() for character in text):
        raise ValueError("密钥中有空格、换行或非英文字符")
    return SecretStr(text)


Number = BeforeValidator(_plain_number)
Count = Annotated[int, Number]
Decimal = Annotated[float, Number, Field(allow_inf_nan=False)]
Word = Annotated[str, BeforeValidator(_plain_word)]
Names = Annotated[tuple[str, ...], BeforeValidator(_comma_list)]
Language = Annotated[Word, AfterValidator(_language)]
Address = Annotated[str, AfterValidator(_web_address)]
Addresses = Annotated[tuple[str, ...], BeforeValidator(_comma_list), AfterValidator(_web_addresses)]
Quotas = Annotated[tuple[Any, ...], BeforeValidator(_comma_list), AfterValidator(_quotas)]
Prices = Annotated[tuple[Any, ...], BeforeValidator(_comma_list), AfterValidator(_prices)]
Flag = Annotated[bool, BeforeValidator(_plain_word)]
LowerCase = BeforeValidator(lambda value: str(value).strip().lower())
OptionalPage = Literal["legal", "dashboard", "settings", "help"]
Secret = Annotated[SecretStr, AfterValidator(_secret)]


class Section(BaseModel):
    """A group of settings in which an unusable value becomes its default and a Problem, never an exception."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    name: ClassVar[str]

    @field_validator("*", mode="wrap")
    @classmethod
    def _fall_back(cls, value: Any, handler: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
        assert info.field_name is not None
        default = cls.model_fields[info.field_name].get_default(call_default_factory=True)
        if value is None or (isinstance(value, str) and not value.strip()):
            return default
        try:
            return handler(value)
        except (ValidationError, ValueError) as error:
            key = f"{cls.name}_{info.field_name}".upper()
            _note(Problem(key=key, reason=_reason(error), used=_shown(default)))
            return default


def _note(problem: Problem) -> None:
    problems = _problems.get()
    if problems is None:  # built directly, not loaded: a programmer is there to read it
        raise ValueError(str(problem))
    problems.append(problem)


def _reason(error: Exception) -> str:
    if not isinstance(error, ValidationError):
        return str(error)
    first = error.errors(include_input=False, include_url=False)[0]
    context = first.get("ctx", {})
    match first["type"]:
        case "greater_than_equal":
            return f"不能小于 {context['ge']}"
        case "greater_than":
            return f"必须大于 {context['gt']}"
        case "less_than_equal":
            return f"不能大于 {context['le']}"
        case "finite_number":
            return "必须是有限的数字"
        case "literal_error":
            return f"只能是 {context['expected'].replace(' or ', ' 或 ')}"
        case "value_error":
            return str(context["error"])
        case kind if kind.startswith("bool"):
            return "只能是 true 或 false"
        case kind if kind.startswith(("int", "float")):
            return "需要一个数字"
        case _:
            return "格式不对"


def _shown(value: Any) -> str:
    if value in (None, "", ()):
        return "默认（未设置）"
    if isinstance(value, tuple):
        return "默认值 " + ",".join(map(str, value))
    return f"默认值 {value}"


class LlmSettings(Section):
    name = "llm"
    model: Word = ""
    """`provider:model`; empty: the embedded model, or OpenAI's default one when OPENAI_API_KEY is set."""
    models: Names = ()
    """Others that a reader may choose instead, written like `model`. Empty: there is nothing to choose."""
    temperature: Annotated[Decimal, Field(ge=0, le=2)] | None = None
    """None: the provider's own default; some models refuse any other value."""
    first_token_timeout: Annotated[Decimal, Field(ge=1, le=600)] = 60.0
    idle_timeout: Annotated[Decimal, Field(ge=1, le=600)] = 30.0
    total_timeout: Annotated[Decimal, Field(ge=5, le=3600)] = 300.0
    attempts: Annotated[Count, Field(ge=1, le=10)] = 3


class OpenaiSettings(Section):
    name = "openai"
    api_key: Secret | None = None
    base_url: Address | None = None


class SearchSettings(Section):
    name = "search"
    provider_priority: Names = (
        "native",
        "perplexity",
        "exa",
        "tavily",
        "serpapi",
        "zhipu",
        "bocha",
        "searxng",
        "google",
        "tavily_keyless",
        "ddgs",
        "bundled",
    )
    result_count: Annotated[Count, Field(ge=3, le=5)] = 5
    timeout: Annotated[Decimal, Field(ge=1, le=60)] = 5.0
    language: Language = "auto"
    snippet_length: Annotated[Count, Field(ge=50, le=1000)] = 200
    cache_ttl: Annotated[Count, Field(ge=0, le=30 * 86400)] = 3600
    rate_limit: Annotated[Count, Field(ge=1, le=100_000)] = 10
    hedge_after: Annotated[Decimal, Field(ge=0.1, le=60)] = 1.2
    sort_words: Flag = False
    engine_quota: Annotated[Count, Field(ge=1, le=1_000_000)] = 6_000
    engine_quotas: Quotas = ()


class LegalSettings(Section):
    """Where regulation and case searches look, the words that are added to them, and who may import."""

    name = "legal"
    regulation_sites: Names = (
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
    )
    case_sites: Names = (
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
    )
    regulation_words: Names = ("法规",)
    case_words: Names = ("案例",)
    import_by: Annotated[Literal["local", "login", "everyone", "nobody"], LowerCase] = "local"
    """Who may import from the page: what one reader imports is what all of them look up and verify against."""


class NativeSettings(Section):
    name = "native"
    models: Names = ()
    """Models behind other addresses than OpenAI's and DeepSeek's that have `web_search` too; `*`: all of them."""


class SearxngSettings(Section):
    name = "searxng"
    url: Addresses = ()
    public_url: Address = "https://searx.be"
    """Used while `url` is empty. Public instances usually refuse JSON: this is a last hope, not a service."""
    engines_zh: Names = ("baidu", "sogou", "360search", "bing")
    """SearXNG ships these switched off; a Chinese question asks for them by name. Empty: the instance's own choice."""


class PerplexitySettings(Section):
    name = "perplexity"
    api_key: Secret | None = None


class ExaSettings(Section):
    name = "exa"
    api_key: Secret | None = None
    text: Flag = False
    """The beginning of each page instead of the passages that fit the question."""


class TavilySettings(Section):
    name = "tavily"
    api_key: Secret | None = None


class SerpapiSettings(Section):
    name = "serpapi"
    api_key: Secret | None = None
    engine: Annotated[Literal["google", "bing", "baidu"], LowerCase] = "google"


class ZhipuSettings(Section):
    name = "zhipu"
    api_key: Secret | None = None
    engine: Annotated[Literal["search_std", "search_pro", "search_pro_sogou", "search_pro_quark"], LowerCase] = (
        "search_std"
    )


class BochaSettings(Section):
    name = "bocha"
    api_key: Secret | None = None


class GoogleSettings(Section):
    name = "google"
    chrome: Word = ""
    """The path of Chrome or Chromium; empty: looked for on PATH and in the usual places."""
    pages: Annotated[Count, Field(ge=1, le=32)] = 4
    idle_seconds: Annotated[Decimal, Field(ge=1, le=86400)] = 120.0
    base_url: Address = "https://www.google.com"


class DdgsSettings(Section):
    name = "ddgs"
    backends: Names = ("duckduckgo", "brave", "startpage")


class AgentSettings(Section):
    name = "agent"
    max_iterations: Annotated[Count, Field(ge=1, le=10)] = 5
    max_execution_time: Annotated[Decimal, Field(ge=10, le=300)] = 60.0
    verbose: Flag = False
    strategy: Annotated[Literal["auto", "react", "tools"], LowerCase] = "auto"
    """auto: the model's own tool calling where it is known to have it, ReAct text everywhere else."""
    prompt: Word = "auto"
    """auto, chinese, english, small, or the path of a template file."""
    history_tokens: Annotated[Count, Field(ge=0, le=1_000_000)] = 2_000


class ChatSettings(Section):
    name = "chat"
    max_question_length: Annotated[Count, Field(ge=100, le=100_000)] = 20_000
    history_tokens: Annotated[Count, Field(ge=0, le=1_000_000)] = 6_000
    source_tokens: Annotated[Count, Field(ge=200, le=1_000_000)] = 3_000
    prompt: Annotated[Literal["auto", "chinese", "english", "small"], LowerCase] = "auto"
    """auto: small models get the short one, others the one in the question's language."""
    follow_ups: Flag = False
    """Let the model suggest three further questions after each answer: one more call."""


PanelControl = Literal[
    "result_count",
    "language",
    "time_range",
    "snippet_length",
    "model",
    "temperature",
    "max_iterations",
    "max_execution_time",
    "prompt",
]


class PanelSettings(Section):
    """What readers may change for themselves in the sidebar. Whoever runs the installation pays for what they choose."""

    name = "panel"
    allow: Annotated[tuple[PanelControl, ...], BeforeValidator(_nothing), BeforeValidator(_comma_list)] = get_args(
        PanelControl
    )
    max_iterations: Annotated[Count, Field(ge=1, le=10)] | None = None
    """The most that a reader may choose; None: what the agent is set to."""
    max_execution_time: Annotated[Decimal, Field(ge=10, le=300)] | None = None


class CacheSettings(Section):
    name = "cache"
    url: Annotated[Secret, AfterValidator(_redis_address)] | None = None
    news_ttl: Annotated[Count, Field(ge=1, le=30 * 86400)] = 3_600
    regulation_ttl: Annotated[Count, Field(ge=1, le=30 * 86400)] = 86_400
    case_ttl: Annotated[Count, Field(ge=1, le=30 * 86400)] = 21_600
    keep_stale: Annotated[Count, Field(ge=0, le=365 * 86400)] = 604_800


class DatabaseSettings(Section):
    name = "database"
    url: Secret | None = None


class MetricsSettings(Section):
    """Records about searches and answers, for the dashboard."""

    name = "metrics"
    enabled: Flag = True
    queries: Flag = False
    """Keep the words of searches, too."""
    keep_days: Annotated[Count, Field(ge=1, le=3650)] = 90
    prices: Prices = ()
    """Per million tokens; a model without a price has no cost on the dashboard, never an invented one."""
    currency: Word = "元"
    prometheus: Flag = False
    """Answer at /metrics, to whoever can reach this server."""


class DataSettings(Section):
    name = "data"
    dir: Word = "data"


class LogSettings(Section):
    name = "log"
    level: Annotated[
        Literal["DEBUG", "INFO", "WARNING", "ERROR"], BeforeValidator(lambda v: str(v).strip().upper())
    ] = "INFO"


class PublicSettings(Section):
    name = "public"
    url: Address = "http://localhost:8501"
    """Where readers open the app: the address of the built-in manual's articles begins with it."""
    pages: Annotated[tuple[OptionalPage, ...], BeforeValidator(_comma_list)] = get_args(OptionalPage)
    """What readers find beside the chat, by the pages' addresses."""


class Settings(BaseSettings):
    """Everything that can be configured. `load_settings` builds it; tests may build it from keyword arguments."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore")

    llm: LlmSettings = LlmSettings()
    openai: OpenaiSettings = OpenaiSettings()
    search: SearchSettings = SearchSettings()
    legal: LegalSettings = LegalSettings()
    native: NativeSettings = NativeSettings()
    perplexity: PerplexitySettings = PerplexitySettings()
    exa: ExaSettings = ExaSettings()
    tavily: TavilySettings = TavilySettings()
    serpapi: SerpapiSettings = SerpapiSettings()
    zhipu: ZhipuSettings = ZhipuSettings()
    bocha: BochaSettings = BochaSettings()
    searxng: SearxngSettings = SearxngSettings()
    google: GoogleSettings = GoogleSettings()
    ddgs: DdgsSettings = DdgsSettings()
    agent: AgentSettings = AgentSettings()
    chat: ChatSettings = ChatSettings()
    panel: PanelSettings = PanelSettings()
    cache: CacheSettings = CacheSettings()
    database: DatabaseSettings = DatabaseSettings()
    metrics: MetricsSettings = MetricsSettings()
    data: DataSettings = DataSettings()
    log: LogSettings = LogSettings()
    public: PublicSettings = PublicSettings()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return (init_settings,)  # no environment by accident: load_settings names its sources

    def secrets(self) -> list[str]:
        """Every secret value, for the log filter that removes them."""
        values = [value for section in type(self).model_fields for value in dict(getattr(self, section)).values()]
        keys = [value.get_secret_value() for value in values if isinstance(value, SecretStr)]
        return keys + [password for value in values for password in _PASSWORD.findall(str(value))]

    @property
    def data_dir(self) -> Path:
        path = Path(self.data.dir).expanduser()
        return path if path.is_absolute() else ROOT / path


def _section_class(field: FieldInfo) -> type[Section]:
    assert isinstance(field.annotation, type)
    assert issubclass(field.annotation, Section)
    return field.annotation


class _EnvironmentSource(PydanticBaseSettingsSource):
    """SECTION_KEY for every section and key; secrets keep their case, names do not depend on it."""

    def __init__(self, settings_cls: type[BaseSettings], environ: Mapping[str, str]) -> None:
        super().__init__(settings_cls)
        self.environ = environ

    def get_field_value(self, field: Any, field_name: str) -> tuple[Any, str, bool]:
        found = {}
        for key in _section_class(field).model_fields:
            value = self.environ.get(f"{field_name}_{key}".upper(), "")
            if value.strip():
                found[key] = value
        return found, field_name, False

    def __call__(self) -> dict[str, Any]:
        return {name: self.get_field_value(field, name)[0] for name, field in self.settings_cls.model_fields.items()}


class _YamlSource(PydanticBaseSettingsSource):
    def __init__(self, settings_cls: type[BaseSettings], path: Path) -> None:
        super().__init__(settings_cls)
        self.path = path

    def get_field_value(self, field: Any, field_name: str) -> tuple[Any, str, bool]:
        return None, field_name, False  # the file is read whole, in __call__

    def __call__(self) -> dict[str, Any]:
        try:
            text = self.path.read_text("utf-8-sig")
        except FileNotFoundError:
            return {}
        except (OSError, UnicodeError):
            return self._unusable("文件无法读取（需要 UTF-8 编码）")
        try:
            data = yaml.safe_load(text)
        except (yaml.YAMLError, RecursionError) as error:
            mark = getattr(error, "problem_mark", None)
            return self._unusable(f"第 {mark.line + 1} 行不是有效的 YAML" if mark else "不是有效的 YAML")
        if data is None:
            return {}
        if not isinstance(data, dict):
            return self._unusable("应由「分组: 键: 值」组成")
        known = self.settings_cls.model_fields
        self._report_unknown("", data, known)
        return {name: self._section(name, data.get(name)) for name in known}

    def _section(self, name: str, value: Any) -> dict[str, Any]:
        if value is None or isinstance(value, dict):
            found = value or {}
            self._report_unknown(f"{name}.", found, _section_class(self.settings_cls.model_fields[name]).model_fields)
            return found
        _note(Problem(key=f"{self.path.name} {name}", reason="应是一组键和值", used="该组的默认值"))
        return {}

    def _report_unknown(self, prefix: str, found: Mapping[Any, Any], known: Collection[str]) -> None:
        """A misspelt name would otherwise look as if it were in force."""
        for key in found:
            if key not in known:
                near = get_close_matches(str(key), known, n=1)
                reason = f"没有这个设置，是不是想写 {near[0]}" if near else "没有这个设置"
                _note(Problem(key=f"{self.path.name} {prefix}{key}"[:100], reason=reason, used="默认值"))

    def _unusable(self, reason: str) -> dict[str, Any]:
        _note(Problem(key=self.path.name, reason=reason, used="默认配置"))
        return {}


Origin = Literal["default", "settings.yaml", "environment"]


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """The settings in force, the values that had to be replaced, and where each value came from."""

    values: Settings
    problems: tuple[Problem, ...]
    origins: Mapping[str, Origin]
    """By the name of the environment variable: SECTION_KEY."""


def load_settings(path: Path | None = None, environ: Mapping[str, str] | None = None) -> LoadedSettings:
    path = path or ROOT / "settings.yaml"
    environ = os.environ if environ is None else environ
    problems: list[Problem] = []
    token = _problems.set(problems)
    try:
        environment = _EnvironmentSource(Settings, environ)
        file = _YamlSource(Settings, path)
        found_in_file, found_in_environment = file(), environment()
        values = Settings.model_validate(
            {name: found_in_file.get(name, {}) | found_in_environment[name] for name in Settings.model_fields}
        )
    finally:
        _problems.reset(token)
    origins: dict[str, Origin] = {}
    for section, field in Settings.model_fields.items():
        for key in _section_class(field).model_fields:
            origins[f"{section}_{key}".upper()] = (
                "environment"
                if key in found_in_environment[section]
                else "settings.yaml"
                if found_in_file.get(section, {}).get(key) is not None
                else "default"
            )
    return LoadedSettings(values=values, problems=tuple(problems), origins=origins)


# What a program needs to know about the machine, on any system, and nothing that could be a key.
_HARMLESS = (
    *(
        "PATH",
        "HOME",
        "USER",
        "LANG",
        "LC_ALL",
        "TZ",
        "TMPDIR",
        "XDG_RUNTIME_DIR",
        "LD_LIBRARY_PATH",
        "FONTCONFIG_PATH",
    ),
    *("SYSTEMROOT", "WINDIR", "TEMP", "TMP", "USERPROFILE", "LOCALAPPDATA", "APPDATA", "PROGRAMDATA", "PROGRAMFILES"),
)


def harmless_environment() -> dict[str, str]:
    """For programs that we start and that have no business with our keys."""
    return {name: os.environ[name] for name in _HARMLESS if name in os.environ}


def report_problems(problems: tuple[Problem, ...]) -> None:
    for problem in problems:
        log.warning("配置 %s", problem)
