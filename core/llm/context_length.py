"""The context length of a model, as its service or its package gives it.

What a service lists is what it accepts. Ollama, LM Studio and llama.cpp list the length for which a model was trained, or
none; what they were started with stands at an address of their own. Ollama cuts a longer prompt without a word, so it is
believed only about the model as it is loaded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from core.base.http import Deadline, Request, fetch
from core.base.http.errors import HttpError
from core.base.settings import Settings
from core.llm.errors import ModelError
from core.llm.model_services import ListedModel, find_service, is_context_length, list_models

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

UNKNOWN_LENGTH = 16_384
"""Tokens that a model is believed to take where nobody says it: few models of today take less."""
OLLAMA_LENGTH = 4_096
"""What Ollama gives a model on a small machine unless it is told otherwise."""
LOOKUP_SECONDS = 3.0
_NUM_CTX = re.compile(r"^num_ctx\s+(\d{3,9})\s*$", re.MULTILINE)


def listed_length(settings: Settings, name: str) -> int | None:
    """Return the context length that the service at the configured address gives for the model; None for none."""
    base_url = settings.openai.base_url
    if not base_url:
        return None
    key = settings.openai.api_key.get_secret_value() if settings.openai.api_key else ""
    deadline = Deadline(LOOKUP_SECONDS)
    with suppress(ModelError):
        listed = _entry(list_models(base_url, key, deadline=deadline), name)
        if listed and listed.context:
            return listed.context
        if listed and (look := _look_behind(base_url, listed)):
            return look(base_url.rstrip("/").removesuffix("/v1"), listed.name, deadline)
    return None


def packaged_length(chat: BaseChatModel) -> int | None:
    """Return the length that the LangChain package of the provider knows for its own service's model; None for none."""
    known = (getattr(chat, "profile", None) or {}).get("max_input_tokens")
    return known if is_context_length(known) else None


def _entry(listed: tuple[ListedModel, ...], name: str) -> ListedModel | None:
    """Return the entry of the model. A server with a single model answers to any name."""
    named = next((one for one in listed if one.name in (name, f"{name}:latest")), None)
    return named or (listed[0] if len(listed) == 1 else None)


Look = Callable[[str, str, Deadline], int | None]


def _look_behind(base_url: str, listed: ListedModel) -> Look | None:
    """Return the way to ask a server for what it was started with; None for a service that has none."""
    if base_url == find_service("ollama").base_url or listed.owner == "library":
        return _ollama_length
    return {"llamacpp": _llama_cpp_length, "organization_owner": _lm_studio_length}.get(listed.owner)


def _ollama_length(root: str, name: str, deadline: Deadline) -> int | None:
    for running in _entries(_ask(Request("GET", f"{root}/api/ps"), deadline), "models"):
        length = running.get("context_length")
        if running.get("model") == name and is_context_length(length):
            return length
    shown = _ask(Request("POST", f"{root}/api/show", json={"model": name}), deadline)
    parameters = shown.get("parameters") if isinstance(shown, dict) else None
    found = _NUM_CTX.search(parameters) if isinstance(parameters, str) else None
    return int(found[1]) if found else OLLAMA_LENGTH


def _lm_studio_length(root: str, name: str, deadline: Deadline) -> int | None:
    for model in _entries(_ask(Request("GET", f"{root}/api/v0/models"), deadline), "data"):
        length = model.get("loaded_context_length")
        if model.get("id") == name and is_context_length(length):
            return length
    return None


def _llama_cpp_length(root: str, name: str, deadline: Deadline) -> int | None:
    shown = _ask(Request("GET", f"{root}/props"), deadline)
    started = shown.get("default_generation_settings") if isinstance(shown, dict) else None
    length = started.get("n_ctx") if isinstance(started, dict) else None
    return length if is_context_length(length) else None


def _ask(request: Request, deadline: Deadline) -> Any:
    """Return the decoded answer; None where there is none."""
    try:
        response = fetch(request, deadline=deadline)
        return response.json() if response.status == 200 else None
    except HttpError:
        return None


def _entries(document: Any, name: str) -> Iterator[dict[str, Any]]:
    entries = document.get(name) if isinstance(document, dict) else None
    yield from (entry for entry in entries if isinstance(entry, dict)) if isinstance(entries, list) else ()
