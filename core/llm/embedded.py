"""The chat model that is always there: no weights, no network. It quotes the sources in its prompt and never invents.

It reads two kinds of prompt. Chat mode: an optional block of sources, then the question. Agent mode: a ReAct prompt
with tools, the question, and the steps so far. What stands inside a block of sources is only ever quoted; the format
of the prompt, the tool and the question are read from outside the blocks.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.chat_models import agenerate_from_stream, generate_from_stream
from langchain_core.messages import AIMessageChunk, BaseMessage, HumanMessage, SystemMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGenerationChunk, ChatResult

from core.base.chinese.script import is_traditional, simplified, traditional
from core.base.chinese.sentences import coverage, key_phrases, key_terms, rarity, sentences
from core.base.text import ELLIPSIS, fold, is_chinese, one_line
from core.llm.tokens import estimate_tokens
from core.search.format import CLOSE_FENCE, NOTHING_FOUND, OPEN_FENCE, SEARCH_FAILED

PIECE_LENGTH = 4
MAX_SEARCHES = 2
MAX_QUERY_LENGTH = 80
MAX_QUOTES = 5
MIN_QUOTES = 2
MIN_SCORE = 0.2
SHARE_OF_BEST = 0.65
SECOND_SHARE_OF_BEST = 0.4  # one sentence is rarely an answer: the second may be weaker
SAME_CONTENT = 0.6


class EmbeddedChatModel(BaseChatModel):
    """Deterministic: the same prompt gets the same answer."""

    @property
    def _llm_type(self) -> str:
        return "wenyuan-embedded"

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        answer = _until(stop, _reply(messages))
        for start in range(0, len(answer), PIECE_LENGTH):
            yield ChatGenerationChunk(message=AIMessageChunk(content=answer[start : start + PIECE_LENGTH]))
        read, written = sum(estimate_tokens(message.text) for message in messages), estimate_tokens(answer)
        usage = UsageMetadata(input_tokens=read, output_tokens=written, total_tokens=read + written)
        yield ChatGenerationChunk(message=AIMessageChunk(content="", usage_metadata=usage, chunk_position="last"))

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in self._stream(messages, stop):
            yield chunk
            await asyncio.sleep(0)  # other runs share the loop, and a stop button must get through

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return generate_from_stream(self._stream(messages, stop))

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return await agenerate_from_stream(self._astream(messages, stop))


def _until(stop: Sequence[str] | None, text: str) -> str:
    return text[: min((text.find(mark) for mark in stop or () if mark and mark in text), default=len(text))]


def _reply(messages: Sequence[BaseMessage]) -> str:
    prompt = _read(messages)
    words = _CHINESE if is_chinese(prompt.question) else _ENGLISH
    reply = _next_step(prompt, words) if prompt.react else _answer(prompt, words)
    return _in_traditional(reply) if is_traditional(prompt.question) else reply


def _in_traditional(reply: str) -> str:
    """What the reader reads; not what a tool is given."""
    said, *call = re.split(r"(?=\nAction: )", reply, maxsplit=1)
    return "".join((traditional(said), *call))


# ---- reading the prompt


@dataclass(frozen=True, slots=True)
class _Passage:
    number: int
    title: str
    snippet: str


@dataclass(frozen=True, slots=True)
class _Prompt:
    question: str
    passages: tuple[_Passage, ...]
    notes: str
    """What the program, not a source, says about the search."""
    react: bool = False
    tool: str = ""
    queries: tuple[str, ...] = ()
    """What was searched for so far."""


# A fence counts only where `sources_block` puts it: at the end of a line, and alone on one.
_FENCED = re.compile(rf"{OPEN_FENCE}[ \t]*\n(.*?)^{CLOSE_FENCE}[ \t]*$", re.DOTALL | re.MULTILINE)
_ENTRY = re.compile(r"^\[(\d+)\] ?(.*)\nURL: ?.*\n(?:摘要|正文节选): ?(.*)$", re.MULTILINE)
_QUESTION = re.compile(r"^(?:Question|问题)[ \t]*[:：][ \t]*", re.MULTILINE)
_THOUGHT = re.compile(r"^(?:Thought|思考)[ \t]*[:：]", re.MULTILINE)
_ACTION_INPUT = re.compile(r"^Action Input[ \t]*[:：][ \t]*(.*)$", re.MULTILINE)
_FINAL_ANSWER = re.compile(r"^Final Answer[ \t]*[:：]", re.MULTILINE)
_TOOL_LIST = re.compile(r"^Action[ \t]*[:：].*\[([\w, -]+)\]", re.MULTILINE)
_TOOL_DESCRIPTION = re.compile(r"^([A-Za-z]\w*)(?:\(.*\).*)? - ", re.MULTILINE)


def _read(messages: Sequence[BaseMessage]) -> _Prompt:
    system = "\n".join(message.text for message in messages if isinstance(message, SystemMessage))
    asked = next((message.text for message in reversed(messages) if isinstance(message, HumanMessage)), "")
    marks = _question_marks(asked)
    instructions = _outside(f"{system}\n{asked[: marks[-1].start()] if marks else ''}")
    if _ACTION_INPUT.search(instructions) and _FINAL_ANSWER.search(instructions):
        return _read_react("\n".join(message.text for message in messages), instructions)
    before, question = (asked[: marks[0].start()], asked[marks[0].end() :]) if marks else (asked, _outside(asked))
    return _Prompt(question.strip(), _passages(before), _outside(before))


def _read_react(text: str, instructions: str) -> _Prompt:
    mark = _question_marks(text)[-1:]
    rest = text[mark[0].end() :] if mark else text
    thought = _THOUGHT.search(rest)
    question, steps = (rest[: thought.start()], rest[thought.start() :]) if thought else (rest, "")
    notes = _outside(steps)
    queries = tuple(query.strip() for query in _ACTION_INPUT.findall(notes))
    return _Prompt(
        _outside(question).strip(),
        _passages(rest),
        notes,
        react=True,
        tool=_tool(instructions, question, first=not queries),
        queries=queries,
    )


def _outside(text: str) -> str:
    return _FENCED.sub("", text)


def _question_marks(text: str) -> list[re.Match[str]]:
    fences = [fence.span() for fence in _FENCED.finditer(text)]
    return [mark for mark in _QUESTION.finditer(text) if not any(a <= mark.start() < b for a, b in fences)]


def _passages(text: str) -> tuple[_Passage, ...]:
    """One per number: the agent may have met the same page twice."""
    found: dict[int, _Passage] = {}
    for block in _FENCED.findall(text):
        for number, title, snippet in _ENTRY.findall(block):
            found.setdefault(int(number), _Passage(int(number), title.strip(), snippet.strip()))
    return tuple(found.values())


# A question that names an article or a 案号 is one for the law books.
_LEGAL_TOOLS = {
    "regulation_search": re.compile(r"第\s*[〇零一二三四五六七八九十百千\d]+\s*条"),
    "case_search": re.compile(r"[(（〔\[]\s*\d{4}\s*[)）〕\]].{2,20}号"),
}


def _tool(instructions: str, question: str, *, first: bool) -> str:
    listed = _TOOL_LIST.search(instructions)
    offered = re.findall(r"[\w-]+", listed[1]) if listed else _TOOL_DESCRIPTION.findall(instructions)
    names = [name for name in offered if name != "read_page"]  # it takes numbers, and this model has only words
    fitting = [
        tool for tool, asks in _LEGAL_TOOLS.items() if first and tool in names and asks.search(simplified(question))
    ]
    return next(iter([*fitting, *(name for name in names if name == "web_search"), *names]), "")


# ---- choosing what to quote


@dataclass(frozen=True, slots=True)
class _Quote:
    text: str
    number: int
    position: tuple[int, int]
    terms: frozenset[str]
    title_terms: frozenset[str]

    def repeats(self, other: _Quote) -> bool:
        return len(self.terms & other.terms) > SAME_CONTENT * len(self.terms | other.terms)


_NUMBER = re.compile(r"\[\d+\]")
# In ReAct text these words steer the agent. They may not come out of a source.
_STEERING = re.compile(
    r"(?<![A-Za-z])(?:Thought|Action|Action Input|Observation|Final Answer|Question)\s*\d*\s*[:：]|^Observation"
    r"|(?:思考|行动|行动输入|动作|动作输入|观察|最终答案|最终回答|问题)\s*[:：]",
    re.IGNORECASE,
)


def _quotable(text: str, *, react: bool) -> bool:
    """A number in brackets would pass for a citation of ours; an open backtick would swallow the one that follows."""
    misleading = _NUMBER.search(text) or text.count("`") % 2
    return not misleading and not (react and _STEERING.search(text))


def _candidates(prompt: _Prompt) -> list[_Quote]:
    return [
        _Quote(sentence, passage.number, (rank, place), frozenset(key_terms(sentence)), title_terms)
        for rank, passage in enumerate(prompt.passages)
        for title_terms in [frozenset(key_terms(passage.title))]
        for place, sentence in enumerate(sentences(passage.snippet))
        if _quotable(sentence, react=prompt.react)
    ]


def _quotes(prompt: _Prompt) -> list[_Quote]:
    """The sentences that speak about the question, best first, none saying what another one said."""
    candidates = _candidates(prompt)
    weights = rarity(key_terms(prompt.question), [quote.terms for quote in candidates])
    scores = {quote: _score(quote, weights) for quote in candidates}
    chosen: list[_Quote] = []
    best = max(scores.values(), default=0.0)
    for quote in sorted(candidates, key=lambda quote: -scores[quote]):
        share = SECOND_SHARE_OF_BEST if len(chosen) < MIN_QUOTES else SHARE_OF_BEST
        if scores[quote] < max(MIN_SCORE, best * share) or len(chosen) == MAX_QUOTES:
            break
        if not any(quote.repeats(other) for other in chosen):
            chosen.append(quote)
    return chosen


def _foreign_opening(prompt: _Prompt) -> list[_Quote]:
    """Sources in another language share no words with the question: the search engine's first choice has to do."""
    in_chinese = is_chinese(prompt.question)
    if any(is_chinese(passage.snippet) == in_chinese for passage in prompt.passages):
        return []
    candidates = _candidates(prompt)
    return [quote for quote in candidates if quote.number == candidates[0].number][:MIN_QUOTES]


def _score(quote: _Quote, weights: dict[str, float]) -> float:
    """How much of the question the sentence covers. Under a fitting title it may leave the subject unsaid."""
    own = coverage(weights, quote.terms)
    title = coverage(weights, quote.title_terms - quote.terms)
    if own + title == 0:
        return 0.0
    rank, place = quote.position
    score = own + 0.5 * title + 0.06 / (1 + rank) + 0.06 / (1 + place)
    return score * 0.6 if quote.text.endswith(ELLIPSIS) else score  # cut off in the middle


# ---- writing


@dataclass(frozen=True, slots=True)
class _Words:
    lead: str
    foreign_lead: str
    unrelated: str
    titles: str
    title_separator: str
    nothing: str
    failed: str
    about: str
    switch_on: str
    just_ask: str
    connect: str
    separator: str
    again_suffix: str
    must_search: str
    search_again: str
    found: str
    not_found: str
    no_search_needed: str


_CHINESE = _Words(
    lead="来源中与这个问题直接有关的原文如下：",
    foreign_lead="来源与问题不是同一种语言，我无法判断它们是否切题；排在最前的来源写道：",
    unrelated="检索到的来源没有回答这个问题。",
    titles="它们讲的是：{}。",
    title_separator="；",
    nothing="搜索没有找到与这个问题有关的来源，所以没有可以摘录的内容。可以换一种说法再试。",
    failed="这次搜索没有成功，没有来源可以摘录。请稍后再试，或检查搜索引擎的设置。",
    about="我是问源的内置摘录模型：这里没有语言模型，我只会从搜索到的来源里摘出原句并标明出处，不会自己推理或写作。",
    switch_on="打开「联网搜索」再问一次，我就能从来源中摘录与问题有关的内容。",
    just_ask="直接提出具体的问题，我会从搜索到的来源中摘录。",
    connect="想要语言模型撰写的回答，请在「设置」页面的「模型」里连接一个，或设置 OPENAI_API_KEY、OPENAI_BASE_URL 和 "
    "LLM_MODEL。",
    separator="",
    again_suffix="介绍",
    must_search="回答要有来源，先用问题中的关键词搜索。",
    search_again="上一次搜索没有找到能回答问题的来源，换一个搜索词再试一次。",
    found="已经找到与问题有关的来源，可以摘录回答。",
    not_found="没有能回答问题的来源，如实说明。",
    no_search_needed="这个问题不需要搜索。",
)
_ENGLISH = _Words(
    lead="This is what the sources say about the question:",
    foreign_lead="The sources are in another language, so I cannot tell how well they fit; the first one says:",
    unrelated="The sources that were found do not answer this question.",
    titles="They are about: {}.",
    title_separator="; ",
    nothing="The search found no sources about this question, so there is nothing to quote. Try other words.",
    failed="The search did not succeed, so there is nothing to quote. Try again later, or check the search settings.",
    about="I am Wenyuan's built-in excerpt model (内置摘录模型): there is no language model here. I only pick "
    "sentences from the sources that a search finds and say where they come from; I do not reason or write.",
    switch_on="Switch on web search (联网搜索) and ask again, and I can quote what the sources say.",
    just_ask="Ask a specific question, and I will quote what the sources say about it.",
    connect="For answers written by a language model, connect one on the settings page (设置 → 模型), or set "
    "OPENAI_API_KEY, OPENAI_BASE_URL and LLM_MODEL.",
    separator=" ",
    again_suffix="overview",
    must_search="The answer needs sources, so I search for the key words of the question.",
    search_again="The last search found no source that answers the question; I try other words once.",
    found="There are sources about the question; I can quote them.",
    not_found="No source answers the question; I say so.",
    no_search_needed="This needs no search.",
)


def _answer(prompt: _Prompt, words: _Words) -> str:
    if _is_small_talk(prompt.question):
        return _introduction(words, words.just_ask if prompt.react or prompt.passages else words.switch_on)
    if prompt.passages:
        quotes = _quotes(prompt)
        if len(quotes) < MIN_QUOTES and (opening := _foreign_opening(prompt)):
            return _quoted(words.foreign_lead, opening)
        return _quoted(words.lead, quotes) if quotes else _unrelated(prompt, words)
    if SEARCH_FAILED in prompt.notes:
        return words.separator.join((words.failed, words.about, words.connect))
    if NOTHING_FOUND in prompt.notes or prompt.queries:
        return words.separator.join((words.nothing, words.about, words.connect))
    return _introduction(words, words.just_ask if prompt.react else words.switch_on)


def _introduction(words: _Words, how_to_ask: str) -> str:
    return words.separator.join((words.about, how_to_ask, words.connect))


def _quoted(lead: str, quotes: Sequence[_Quote]) -> str:
    """One paragraph per source, each sentence with its number."""
    paragraphs: dict[int, list[str]] = {}
    for quote in sorted(quotes, key=lambda quote: quote.position):
        paragraphs.setdefault(quote.number, []).append(_cited(quote.text, quote.number))
    return "\n\n".join((lead, *(" ".join(paragraph) for paragraph in paragraphs.values())))


def _cited(text: str, number: int) -> str:
    return f"{text} [{number}]" if text[-1].isascii() else f"{text}[{number}]"


def _unrelated(prompt: _Prompt, words: _Words) -> str:
    titles = [
        _cited(passage.title, passage.number)
        for passage in prompt.passages
        if passage.title and _quotable(passage.title, react=prompt.react)
    ]
    about = words.titles.format(words.title_separator.join(titles[:MAX_QUOTES])) if titles else ""
    return words.separator.join(filter(None, (words.unrelated, about)))


# ---- ReAct


def _next_step(prompt: _Prompt, words: _Words) -> str:
    """A search, until a source speaks about the question or the searches are used up; then the answer."""
    query = _query(prompt, words)
    if not query or not prompt.tool or _is_small_talk(prompt.question):
        return _finish(words.no_search_needed, prompt, words)
    if _quotes(prompt) or _foreign_opening(prompt):
        return _finish(words.found, prompt, words)
    if len(prompt.queries) >= MAX_SEARCHES:
        return _finish(words.not_found, prompt, words)
    thought = words.search_again if prompt.queries else words.must_search
    return f"Thought: {thought}\nAction: {prompt.tool}\nAction Input: {query}"


def _finish(thought: str, prompt: _Prompt, words: _Words) -> str:
    return f"Thought: {thought}\nFinal Answer: {_answer(prompt, words)}"


def _query(prompt: _Prompt, words: _Words) -> str:
    """The key words of the question; the second time fewer of them, the most telling ones."""
    phrases = key_phrases(prompt.question) or re.findall(r"\w+", prompt.question)
    queries = [" ".join(phrases), *_broader(phrases), " ".join((*phrases, words.again_suffix))]
    tried = {fold(query) for query in prompt.queries}
    usable = (_capped(query) for query in queries if query and phrases)
    return next((query for query in usable if fold(query) not in tried), "")


def _broader(phrases: Sequence[str]) -> Iterator[str]:
    """The longest phrase is the most specific one; Chinese puts the head of a phrase last."""
    if len(phrases) > 1:
        yield max(phrases, key=len)
    for phrase in phrases:
        if is_chinese(phrase) and len(phrase) >= 4:
            yield phrase[len(phrase) // 2 :]


def _capped(query: str) -> str:
    return query if len(query) <= MAX_QUERY_LENGTH else query[:MAX_QUERY_LENGTH].rsplit(" ", 1)[0]


_GREETING = (
    "你好|您好|大家好|嗨|哈喽|哈啰|早上好|上午好|中午好|下午好|晚上好|早安|晚安|在吗|在不在|谢谢|多谢|感谢|再见|拜拜|好的"
    "|hi|hello|hey|thanks|thankyou|bye|goodbye|goodmorning|goodafternoon|goodevening"
)
_WHO_ARE_YOU = (
    "(?:请问)?[你您](?:到底|究竟)?(?:是|叫)(?:谁|啥|什么|哪个|哪种)(?:名字|模型|大模型|语言模型|ai|东西|人)?"
    "|(?:请|请你)?(?:做个|简单)?(?:自我介绍|介绍|说说)(?:一下)?(?:[你您]?自己|[你您])?"
    "|[你您](?:能|会|可以)(?:帮我)?(?:做|干)?(?:些)?(?:什么|啥|哪些事)(?:事|事情)?"
    "|who(?:are|re)you|whatareyou|what(?:is|s)yourname|whatcanyoudo|whatdoyoudo|(?:please)?introduceyourself"
)
_SMALL_TALK = re.compile(f"(?:(?:{_GREETING})[啊呀哦呢吗了你您]*)*(?:(?:{_WHO_ARE_YOU})[啊呀呢吗吧]*)?")


def _is_small_talk(question: str) -> bool:
    squashed = re.sub(r"[\W_]+", "", fold(one_line(simplified(question))))
    return bool(squashed and len(squashed) < 40 and _SMALL_TALK.fullmatch(squashed))
