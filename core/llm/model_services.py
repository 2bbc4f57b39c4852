"""The services that offer models, as data, and how their lists of models are read.

Addresses and key pages are those of the services' own documentation in November 2026. A service with a Chinese and an
international host has the Chinese one here. `None` means: not checked, or different from model to model.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeGuard

from core.base.http import Deadline, Request, Response, fetch
from core.base.http.errors import HttpConnectError, HttpError, HttpInvalidJson, HttpRedirect, HttpTimeout
from core.base.text import one_line
from core.llm.errors import ModelAuthError, ModelError, ModelRedirected, ModelTimeout, ModelUnavailable, busy_or_broken

LIST_SECONDS = 8.0
LOCAL_LIST_SECONDS = 1.0
LOCAL_REFRESH_SECONDS = 15.0
MAX_MODELS = 1_000
MAX_NAME_LENGTH = 200


@dataclass(frozen=True, slots=True)
class ModelService:
    id: str
    label: str
    """The name that readers know."""
    base_url: str = ""
    """The address of the API. Empty if only the user knows it."""
    key_page: str = ""
    needs_key: bool = True
    is_self_hosted: bool = False
    """True if the user runs the service, at an address of their choice."""
    list_params: Mapping[str, str] = field(default_factory=dict)
    """Parameters that limit the list to models that answer questions."""
    thinks: bool | None = None
    """True if the reasoning of its models can be read while they think."""
    calls_tools: bool | None = None
    searches: bool | None = None
    """True if its own web search reports sources through the protocol in `core.search.engines.native`."""


SERVICES = (
    ModelService("deepseek", "DeepSeek", "https://api.deepseek.com", "https://platform.deepseek.com/api_keys", thinks=True, calls_tools=True, searches=True),
    ModelService("qwen", "通义千问", "https://dashscope.aliyuncs.com/compatible-mode/v1", "https://bailian.console.aliyun.com/?tab=model#/api-key", thinks=True, calls_tools=True),
    ModelService("kimi", "Kimi", "https://api.moonshot.cn/v1", "https://platform.moonshot.cn/console/api-keys", thinks=True, calls_tools=True, searches=False),
    ModelService("glm", "智谱 GLM", "https://open.bigmodel.cn/api/paas/v4", "https://bigmodel.cn/usercenter/proj-mgmt/apikeys", thinks=True, calls_tools=True),
    ModelService("doubao", "豆包", "https://ark.cn-beijing.volces.com/api/v3", "https://console.volcengine.com/ark/region:ark+cn-beijing/apiKey", thinks=True, calls_tools=True),
    ModelService("minimax", "MiniMax", "https://api.minimaxi.com/v1", "https://platform.minimaxi.com/user-center/basic-information/interface-key", thinks=True, calls_tools=True),
    ModelService("siliconflow", "硅基流动", "https://api.siliconflow.cn/v1", "https://cloud.siliconflow.cn/account/ak", list_params={"sub_type": "chat"}),
    ModelService("openrouter", "OpenRouter", "https://openrouter.ai/api/v1", "https://openrouter.ai/keys"),
    ModelService("openai", "OpenAI", "https://api.openai.com/v1", "https://platform.openai.com/api-keys", thinks=False, calls_tools=True, searches=True),
    ModelService("ollama", "Ollama", "http://127.0.0.1:11434/v1", needs_key=False, is_self_hosted=True, searches=False),
    ModelService("lmstudio", "LM Studio", "http://127.0.0.1:1234/v1", needs_key=False, is_self_hosted=True, searches=False),
    ModelService("vllm", "vLLM", "http://127.0.0.1:8000/v1", needs_key=False, is_self_hosted=True, searches=False),
    ModelService("other", "其他 OpenAI 兼容地址", needs_key=False, is_self_hosted=True),
)  # fmt: skip
OTHER_SERVICE = SERVICES[-1]
DETECTED_SERVICES = ("ollama", "lmstudio")
"""The services looked for on this machine. vLLM is not among them: many other programs use its port."""


def service_for_address(base_url: str | None) -> ModelService:
    """Return the service with this address. Without an address it is OpenAI."""
    wanted = base_url or find_service("openai").base_url
    return next((entry for entry in SERVICES if entry.base_url == wanted), OTHER_SERVICE)


def find_service(id: str) -> ModelService:
    return next((entry for entry in SERVICES if entry.id == id), OTHER_SERVICE)


# ── Lists of models ───────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class ListedModel:
    name: str
    context: int | None = None
    """The context length in tokens, where the list gives it."""
    owner: str = field(default="", compare=False)
    """`owned_by` of the list, by which some servers tell what program they are."""


class NoModelList(ModelError):
    kind = "no_model_list"
    default_message = "这个地址没有给出模型列表。"
    default_cure = "请检查地址，通常以 /v1 结尾；有的服务没有列表，那就直接写模型名。"


def list_models(
    base_url: str,
    api_key: str = "",
    *,
    params: Mapping[str, str] | None = None,
    deadline: Deadline | None = None,
    fetch: Callable[..., Response] = fetch,
) -> tuple[ListedModel, ...]:
    """Return the models of a service, the newest first where the list gives their age. Raises only ModelErrors."""
    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    request = Request("GET", f"{base_url.rstrip('/')}/models", params=params or {}, headers=headers)
    try:
        response = fetch(request, deadline=deadline or Deadline(LIST_SECONDS))
        _check_status(response.status)
        return _parse_models(response.json())
    except HttpInvalidJson:
        raise NoModelList from None
    except HttpError as error:
        raise _ERRORS_BY_HTTP_ERROR.get(type(error), ModelError)(error.message, cure=error.cure) from None


_ERRORS_BY_HTTP_ERROR: dict[type[HttpError], type[ModelError]] = {
    HttpConnectError: ModelUnavailable,
    HttpTimeout: ModelTimeout,
    HttpRedirect: ModelRedirected,
}


def _check_status(status: int) -> None:
    if status in {401, 403}:
        raise ModelAuthError(
            f"模型服务拒绝了这个密钥（{status}）。", cure="请检查密钥是否完整、是否已过期，是不是这一家的。"
        )
    if error := busy_or_broken(status):
        raise error
    if status != 200:
        raise NoModelList(f"这个地址没有给出模型列表（{status}）。")


# Parts of names that belong to models which do not answer questions.
_OTHER_PURPOSES = (
    *("embed", "bge-", "rerank", "whisper", "tts", "asr", "dall-e", "image", "moderation", "speech", "audio", "realtime"),
    *("transcribe", "video", "sora", "wanx", "wan2", "cogview", "cogvideo", "seedream", "seedance", "stable-diffusion"),
)  # fmt: skip


def _parse_models(document: Any) -> tuple[ListedModel, ...]:
    """Parse `{"data": [{"id": …}]}`. Some servers send the bare list."""
    entries = document.get("data") if isinstance(document, dict) else document
    if not isinstance(entries, list):
        raise NoModelList
    newest_first = sorted(_parse_entries(entries), key=lambda entry: (-entry[0], entry[1].name.lower()))
    models = {model.name: model for _, model in newest_first}
    if not models:
        raise NoModelList("模型服务给出的列表里没有可用的模型。", cure="请先在服务里准备好模型，或直接写模型名。")
    return tuple(models.values())[:MAX_MODELS]


def _parse_entries(entries: list[Any]) -> Iterator[tuple[float, ListedModel]]:
    """Yield each usable model with the time of its creation; 0 if unknown."""
    for entry in entries:
        name = entry.get("id") if isinstance(entry, dict) else None
        if not isinstance(name, str) or not 0 < len(name) <= MAX_NAME_LENGTH or one_line(name) != name:
            continue
        if entry.get("status") == "Shutdown" or any(part in name.lower() for part in _OTHER_PURPOSES):
            continue
        created = entry.get("created")
        yield (
            created if isinstance(created, int) and 0 < created < 1e11 else 0,
            ListedModel(name, _context_length(entry), str(entry.get("owned_by") or "")),
        )


def _context_length(entry: dict[str, Any]) -> int | None:
    """Return the context length, as OpenRouter and Kimi, vLLM, Groq, llama.cpp, or Ark report it."""
    limits, meta = entry.get("token_limits"), entry.get("meta")
    window = limits.get("context_window") if isinstance(limits, dict) else None
    slot = meta.get("n_ctx") if isinstance(meta, dict) else None
    lengths = (entry.get("context_length"), entry.get("max_model_len"), entry.get("context_window"), slot, window)
    return next(filter(is_context_length, lengths), None)


def is_context_length(value: object) -> TypeGuard[int]:
    """Return whether a service can mean this as a number of tokens."""
    return type(value) is int and 0 < value < 10**9


# ── Services on this machine ──────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class LocalService:
    service: ModelService
    models: tuple[ListedModel, ...]


class LocalServices:
    """The model services that run on this machine. They are looked for in the background; a caller waits only a moment."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._looked = float("-inf")
        self._done = threading.Event()
        self._found: tuple[LocalService, ...] = ()

    def find(self, *, wait_seconds: float = 0.3) -> tuple[LocalService, ...]:
        with self._lock:
            if self._clock() - self._looked > LOCAL_REFRESH_SECONDS:
                self._looked = self._clock()
                self._done.clear()
                threading.Thread(target=self._look, name="wenyuan-local-models", daemon=True).start()
        self._done.wait(wait_seconds)
        return self._found

    def _look(self) -> None:
        found = []
        for entry in map(find_service, DETECTED_SERVICES):
            with suppress(ModelError):  # it does not run here, or has no model yet
                found.append(LocalService(entry, list_models(entry.base_url, deadline=Deadline(LOCAL_LIST_SECONDS))))
        self._found = tuple(found)
        self._done.set()


LOCAL_SERVICES = LocalServices()
"""One instance for the whole process, because it is one machine."""
