"""The model that the settings name. It is not in core.llm, because a search engine needs it too."""

from __future__ import annotations

import re
from dataclasses import dataclass

from core.base.settings.sections import Settings

EMBEDDED = "embedded"
EMBEDDED_LABEL = "内置摘录模型"
DEFAULT_OPENAI_MODEL = "gpt-5-mini"

# smollm2:135m, qwen3:0.6b, llama-3.2-3b, qwen1.5b, gemma3n:e2b …; but neither gpt-5-mini, which is not small in this
# sense, nor qwen3-30b-a3b, which has 30b.
_SMALL = re.compile(
    r"(?:^|[-:_/]e?|[a-z]{3})(?:\d{2,3}m|0?\.\d+b|[1-4](?:\.\d+)?b)(?![a-z0-9])|smollm|tinyllama", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class ModelChoice:
    provider: str
    name: str

    @property
    def is_embedded(self) -> bool:
        return self.provider == EMBEDDED

    @property
    def is_small(self) -> bool:
        """True if the model is too small for long instructions, by the size in its name."""
        return _SMALL.search(self.name) is not None

    @property
    def label(self) -> str:
        return EMBEDDED_LABEL if self.is_embedded else self.name


def choose_model(settings: Settings) -> ModelChoice:
    """Return the model that the settings name; without one, OpenAI's default if it is connected, else the embedded
    model."""
    wanted = settings.llm.model
    if not wanted:
        connected = settings.openai.api_key or settings.openai.base_url
        return ModelChoice("openai", DEFAULT_OPENAI_MODEL) if connected else ModelChoice(EMBEDDED, EMBEDDED)
    if wanted == EMBEDDED:
        return ModelChoice(EMBEDDED, EMBEDDED)
    provider, colon, name = wanted.partition(":")
    # "qwen3:8b" is a model of Ollama's, not a provider "qwen3": an own address always means the OpenAI protocol.
    if colon and (settings.openai.base_url is None or provider == "openai") and name:
        return ModelChoice(provider, name)
    return ModelChoice("openai", wanted)
