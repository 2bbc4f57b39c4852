"""The choice between native tool calling and ReAct text for a model, and the memory of what its server has refused."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool

from core.agent.agent_prompt import describe_tools
from core.agent.classic import create_react_agent, create_tool_calling_agent
from core.agent.react_parser import ReactParser
from core.agent.tool_registry import ALIASES
from core.agent.tools import AgentTool
from core.base.settings import ModelChoice


@dataclass(frozen=True, slots=True)
class Strategy:
    uses_tools: bool
    sends_stop_words: bool = False
    """True if the request names the words at which the model must stop. OpenAI's reasoning models refuse that."""


NATIVE = Strategy(uses_tools=True)
REACT = Strategy(uses_tools=False, sends_stop_words=True)
REACT_WITHOUT_STOP = Strategy(uses_tools=False)

# LangChain knows the models of its own providers. These are hosted ones that are reached through the OpenAI protocol;
# a local `qwen3:8b` is not among them: servers that ignore `tools` in silence would leave the agent without a search.
_HOSTED_WITH_TOOLS = re.compile(
    r"(?:[\w.-]+/)?(?:deepseek-(?:chat|reasoner|v[3-9])|qwen(?:3(?:\.\d)?)?-(?:max|plus|turbo|flash)|glm-[4-9]"
    r"|kimi-|moonshot-|doubao-(?:seed|1)|hunyuan-|minimax-|ernie-[45]|mistral-|claude-|gemini-|grok-)",
    re.IGNORECASE,
)


class StrategyMemory:
    """The strategies for one model, one instance per process. A strategy that the server refused is not tried again."""

    def __init__(self, configured: str, model: ModelChoice) -> None:
        self._configured = configured
        self._model = model
        self._accepted: Strategy | None = None

    def candidates(self, chat: BaseChatModel, *, with_tools: bool) -> list[Strategy]:
        """Return the strategies to try, best first. Without tools none is native: some servers reject `tools: []`."""
        native = with_tools and self._prefers_native(chat)
        ways = [NATIVE, REACT, REACT_WITHOUT_STOP] if native else [REACT, REACT_WITHOUT_STOP]
        return ways[ways.index(self._accepted) :] if self._accepted in ways else ways

    def remember_accepted(self, accepted: Strategy) -> None:
        """Remember that the server accepted this one. Those before it were refused and are not tried again."""
        self._accepted = accepted

    def _prefers_native(self, chat: BaseChatModel) -> bool:
        if self._configured != "auto":
            return self._configured == "tools"
        return bool((chat.profile or {}).get("tool_calling") or _HOSTED_WITH_TOOLS.match(self._model.name))


STOP_WORDS = ["\nObservation", "\n观察"]
MAX_AGENTS = 32


class AgentCache:
    """A cache of LangChain's agents, each built once. They know the descriptions of the tools, but hold no tool."""

    def __init__(self) -> None:
        self._built: dict[
            tuple[Strategy, str, int, int], tuple[Runnable[Any, Any], BaseChatModel, ChatPromptTemplate]
        ] = {}

    def get(
        self, chat: BaseChatModel, strategy: Strategy, prompt: ChatPromptTemplate, tools: Sequence[BaseTool]
    ) -> Runnable[Any, Any]:
        # Chat and prompt are kept in the entry, so that their ids stay unique.
        key = (strategy, describe_tools(tools), id(chat), id(prompt))
        if key not in self._built:
            if len(self._built) >= MAX_AGENTS:  # a new prompt every day
                self._built.clear()
            self._built[key] = _build_agent(chat, strategy, prompt, tools), chat, prompt
        return self._built[key][0]


def _build_agent(
    chat: BaseChatModel, strategy: Strategy, prompt: ChatPromptTemplate, tools: Sequence[BaseTool]
) -> Runnable[Any, Any]:
    names = tuple(tool.name for tool in tools)
    if strategy.uses_tools:
        shown = prompt.partial(tools=describe_tools(tools), tool_names=", ".join(names))
        return create_tool_calling_agent(chat, tools, shown)
    return create_react_agent(
        chat,
        tools,
        prompt,
        output_parser=ReactParser(
            tools=names,
            aliases=ALIASES
            | {tool.name: tool.other_names for tool in tools if isinstance(tool, AgentTool) and tool.other_names},
            with_names=frozenset(tool.name for tool in tools if isinstance(tool, AgentTool) and tool.takes_names),
        ),
        tools_renderer=describe_tools,
        stop_sequence=STOP_WORDS if strategy.sends_stop_words else False,
    )
