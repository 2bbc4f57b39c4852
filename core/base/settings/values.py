"""Types of setting values, and the handling of values that cannot be used.

Unusual values, for every setting:
- blank, or only spaces: as if it were not set;
- padded with spaces, in full-width characters (`１０`), or with invisible characters: read as the plain characters;
- not a number, not finite, zero or negative where that makes no sense, or outside the documented range: the
default is used, and a `SettingProblem` says so in the log, in `doctor` and on the settings page. The program always
starts.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, ClassVar, Literal, Union, get_args, get_origin
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    SecretStr,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    field_validator,
)
from pydantic.fields import FieldInfo

from core.base.extras import REDIS
from core.base.logs import redact
from core.base.text import clean, one_line, shorten

# ── What people write ─────────────────────────────────────────────────────────────────────────────────────────────────


def _plain_number(value: Any) -> Any:
    """Accept full-width digits and padding, which people type. Refuse True, which nobody means by 1."""
    if isinstance(value, bool):
        raise ValueError("需要一个数字")
    return _plain_word(value)


def _plain_word(value: Any) -> Any:
    return unicodedata.normalize("NFKC", value).strip() if isinstance(value, str) else value


def _on_or_off(value: Any) -> str:
    """Return "on" or "off" for the booleans that YAML makes of a bare on or off."""
    return ("on" if value else "off") if isinstance(value, bool) else str(value).strip().lower()


def _comma_list(value: Any) -> Any:
    if isinstance(value, str):
        value = unicodedata.normalize("NFKC", value).replace("、", ",").replace(";", ",").split(",")
    if isinstance(value, list | tuple):
        items = (clean(str(item)).strip() for item in value)
        return tuple(item for item in items if item)
    return value


def _none_as_empty(value: tuple[str, ...]) -> tuple[str, ...]:
    """Return an empty list for `none`: an environment variable cannot hold an empty list, and blank means not set."""
    return () if value == ("none",) else value


def parse_web_address(value: str) -> str:
    """Accept http(s)://host[:port][/path], and nothing that two URL parsers could read differently."""
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
    return tuple(parse_web_address(address) for address in value)


def _domains(value: tuple[str, ...]) -> tuple[str, ...]:
    names = tuple(name.lower().strip(".") for name in value)
    if not all(re.fullmatch(r"[a-z0-9-]+(\.[a-z0-9-]+)*", name) for name in names):
        raise ValueError("应是主机名，如 gov.cn")
    return names


def parse_language(value: str) -> str:
    """Return a language code as it is usually written. Raise ValueError."""
    found = re.fullmatch(r"(auto|[a-z]{2,3})(?:[-_]([a-z]{2}))?", value, re.ASCII | re.IGNORECASE)
    if not found:
        raise ValueError("应是 auto 或语言代码，如 zh-CN、en")
    code, region = found.groups()
    return f"{code.lower()}-{region.upper()}" if region else code.lower()


def _tokens_or_auto(value: Any) -> Any:
    value = _plain_number(value)
    if isinstance(value, str) and value.lower() == "auto":
        return "auto"
    try:
        tokens = int(value)
    except (TypeError, ValueError):
        raise ValueError("应是 auto 或一个整数") from None
    if not 200 <= tokens <= 1_000_000:
        raise ValueError("应是 auto 或 200 到 1000000 的整数")
    return tokens


def _folder(value: str) -> str:
    try:
        Path(value).expanduser()
    except RuntimeError:
        raise ValueError("没有这个用户，找不到其主目录") from None
    return value


def _folders(value: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(_folder, value))


def _redis_address(value: SecretStr) -> SecretStr:
    if not value.get_secret_value().startswith(("redis://", "rediss://", "unix://")):
        raise ValueError("地址应以 redis:// 或 rediss:// 开头")
    _parseable(value)
    if not REDIS.is_installed:
        raise ValueError(f"{REDIS.missing}{REDIS.cure}".rstrip("。"))
    from redis import ConnectionPool, RedisError

    try:
        ConnectionPool.from_url(value.get_secret_value()).make_connection()  # which does not connect
    except (TypeError, ValueError, RedisError):
        raise ValueError("地址中的选项无法识别") from None
    return value


def _database_address(value: SecretStr) -> SecretStr:
    if not re.match(r"postgres(ql)?(\+psycopg)?://", value.get_secret_value()):
        raise ValueError("地址应以 postgresql+psycopg:// 开头")
    return _parseable(value)


def _parseable(value: SecretStr) -> SecretStr:
    """Raise ValueError for an address that cannot be parsed. The reason never quotes it: it holds a password."""
    address = value.get_secret_value()
    try:
        parts = urlsplit(address)
        readable = parts.port != 0 and (parts.hostname or parts.scheme == "unix" or parts.query)
        if parts.scheme in {"redis", "rediss"} and parts.path.strip("/"):
            readable = readable and parts.path.strip("/").isdecimal()
    except ValueError:
        readable = False
    if not readable or "@" in _after_host(address):
        raise ValueError("地址无法识别；密码中的 / : @ 等字符要写成 %2F %3A %40")
    return value


def _after_host(address: str) -> str:
    """Return the part after the first slash behind `://`. An `@` there belongs to a password that was not encoded."""
    return address.partition("://")[2].partition("/")[2].partition("?")[0]


def _quotas(value: tuple[str, ...]) -> tuple[tuple[str, int], ...]:
    """Parse `tavily=20`: the engine and its own number."""
    quotas = []
    for entry in value:
        found = re.fullmatch(r"([a-z_]+)\s*=\s*(\d{1,7})", entry, re.ASCII)
        if not found or not 1 <= int(found[2]) <= 1_000_000:
            raise ValueError("应写成「引擎名=每分钟次数」，次数为 1–1000000")
        quotas.append((found[1], int(found[2])))
    return tuple(quotas)


def _prices(value: tuple[str, ...]) -> tuple[tuple[str, float, float], ...]:
    """Parse `gpt-5-mini=1.8/14.4`: the model and the prices of a million tokens of input and of output."""
    prices = []
    for entry in value:
        name, _, amounts = entry.rpartition("=")
        found = re.fullmatch(r"(\d{1,6}(?:\.\d+)?)\s*/\s*(\d{1,6}(?:\.\d+)?)", amounts.strip(), re.ASCII)
        if not name.strip() or not found:
            raise ValueError("应写成「模型名=输入价/输出价」，如 gpt-5-mini=1.8/14.4")
        prices.append((name.strip(), float(found[1]), float(found[2])))
    return tuple(prices)


def _mirrors(value: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Parse `just-laws=https://…`: a source and the address to fetch it from instead."""
    pairs = [entry.partition("=") for entry in value]
    if not all(name.strip() for name, _, _ in pairs):
        raise ValueError("应写成「来源名=网址」")
    if any("@" in address for _, _, address in pairs):  # readers are shown where a source is fetched from
        raise ValueError("网址里不能有用户名和密码")
    return tuple((name.strip().lower(), parse_web_address(address)) for name, _, address in pairs)


def parse_secret(value: SecretStr) -> SecretStr:
    text = value.get_secret_value().strip()
    if not text.isascii() or any(character.isspace() or not character.isprintable() for character in text):
        raise ValueError("密钥中有空格、换行或非英文字符")
    return SecretStr(text)


# ── The types of settings ─────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Unit:
    """The unit of a number, for descriptions of its range."""

    name: str


@dataclass(frozen=True, slots=True)
class ValueFormat:
    """A description of the allowed values, for types that do not say it themselves."""

    words: str


@dataclass(frozen=True, slots=True)
class Editable:
    """Mark of settings that can be changed from the page 设置: they connect the installation to other services."""


def annotation_parts(field: FieldInfo) -> list[Any]:
    """Return the types of a field and the marks attached to them, also for optional fields."""
    return [*_parts(field.annotation), *field.metadata]


def _parts(annotation: Any) -> Iterator[Any]:
    if get_origin(annotation) in (Union, UnionType):
        for choice in get_args(annotation):
            yield from _parts(choice)
    elif get_origin(annotation) is Annotated:
        yield from get_args(annotation)
    else:
        yield annotation


EDITABLE = Editable()
Number = BeforeValidator(_plain_number)
Count = Annotated[int, Number]
Times = Annotated[Count, Unit("次")]
Days = Annotated[Count, Unit("天")]
Characters = Annotated[Count, Unit("字符")]
Tokens = Annotated[Count, Unit("tokens")]
TokensOrAuto = Annotated[
    int | Literal["auto"], BeforeValidator(_tokens_or_auto), ValueFormat("auto，或 200 到 1000000 tokens")
]
WholeSeconds = Annotated[Count, Unit("秒")]
Decimal = Annotated[float, Number]
Seconds = Annotated[Decimal, Unit("秒")]
Hours = Annotated[Decimal, Unit("小时")]
Flag = Annotated[bool, BeforeValidator(_plain_word)]
Word = Annotated[str, BeforeValidator(_plain_word)]
Folder = Annotated[Word, AfterValidator(_folder)]
OnOrOff = BeforeValidator(_on_or_off)
LowerCase = BeforeValidator(lambda value: str(value).strip().lower())
UpperCase = BeforeValidator(lambda value: str(value).strip().upper())
CommaList = BeforeValidator(_comma_list)
OrNone = BeforeValidator(_none_as_empty)
Names = Annotated[tuple[str, ...], CommaList, ValueFormat("逗号分隔")]
Folders = Annotated[tuple[str, ...], CommaList, AfterValidator(_folders), ValueFormat("文件夹，逗号分隔")]
Domains = Annotated[
    tuple[str, ...], OrNone, CommaList, AfterValidator(_domains), ValueFormat("主机名，逗号分隔，或 none")
]
Language = Annotated[Word, AfterValidator(parse_language), ValueFormat("auto 或语言代码，如 zh-CN、en")]
Address = Annotated[str, AfterValidator(parse_web_address), ValueFormat("网址")]
Addresses = Annotated[tuple[str, ...], CommaList, AfterValidator(_web_addresses), ValueFormat("网址，逗号分隔")]
Quotas = Annotated[tuple[Any, ...], CommaList, AfterValidator(_quotas), ValueFormat("引擎名=每分钟次数，逗号分隔")]
Prices = Annotated[tuple[Any, ...], CommaList, AfterValidator(_prices), ValueFormat("模型名=输入价/输出价，逗号分隔")]
Mirrors = Annotated[tuple[Any, ...], CommaList, AfterValidator(_mirrors), ValueFormat("来源名=网址，逗号分隔")]
Secret = Annotated[SecretStr, AfterValidator(parse_secret)]
ApiKey = Annotated[Secret, ValueFormat("英文字符，请写在环境变量、secrets.toml 或「设置」页面里"), EDITABLE]
DatabaseAddress = Annotated[Secret, AfterValidator(_database_address), ValueFormat("postgresql+psycopg:// 开头的地址")]
RedisAddress = Annotated[Secret, AfterValidator(_redis_address), ValueFormat("redis:// 或 rediss:// 开头的地址")]


# ── What cannot be used ───────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class SettingProblem:
    """One value that could not be used."""

    key: str
    reason: str
    used_instead: str
    value: str = ""
    """The value as it was given; empty if there is none to show, or if it is a secret."""

    def __str__(self) -> str:
        """Return the problem as any visitor may read it: without the value."""
        return f"{self.key}：{self.reason}，已改用 {self.used_instead}"

    def for_operator(self) -> str:
        """Return the problem with the value that was given."""
        return f"{self.key}：{f'「{self.value}」' if self.value else ''}{self.reason}，已改用 {self.used_instead}"


_problems: ContextVar[list[SettingProblem] | None] = ContextVar("settings_problems", default=None)


@contextmanager
def collect_problems() -> Iterator[list[SettingProblem]]:
    """Collect the problems that are reported while the body runs."""
    problems: list[SettingProblem] = []
    token = _problems.set(problems)
    try:
        yield problems
    finally:
        _problems.reset(token)


def add_problem(problem: SettingProblem) -> None:
    """Add a problem to those being collected. Raise ValueError if nobody collects them: a programmer built the section."""
    problems = _problems.get()
    if problems is None:  # the section was built directly, not loaded: a programmer reads this
        raise ValueError(str(problem))
    problems.append(problem)


MAX_SHOWN_VALUE = 60
UNPREFIXED = "process"
"""The section whose settings are named by their key alone: TUNING."""


def variable_name(section: str, key: str) -> str:
    """Return the name of the environment variable: `search: {timeout: …}` in settings.yaml is SEARCH_TIMEOUT."""
    return (key if section == UNPREFIXED else f"{section}_{key}").upper()


Group = Literal["搜索", "引擎", "法规与案例", "模型", "对话与 Agent", "提问的上限", "接口", "数据与运行"]
"""Groups of settings, in the order in which they are shown."""


def hide_userinfo(value: Any, replacement: str = "***") -> Any:
    """Return an address without its user name and password, which may themselves contain an `@`."""
    return re.sub(r"(?<=://)[^/\s]*@", f"{replacement}@", value) if isinstance(value, str) else value


class Section(BaseModel):
    """Settings that belong together. Each field has its default, its limits and, as `description`, its purpose. An
    unusable value becomes its default and a SettingProblem, never an exception."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)
    name: ClassVar[str]
    group: ClassVar[Group]

    @classmethod
    @cache
    def editable(cls) -> frozenset[str]:
        """Return the keys that may be set from the page."""
        return frozenset(key for key, field in cls.model_fields.items() if EDITABLE in annotation_parts(field))

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        """Yield the fields without the user name and password that an address may hold."""
        for key, value in super().__repr_args__():
            yield key, tuple(map(hide_userinfo, value)) if isinstance(value, tuple) else hide_userinfo(value)

    @field_validator("*", mode="wrap")
    @classmethod
    def _use_default(cls, value: Any, handler: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
        assert info.field_name is not None
        field = cls.model_fields[info.field_name]
        default = field.get_default(call_default_factory=True)
        if isinstance(value, str):
            value = clean(value)
        if value is None or (isinstance(value, str) and not value.strip()):
            return default
        try:
            return handler(value)
        except (ValidationError, ValueError) as error:
            name, shown = variable_name(cls.name, info.field_name), _shown_value(value, field)
            add_problem(SettingProblem(name, _reason(error), used_instead=_default_in_words(default), value=shown))
            return default


def _shown_value(value: Any, field: FieldInfo) -> str:
    """Return a value as it is quoted to people: short, and nothing of a secret."""
    if SecretStr in annotation_parts(field):
        return ""
    return shorten(one_line(redact(str(hide_userinfo(value)))), MAX_SHOWN_VALUE)


def _reason(error: Exception) -> str:
    if not isinstance(error, ValidationError):
        return str(error)
    first = error.errors(include_input=False, include_url=False)[0]
    context = first.get("ctx", {})
    match first["type"]:
        case "greater_than_equal":
            return f"不能小于 {context['ge']}"
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


def _default_in_words(value: Any) -> str:
    if value in (None, "", ()):
        return "默认（未设置）"
    if isinstance(value, tuple):
        return "默认值 " + ",".join(map(str, value))
    return f"默认值 {value}"
