"""The callback handler of AgentExecutor. Only here do LangChain's callbacks become RunEvents.

It is a StreamlitCallbackHandler with its own callbacks. LangChain's draw at once, in the thread of the run, and stop after
about 960 tokens of a turn. They show only the first of parallel calls, and no reason of a failure.
"""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar
from uuid import UUID

from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGenerationChunk, GenerationChunk, LLMResult

from core.agent.classic import StreamlitCallbackHandler
from core.agent.foreign_tools import argument_text
from core.agent.react_stream import OutputPiece, OutputStream
from core.agent.tools import Observation
from core.answer.events import RunEvent, TextDelta, Thought, ToolFinished, ToolStarted, Usage
from core.base.text import clean, clean_piece, one_line, shorten
from core.llm import CUT_OFF_REASONS, estimate_tokens, read_reported_usage, reasoning_text
from core.llm.pieces import TextPiece, ThoughtPiece, TokenUsage
from core.mcp_client import ForeignTool

log = logging.getLogger(__name__)

SUMMARY_LENGTH = 100

T = TypeVar("T")


@dataclass
class Tokens:
    """The tokens of a run: in all, for the answer, and for the tool results that the model read."""

    input: int = 0
    output: int = 0
    answer: int = 0
    tools: int = 0
    estimated: bool = False
    reasoning: int = 0

    def add(self, used: TokenUsage, *, answer_share: float, tool_results: int) -> None:
        self.input += used.input
        self.output += used.output
        self.answer += round((used.output - used.reasoning) * answer_share)
        self.reasoning += used.reasoning
        self.tools += min(tool_results, used.input)
        self.estimated |= used.estimated

    def usage(self, *, iterations: int) -> Usage:
        thinking = self.input + self.output - self.answer - self.tools
        parts = {"thinking": thinking, "tools": self.tools, "answer": self.answer}
        return Usage(self.input, self.output, self.estimated, parts, iterations, self.reasoning)


@dataclass
class Turn:
    """One call of the model."""

    prompt: list[BaseMessage]
    stream: OutputStream
    has_output: bool = False
    """True once the model has sent anything."""
    finished: bool = False
    """True once the server has said that the output is complete."""
    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    """The reasoning that came in a field of its own, beside the text."""
    thought: list[str] = field(default_factory=list)
    answer: list[str] = field(default_factory=list)
    settled: bool = False


@dataclass(frozen=True, slots=True)
class _RunningTool:
    name: str
    started: float | None
    """When a foreign tool was started; None for the agent's own, whose searches tell their seconds."""

    def finished(self, ok: bool, summary: str, run_id: UUID) -> ToolFinished:
        seconds = time.monotonic() - self.started if self.started is not None else 0.0
        return ToolFinished(self.name, ok, summary, str(run_id), seconds)


class AgentCallbackHandler(StreamlitCallbackHandler):
    """Follows one run. `emit` gets the events in order; `answer` is the part of the answer that was emitted so far."""

    run_inline = True  # or the order of events would be up to the scheduler
    raise_error = True  # LangChain would swallow our own bugs
    ignore_chain = True
    ignore_retriever = True

    def __init__(self, emit: Callable[[RunEvent], None], *, estimated: bool = False, verbose: bool = False) -> None:
        """Set up the run's state. The base class is not set up: it would prepare for its own drawing."""
        self.tokens = Tokens(estimated=estimated)
        self.answer = ""
        self.turn: Turn | None = None
        self.turns = 0
        self.used_tools = False
        self.tool_succeeded = False
        self.cut_off = ""
        """The reason why the service ended the last call early; empty if it is complete."""
        self.new_stream: Callable[[], OutputStream]
        self.on_token: Callable[[], None] = lambda: None
        self._emit = emit
        self._verbose = verbose
        self.foreign: Mapping[str, ForeignTool] = {}
        """The foreign tools of the run, by the names under which the model calls them."""
        self._running: dict[UUID, _RunningTool] = {}
        self._thinking = False
        self._tool_results = 0

    @property
    def has_output(self) -> bool:
        """True once the model has sent anything in the current call."""
        return self.turn is not None and self.turn.has_output

    # These two mark a handler that wants tokens: LangChain then streams the model inside an ordinary `ainvoke`, which
    # costs half of what `astream` does, because that starts a task per token in every part of the chain.
    def tap_output_aiter(self, run_id: UUID, output: AsyncIterator[T]) -> AsyncIterator[T]:
        return output

    def tap_output_iter(self, run_id: UUID, output: Iterator[T]) -> Iterator[T]:
        return output

    def _ignore(self, *args: Any, **kwargs: Any) -> None:
        """Replace a callback that brings nothing new: the base class would draw."""

    on_llm_start = on_text = on_agent_action = on_agent_finish = _ignore

    # ── The model ─────────────────────────────────────────────────────────────────────────────────────────────────

    def on_chat_model_start(self, serialized: dict[str, Any], messages: list[list[BaseMessage]], **kwargs: Any) -> None:
        self.settle()
        self.turn = Turn(messages[0], self.new_stream())

    def on_llm_new_token(
        self,
        token: str | list[str | dict[str, Any]],
        *,
        chunk: GenerationChunk | ChatGenerationChunk | None = None,
        **kwargs: Any,
    ) -> None:
        turn = self.turn
        assert turn is not None
        message = chunk.message if isinstance(chunk, ChatGenerationChunk) else None
        text = clean_piece(token if isinstance(token, str) else str(message.text if message else ""))
        calling = bool(message and getattr(message, "tool_call_chunks", None))
        thought = clean_piece(reasoning_text(message)) if message else ""
        if not (text or calling or thought):
            return
        if not turn.has_output:
            turn.has_output = True
            self.turns += 1
        self.on_token()
        if thought:
            turn.reasoning.append(thought)
            self._emit_pieces(turn, [ThoughtPiece(thought)])
        if calling:
            turn.stream.note_tool_call()
            self._take_back(turn)
        if text:
            turn.text.append(text)
            self._emit_pieces(turn, turn.stream.feed(text))

    def on_llm_end(self, response: LLMResult, **kwargs: Any) -> None:
        turn, generation = self.turn, response.generations[0][0]
        assert turn is not None
        message = getattr(generation, "message", None)
        usage = getattr(message, "usage_metadata", None)
        reason = message.response_metadata.get("finish_reason") if message else None
        turn.finished = bool(usage or reason)
        self.cut_off = reason if reason in CUT_OFF_REASONS else ""
        self.settle(read_reported_usage(usage))

    def on_llm_error(self, error: BaseException, **kwargs: Any) -> None:
        self.settle()

    def settle(self, usage: TokenUsage | None = None) -> None:
        """Close the current call, however it ended: emit the text that was held back, and count the tokens."""
        turn = self.turn
        if turn is None or turn.settled:
            return
        turn.settled = True
        self._emit_pieces(turn, turn.stream.end())
        if self._verbose and turn.thought:
            log.info("thought: %s", "".join(turn.thought))
        if usage is None and not turn.has_output:
            return
        length = sum(map(len, turn.text))
        share = min(sum(map(len, turn.answer)) / length, 1.0) if length else 0.0
        self.tokens.add(usage or _estimate_usage(turn), answer_share=share, tool_results=self._tool_results)

    def _emit_pieces(self, turn: Turn, pieces: Iterable[OutputPiece]) -> None:
        for piece in pieces:
            if isinstance(piece, TextPiece):
                turn.answer.append(piece.text)
                self.answer += piece.text
                self._emit(TextDelta(piece.text, may_be_thought=turn.stream.may_take_back))
            else:
                # Two thoughts with no step between them: the first one was not readable.
                text = piece.text if turn.thought or not self._thinking else f"\n\n{piece.text}"
                turn.thought.append(text)
                self._thinking = True
                self._emit(Thought(text))

    def _take_back(self, turn: Turn) -> None:
        """Make a thought of text that was emitted as the answer: a tool call has shown that it only announced the call."""
        if announcement := "".join(turn.answer):
            turn.answer.clear()
            self.answer = self.answer.removesuffix(announcement)
            turn.thought.append(announcement)
            self._emit(Thought(announcement))

    def finish(self, answer: str) -> None:
        """Emit the part of the parsed answer that the stream did not recognise as the answer."""
        if answer.startswith(self.answer):
            if rest := answer[len(self.answer) :]:
                self._emit(TextDelta(rest))
            self.answer = answer

    # ── The tools ─────────────────────────────────────────────────────────────────────────────────────────────────

    def on_tool_start(
        self,
        serialized: dict[str, Any],
        input_str: str,
        *,
        run_id: UUID,
        inputs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        name = str(serialized["name"])
        if name == "_Exception":  # how AgentExecutor tells the model that its output was unreadable
            return
        foreign = self.foreign.get(name)
        if foreign is not None and inputs is not None:
            name, inputs = foreign.full_name, {key: argument_text(value) for key, value in inputs["arguments"].items()}
        given = {key: str(value) for key, value in (inputs or {}).items() if value is not None}
        shown = input_str if inputs is None else " ".join(given.values())
        if name == "invalid_tool":
            name, shown, given = given.get("requested_tool_name", ""), "", {}
        self._running[run_id] = _RunningTool(clean(name), time.monotonic() if foreign else None)
        self._thinking = False
        self.used_tools = True
        if self._verbose:
            log.info("action: %s, input: %s", name, shown)
        arguments = {clean(key): clean(value) for key, value in given.items()}
        server = foreign.server if foreign else ""
        self._emit(ToolStarted(clean(name), clean(shown), str(run_id), arguments, server))

    def on_tool_end(self, output: Any, *, run_id: UUID, name: str = "", **kwargs: Any) -> None:
        text = str(output)
        self._tool_results += estimate_tokens(text)
        tool = self._running.pop(run_id, None)
        if tool is None:
            return
        if self._verbose:
            log.info("observation of %s: %s", tool.name, text)
        if isinstance(output, Observation):
            ok, summary = output.ok, output.summary
        elif name == "invalid_tool":
            ok, summary = False, "没有这个工具，没有执行。"
        else:
            ok, summary = True, shorten(one_line(text), SUMMARY_LENGTH)
        self.tool_succeeded |= ok
        self._emit(tool.finished(ok, summary, run_id))

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        if tool := self._running.pop(run_id, None):
            self._emit(tool.finished(False, "工具内部出错。", run_id))

    def close_steps(self, summary: str) -> None:
        """Finish all open steps, because a cancelled tool does not report its end."""
        for run_id, tool in self._running.items():
            self._emit(tool.finished(False, summary, run_id))
        self._running.clear()


def _estimate_usage(turn: Turn) -> TokenUsage:
    asked = sum(estimate_tokens(str(message.text)) for message in turn.prompt)
    return TokenUsage(asked, estimate_tokens("".join((*turn.reasoning, *turn.text))), estimated=True)
