"""The steps of Agent mode as LangChain's Streamlit handler.

LangChain's own drawing stops after about 960 tokens in one turn, shows only the first of several tool calls and leaves a
failed step without its reason, so this subclass hands everything to `Steps`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain_core.callbacks import BaseCallbackHandler
from streamlit.delta_generator import DeltaGenerator

from core.answer.events import RunEvent, Thought, ToolFinished, ToolStarted
from core.ui.chat.steps import Steps

if TYPE_CHECKING:
    from langchain_community.callbacks.streamlit.streamlit_callback_handler import StreamlitCallbackHandler
else:
    try:
        from langchain_community.callbacks.streamlit.streamlit_callback_handler import StreamlitCallbackHandler
    except ImportError:  # the package is archived: one day it is not there, and nothing here needs more than the names
        StreamlitCallbackHandler = BaseCallbackHandler


class AgentSteps(StreamlitCallbackHandler):
    """`take` accepts the events of a run, `on_…` are LangChain's names for the same."""

    def __init__(self, place: DeltaGenerator, *, key: str = "") -> None:
        """What LangChain's handler would prepare for its own drawing is never used."""
        self._steps = Steps(place, key=key)
        self.draw = self._steps.draw
        self.finish = self._steps.finish

    def take(self, event: RunEvent) -> None:
        match event:
            case ToolStarted():
                self.on_tool_start({"name": event.tool}, event.input, run_id=event.call_id)
            case ToolFinished(ok=True):
                self.on_tool_end(event.summary, run_id=event.call_id)
            case ToolFinished():
                self.on_tool_error(event.summary, run_id=event.call_id)
            case _:
                self._steps.take(event)

    def on_llm_start(self, *args: Any, **kwargs: Any) -> None:
        self._steps.end_thinking()

    def on_llm_new_token(self, token: Any, **kwargs: Any) -> None:
        self._steps.take(Thought(str(token)))
        self._steps.draw()

    def on_llm_end(self, *args: Any, **kwargs: Any) -> None:
        self._steps.end_thinking()

    def on_llm_error(self, *args: Any, **kwargs: Any) -> None:
        self._steps.end_thinking()

    def on_tool_start(self, serialized: dict[str, Any], input_str: str, **kwargs: Any) -> None:
        self._steps.tool_started(str(kwargs.get("run_id")), str(serialized["name"]), input_str)

    def on_tool_end(self, output: Any, *args: Any, **kwargs: Any) -> None:
        self._steps.tool_finished(str(kwargs.get("run_id")), str(output), ok=True)

    def on_tool_error(self, error: Any, **kwargs: Any) -> None:
        self._steps.tool_finished(str(kwargs.get("run_id")), str(error), ok=False)

    def on_agent_action(self, *args: Any, **kwargs: Any) -> None:
        pass

    def on_agent_finish(self, *args: Any, **kwargs: Any) -> None:
        self._steps.finish()
