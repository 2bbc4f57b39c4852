"""Every error that a user may meet, and the sentence each one shows.

AppError
├─ SettingsError                a value in settings.yaml or the environment was unusable
├─ InputError                   what the user typed cannot be sent (blank, too long)
├─ StoreError                   conversations cannot be kept or read just now; the page goes on in memory
│  └─ StoreTooNew               a newer version of the program has been at this database
├─ ConversationNotFound         there is none with this id, or it is somebody else's
├─ HttpError                    what core.base.http raises; engines turn it into an EngineError
│  ├─ HttpInvalidRequest        the address or a header is unusable: nothing was sent
│  ├─ HttpNotPublic             a visitor's address leads to this machine or its network: not connected
│  ├─ HttpTimeout · HttpCancelled
│  ├─ HttpConnectError          `reason`: dns, refused, reset, tls, proxy, unreachable
│  ├─ HttpRedirect              never followed; names the target's host
│  ├─ HttpTooLarge              past the byte cap, before or after decompression
│  ├─ HttpProtocolError         not HTTP, cut short, or in an encoding that was not asked for
│  └─ HttpInvalidJson
├─ SearchError
│  ├─ QueryError                the query is blank or too long: nothing was sent
│  ├─ RateLimited               our own limit, per user or for the whole installation
│  ├─ NoEngine                  the chain of usable engines is empty
│  ├─ EngineError               eligible for failover; the class decides how long the engine rests
│  │  ├─ EngineTimeout
│  │  ├─ EngineUnavailable
│  │  ├─ EngineThrottled        the engine said 429; it may say for how long
│  │  ├─ EngineBlocked          captcha, consent page, 403
│  │  ├─ EngineMisconfigured    wrong key, JSON switched off, no Chrome: carries the cure
│  │  ├─ EngineQuotaExceeded
│  │  └─ EngineParseError       the answer was not what the engine's API promises
│  └─ AllEnginesFailed          every engine was tried; carries the attempts
├─ ModelError
│  ├─ ModelAuthError · ModelNotFound · ModelTimeout · ModelUnavailable
│  ├─ ModelCannotSearch         the answering call was to search the web itself; the ordinary engines take over
│  └─ ModelOverloaded · ModelQuotaExceeded · ModelRefused · ModelEmptyAnswer · ModelDisconnected
├─ LegalError
│  ├─ CorpusError               a corpus that cannot be read, or is none that we know: nothing was imported
│  ├─ ImportCancelled · ImportBusy
│  └─ NoLegalIndex              nothing was imported yet, and no web search stands in
└─ AgentError                   AgentOutputError · BudgetExceeded · LoopDetected

`str(error)` is what the reader sees: what happened, and what to do about it. It never holds a key, a full URL or a
traceback. Fields are keyword-only, so that a message can never be taken for a number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

if TYPE_CHECKING:
    from core.search.types import Attempt

UNTIL_SETTINGS_CHANGE = float("inf")


class AppError(Exception):
    """The root: catch this to catch everything that the program foresaw."""

    kind: ClassVar[str] = "error"
    happened: ClassVar[str] = "程序遇到了没有预料到的问题。"
    advice: ClassVar[str] = ""

    def __init__(self, message: str = "", *, cure: str = "") -> None:
        self.message = message or self.happened
        self.cure = cure or self.advice
        super().__init__(self.message)

    def __str__(self) -> str:
        return f"{self.message}{self.cure}"


class SettingsError(AppError):
    """Names the key, what was wrong (never a secret's value) and what is used instead."""

    kind = "settings"
    happened = "配置中有一个值无法使用。"


class InputError(AppError):
    kind = "input"
    happened = "这条消息没有发送。"


class StoreError(AppError):
    kind = "store"
    happened = "对话记录暂时无法保存或读取。"
    advice = "可以继续提问，但关闭页面后新的内容可能丢失；请检查 DATA_DIR 的空间和权限，或 DATABASE_URL。"


class StoreTooNew(StoreError):
    kind = "store_too_new"

    def __init__(self, *, found: int, known: int) -> None:
        super().__init__(
            f"对话数据库由更新版本的程序写成（格式 {found}，本程序只认识到 {known}），没有改动它。",
            cure="请升级本程序，或改用另一个 DATA_DIR 或 DATABASE_URL。",
        )


class ConversationNotFound(AppError):
    """The same sentence for a foreign and for an unknown id: nobody can find out which ids exist."""

    kind = "conversation_not_found"
    happened = "没有找到这个对话。"
    advice = "它可能已被删除，或属于另一个帐号；可以开始新对话。"


class HttpError(AppError):
    """An exchange that brought no answer. `host` is all that it tells of the address."""

    kind = "http"
    happened = "网络请求没有成功。"

    def __init__(self, message: str = "", *, cure: str = "", host: str = "") -> None:
        super().__init__(message, cure=cure)
        self.host = host


class HttpInvalidRequest(HttpError):
    kind = "http_invalid_request"
    happened = "请求没有发出：服务地址或请求头无法使用。"
    advice = "请检查服务地址（以 http:// 或 https:// 开头）和密钥中是否有多余的字符。"


class HttpNotPublic(HttpError):
    kind = "http_not_public"

    def __init__(self, *, host: str) -> None:
        super().__init__(f"{host} 不是公开的网络地址，没有连接。", cure="请换一个网址，或先下载再上传文件。", host=host)


class HttpTimeout(HttpError):
    kind = "http_timeout"

    def __init__(self, *, host: str) -> None:
        super().__init__(f"{host} 没有在规定时间内答复。", cure="请稍后重试。", host=host)


class HttpCancelled(HttpError):
    kind = "http_cancelled"

    def __init__(self, *, host: str) -> None:
        super().__init__(f"对 {host} 的请求已取消。", host=host)


ConnectFailure = Literal["dns", "refused", "reset", "tls", "proxy", "unreachable"]


class HttpConnectError(HttpError):
    kind = "http_connect"

    _SENTENCES: ClassVar[dict[ConnectFailure, tuple[str, str]]] = {
        "dns": ("找不到 {host} 这个地址。", "请检查网络和服务地址的拼写。"),
        "refused": ("{host} 拒绝了连接。", "请确认服务已启动、端口正确。"),
        "reset": ("{host} 中断了连接。", "请稍后重试，或检查网络和代理。"),
        "tls": ("与 {host} 的加密连接没有建立。", "请检查服务地址、系统时间和证书设置（REQUESTS_CA_BUNDLE）。"),
        "proxy": ("无法通过代理访问 {host}。", "请检查 HTTP_PROXY 和 HTTPS_PROXY；SOCKS 代理不受支持。"),
        "unreachable": ("连接不上 {host}。", "请检查网络和服务地址。"),
    }

    def __init__(self, *, host: str, reason: ConnectFailure) -> None:
        message, cure = self._SENTENCES[reason]
        super().__init__(message.format(host=host), cure=cure, host=host)
        self.reason = reason


class HttpRedirect(HttpError):
    """Keys sent to one host must not follow to another, so the redirect ends here."""

    kind = "http_redirect"

    def __init__(self, *, host: str, target: str) -> None:
        super().__init__(f"{host} 要求转到 {target}，没有跟随。", cure="请把服务地址改为最终的地址。", host=host)
        self.target = target


class HttpTooLarge(HttpError):
    kind = "http_too_large"

    def __init__(self, *, host: str, limit: int) -> None:
        super().__init__(f"{host} 返回的内容超过 {limit} 字节的上限。", host=host)
        self.limit = limit


class HttpProtocolError(HttpError):
    kind = "http_protocol"

    def __init__(self, *, host: str) -> None:
        super().__init__(f"{host} 的答复不完整或不符合 HTTP 协议。", cure="请检查服务地址和端口。", host=host)


class HttpInvalidJson(HttpError):
    kind = "http_json"

    def __init__(self, *, host: str) -> None:
        super().__init__(f"{host} 返回的内容不是有效的 JSON。", cure="请检查服务地址。", host=host)


class SearchError(AppError):
    kind = "search"
    happened = "搜索没有成功。"


class QueryError(SearchError):
    """The query was refused before anything was sent."""

    kind = "query"
    happened = "搜索词为空，没有执行搜索。"
    advice = "请输入要查找的内容。"


class RateLimited(SearchError):
    kind = "rate_limited"
    happened = "搜索次数已达到每分钟的上限。"

    def __init__(self, *, retry_after: float) -> None:
        self.retry_after = max(1, round(retry_after))
        super().__init__(cure=f"请在 {self.retry_after} 秒后重试，或先关闭联网搜索。")


class NoEngine(SearchError):
    kind = "no_engine"
    happened = "没有可用的搜索引擎。"
    advice = "请在设置中配置至少一个搜索引擎。"


class EngineError(SearchError):
    """One engine failed; the next one in the chain takes over."""

    kind = "engine"
    happened = "搜索引擎返回了错误。"
    rest_seconds: ClassVar[float] = 60.0

    @property
    def rest(self) -> float:
        """How long this engine is left alone."""
        return self.rest_seconds


class EngineTimeout(EngineError):
    kind = "timeout"
    happened = "搜索超时。"
    advice = "可以稍后重试，或在设置中调大 SEARCH_TIMEOUT。"
    rest_seconds = 15.0


class EngineUnavailable(EngineError):
    kind = "unavailable"
    happened = "搜索服务不可用。"
    advice = "请检查网络或服务地址。"
    rest_seconds = 30.0


class EngineThrottled(EngineError):
    kind = "throttled"
    happened = "搜索引擎要求放慢速度（429）。"
    rest_seconds = 60.0

    def __init__(self, message: str = "", *, cure: str = "", retry_after: float | None = None) -> None:
        super().__init__(message, cure=cure)
        self.retry_after = retry_after

    @property
    def rest(self) -> float:
        return self.rest_seconds if self.retry_after is None else min(max(self.retry_after, 1.0), 3600.0)


class EngineBlocked(EngineError):
    kind = "blocked"
    happened = "搜索引擎拒绝了自动访问。"
    advice = "需要人工处理，程序不会反复尝试。"
    rest_seconds = 3600.0


class EngineMisconfigured(EngineError):
    kind = "misconfigured"
    happened = "搜索引擎的配置有误。"
    rest_seconds = UNTIL_SETTINGS_CHANGE

    def __init__(self, message: str = "", *, cure: str = "", state: str = "不可用") -> None:
        super().__init__(message, cure=cure)
        self.state = state
        """The engine's state in a word or two, for a list of engines."""


class EngineQuotaExceeded(EngineError):
    kind = "quota"
    happened = "搜索引擎的额度已用完。"
    advice = "请到服务商处充值，或改用其他引擎。"
    rest_seconds = UNTIL_SETTINGS_CHANGE


class EngineParseError(EngineError):
    kind = "parse"
    happened = "搜索引擎返回的内容无法读取。"
    rest_seconds = 60.0


class AllEnginesFailed(SearchError):
    """No engine answered and nothing was kept from before; `attempts` says what each one did."""

    kind = "all_failed"
    happened = "所有搜索引擎都没有成功。"
    advice = "可以稍后重试，检查网络，或先关闭联网搜索。"

    def __init__(
        self, message: str = "", *, cure: str = "", attempts: tuple[Attempt, ...] = (), cause: str = ""
    ) -> None:
        super().__init__(message, cure=cure)
        self.attempts = attempts
        self.cause = cause
        """The `kind` of what most engines met: timeout, unavailable, …"""


class ModelError(AppError):
    kind = "model"
    happened = "模型没有给出回答。"
    advice = "请稍后重试。"


class ModelAuthError(ModelError):
    kind = "model_auth"
    happened = "模型服务拒绝了当前的密钥。"
    advice = "请检查 OPENAI_API_KEY 是否正确、是否属于 OPENAI_BASE_URL 所指的服务。"


class ModelNotFound(ModelError):
    kind = "model_not_found"
    happened = "模型服务中没有这个模型。"
    advice = "请检查 LLM_MODEL 的写法（如 openai:模型名）和 OPENAI_BASE_URL。"


class ModelCannotSearch(ModelError):
    kind = "model_cannot_search"
    happened = "当前的模型或其服务没有自带的联网搜索。"


class ModelTimeout(ModelError):
    kind = "model_timeout"
    happened = "模型在规定时间内没有继续输出。"
    advice = "已写出的内容已保留，可以点「重新回答」再试一次。"


class ModelUnavailable(ModelError):
    kind = "model_unavailable"
    happened = "连接不上模型服务。"
    advice = "请检查网络、代理和 OPENAI_BASE_URL；本机服务请确认已启动。"


class ModelOverloaded(ModelError):
    kind = "model_overloaded"
    happened = "模型服务正忙。"
    advice = "已自动重试仍未成功，请过一会儿再问。"


class ModelQuotaExceeded(ModelError):
    kind = "model_quota"
    happened = "模型服务的额度已用完。"
    advice = "请到模型服务商处充值，或在设置中改用其他模型。"


class ModelRefused(ModelError):
    """The service understood the request and will not do it: too long, a parameter it does not know, a filter."""

    kind = "model_refused"
    happened = "模型服务拒绝了这次请求。"
    advice = "可能是内容过长或触发了服务商的限制，请缩短问题或新建对话后再试。"


class ModelEmptyAnswer(ModelError):
    kind = "model_empty"
    happened = "模型返回了空的回答。"
    advice = "请换一种问法，或点「重新回答」。"


class ModelDisconnected(ModelError):
    kind = "model_disconnected"
    happened = "与模型服务的连接在回答途中断开。"
    advice = "已写出的内容已保留，可以点「重新回答」再试一次。"


class LegalError(AppError):
    kind = "legal"
    happened = "法规与案例库没有完成这次操作。"


class CorpusError(LegalError):
    kind = "legal_corpus"
    happened = "这份资料无法导入。"


class ImportCancelled(LegalError):
    kind = "legal_cancelled"
    happened = "导入已取消，原有的法规与案例库没有变化。"


class ImportBusy(LegalError):
    kind = "legal_busy"
    happened = "另一个导入正在进行。"
    advice = "请等它结束后再试。"


class NoLegalIndex(LegalError):
    kind = "legal_no_index"
    happened = "还没有导入法规与案例库。"
    advice = "请在「法规与案例」页导入，或运行 python -m core law import 路径。"


class AgentError(AppError):
    kind = "agent"
    happened = "智能体没有完成这次任务。"
    advice = "可以换一种问法，或切换到 Chat 模式。"


class AgentOutputError(AgentError):
    kind = "agent_output"
    happened = "模型没有按约定的格式输出。"


class BudgetExceeded(AgentError):
    kind = "agent_budget"
    happened = "智能体用完了次数或时间。"


class LoopDetected(AgentError):
    kind = "agent_loop"
    happened = "智能体在重复同样的操作，已停止。"
