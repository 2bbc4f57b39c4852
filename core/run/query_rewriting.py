"""Rewriting of follow-up questions to queries that stand alone: no search engine understands 「那第二种呢？」.

A model is asked for a query, once and briefly. Without a model, or if it fails, the words of the earlier questions are joined
with this one's. Earlier answers were written from web pages, so the model sees only an outline of the last one, and a query
may carry out nothing that the reader did not write.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from core.answer.message import Message
from core.base.chinese.script import to_simplified
from core.base.chinese.sentences import QUESTION_WORDS, key_phrases, key_terms
from core.base.text import normalize, one_line, shorten, terms
from core.llm import Model, ask_once, estimate_tokens
from core.llm.errors import ModelEmptyAnswer, ModelError, ModelTimeout
from core.llm.pieces import TokenUsage
from core.reading import count_instructions
from core.run.excerpts import is_small_talk
from core.run.prompts import MAX_MODEL_QUERY_LENGTH, contains_instructions, fill_template
from core.run.slow_models import SlowModels

log = logging.getLogger(__name__)

SECONDS = 4.0
"""The time limit of the call: the search waits no longer for a query than for a slow engine."""
TOKENS = 512
"""The output limit. The query itself needs 60; some models think first."""
MAX_EARLIER_QUESTIONS = 5
QUESTION_LENGTH = 200
ENOUGH_TOKENS = 20
"""The length from which a question that does not point back needs no rewriting."""
MOST_TOKENS = 45
"""The length from which a question needs no rewriting, whatever it points to."""
MIN_CONTENT, MIN_DEFINED, LONG_WORD = 6, 3, 5
"""Characters of content with which a question names its subject: in general, in a request for a definition (原因是什么 has too
few, 区块链是什么 has enough), and in a single long word."""
REPEATED_SHARE = 0.5
"""The share of its words that a question repeats from the one before if it names its subject again."""
OUTLINE_LENGTH = 400
KNOWN_SHARE = 0.5
"""The share of a query's words that the conversation must contain: prose about the task has fewer."""
NOTHING_SPENT = TokenUsage(0, 0, estimated=False)


@dataclass(frozen=True, slots=True)
class Rewritten:
    query: str
    """The query. Empty if the model gave none."""
    usage: TokenUsage = NOTHING_SPENT


class Rewriter:
    """Rewrites questions, and remembers which models are too slow for it. The arguments are for tests."""

    def __init__(self, *, seconds: float = SECONDS, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._slow_models = SlowModels(patience=seconds / 2, clock=clock)

    async def rewrite(self, question: str, history: Sequence[Message], model: Model) -> Rewritten:
        """Return the query to search for. The first question of a conversation is always searched in its own words."""
        earlier = [message.text for message in history if message.role == "user"]
        if not earlier or not _may_depend(question):
            return Rewritten(question)
        by_model = Rewritten("")
        if not (model.choice.is_embedded or self._slow_models.is_resting(model)):
            began = self._slow_models.began()
            by_model = await rewrite_by_model(question, history, model, seconds=self._seconds)
            if not by_model.query:
                self._slow_models.report_failure(model, began)
        return Rewritten(by_model.query or rewrite_by_rule(question, earlier), by_model.usage)


# ── The rule ──────────────────────────────────────────────────────────────────────────────────────────────────────────

_COURTESY = re.compile(
    r"^(?:(?:好的?|好吧|嗯+|哦+|行|对了?|谢谢[你您]?|多谢|感谢|明白了?|知道了|了解了?|你好|您好|ok(?:ay)?|thanks?(?: you)?|got it)"
    r"[\s，,。.！!、…]+)+",
    re.IGNORECASE,
)
_LINK = re.compile(
    r"^(?:(?:那么|那(?!不勒斯|曲|英)|所以|然后|还有|另外|此外|但是?|不过|and|but|so|then|also|what about|how about)(?![a-z])[\s，,]*"
    r"|它们?的?|[这那]个|(?:[你您]|刚才|上面|前面)+[说提讲]到?的)+",
    re.IGNORECASE,
)
_ASKS_FOR_MORE = re.compile(r"接着[写说讲]|^继续|^再(?:[说讲举来给多]|详|具)|^(?:还有|有|有没有)?(?:其他|别的)的?吗?$")
# 这周 points to the calendar, 他人 and 其他 to nobody; a word for the place in a list stands at the beginning.
_POINTS_BACK = re.compile(
    r"它|(?<!其)[他她](?!人)|这(?!一?个?(?:周|月|年|天|星期|届))|那[个种些样里边]|该[法案公条项]|上述|上面|前面|[前后两二三]者|刚[才刚]|[你您][说提讲列]"
    r"|^第[一二三四五六七八九十百两\d]+[种点项类步款条节]|^(?:具体|详细|比如|例如|其中|如果|要是|万一|用|换成|以上)(?!行政|户|人)"
    r"|^(?:why|really|when|where|who)$|^(?:in|with|for|on|from) .{1,30}$|\b(?:its?|they|them|their|those|these|the (?:first|second|third|last|other))\b(?! \w+ \w+ \w+ \w+)",
    re.IGNORECASE,
)
_ASKS = re.compile(f"{QUESTION_WORDS}|谁|几|哪")
_DEFINES = re.compile(r"什么是|是什么|是谁|是啥|^(?:what|who)(?:'s| is| are| was) ", re.IGNORECASE)
_CLAUSE_END = re.compile(r"[，,；;。？?！!\n]")


def rewrite_by_rule(question: str, earlier: Sequence[str]) -> str:
    """Return the question, preceded by content words of earlier questions if it does not stand alone."""
    query = ""
    for asked in (*_shortened(earlier), question):
        query = _join_words(query, asked) if query and _depends(asked) else asked
    return query


def _shortened(questions: Sequence[str]) -> list[str]:
    return [shorten(one_line(text), QUESTION_LENGTH) for text in questions[-MAX_EARLIER_QUESTIONS:]]


def _join_words(before: str, question: str) -> str:
    own = _own_words(question)
    if not _points_back(own) and not _says_little(own) and _shares_words(before, own):
        return own  # 那上海的最低工资是多少, after 北京的最低工资是多少: with 北京 the wrong one would be found
    room = MAX_MODEL_QUERY_LENGTH - len(own)
    kept = []
    for phrase in (phrase.removesuffix("有") for phrase in key_phrases(before)):
        room -= len(phrase) + 1
        if len(phrase) > 1 and phrase not in question and room >= 0:
            kept.append(phrase)
    return " ".join((*kept, own) if own else kept) if kept else one_line(question)


def _shares_words(before: str, own: str) -> bool:
    mine = set(key_terms(own))
    return len(mine & set(key_terms(before))) > REPEATED_SHARE * len(mine)


def _own_words(question: str) -> str:
    """Return the question without the words that only tie it to the conversation."""
    words = one_line(question)
    for tie in (_COURTESY, _LINK):
        if found := tie.match(to_simplified(words)):  # of the same length
            words = words[found.end() :]
    return "" if _ASKS_FOR_MORE.search(to_simplified(words)) else words.rstrip(" ？?。！!…～~").removesuffix("呢")


def _opening(question: str) -> str:
    """Return the first clause. A pronoun in a later clause may stand for a word of this one."""
    return _CLAUSE_END.split(_COURTESY.sub("", to_simplified(one_line(question))), maxsplit=1)[0].strip()


def _may_depend(question: str) -> bool:
    """Return whether the question may need rewriting: it is no small talk, and not complete in itself."""
    tokens = estimate_tokens(question)
    if tokens > MOST_TOKENS or is_small_talk(question) or not _opening(question):
        return False
    return tokens <= ENOUGH_TOKENS or _points_back(question)


def _depends(question: str) -> bool:
    return _may_depend(question) and (_points_back(question) or _says_little(question))


def _points_back(question: str) -> bool:
    opening = _opening(question)
    if opening.endswith("呢") and not _ASKS.search(opening):  # 上海呢, but not 月亮为什么会发光呢
        return True
    return any(pattern.search(opening) for pattern in (_LINK, _POINTS_BACK, _ASKS_FOR_MORE))


def _says_little(question: str) -> bool:
    opening = _opening(question).removesuffix("呢")
    lengths = [3 if phrase.isascii() else len(phrase) for phrase in key_phrases(opening)]
    enough = MIN_DEFINED if _DEFINES.search(opening) else MIN_CONTENT
    return sum(lengths) < enough and max(lengths, default=0) < LONG_WORD


# ── The model ─────────────────────────────────────────────────────────────────────────────────────────────────────────

_CITATION = re.compile(r"\s?\[\d{1,3}\]")
_ITEM = re.compile(
    r"^\s*(?:#{1,6}\s+|(?:[-*•·]|\d{1,2}[.、)）])\s*|[（(]?[一二三四五六七八九十]+[、)）])(?P<text>.+)$", re.MULTILINE
)
_ITEM_END = re.compile(r"[：:。；;，,（(]")
_LABEL = re.compile(r"^(?:搜索词|搜尋詞|查询|查詢|关键词|query|search query)\s*[:：]\s*", re.IGNORECASE)
_QUOTES = " \t`*\"'“”‘’「」『』"
_PROSE = re.compile(
    r"[。\n]|^(?:好的|当然|抱歉|对不起|很抱歉|以下是|这是|用户[的想问询在]|您|我(?!国|國|省|市|校)|改写[后成为：:]|sure|here|the user|i |i'|sorry|based on)",
    re.IGNORECASE,
)
# Addresses, search operators, and strings that may hold data: a query could leak them.
_LEAKS = re.compile(
    r"\S*://\S*|\S*@\S+|\b(?:www\.)?[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}\b\S*|\b[a-z]{2,10}:\S+|[\w+/=-]{16,}|\d{6,}|[<>{}$|\\]",
    re.IGNORECASE | re.ASCII,
)


async def rewrite_by_model(
    question: str, history: Sequence[Message], model: Model, *, seconds: float = SECONDS
) -> Rewritten:
    """Return the query of one short call. It is empty if the call was too slow or failed, or gave no usable query."""
    earlier = _shortened([message.text for message in history if message.role == "user"])
    outline = _outline(history)
    prompt = fill_template(
        "query_rewriting",
        earlier="\n".join(f"- {text}" for text in earlier),
        outline=outline or "（没有）",
        question=one_line(question),
    )
    try:
        reply = await ask_once(model, prompt, max_tokens=TOKENS, seconds=seconds)
    except ModelError as error:
        log.info("no stand-alone query: %s", error)
        began = isinstance(error, ModelTimeout | ModelEmptyAnswer)
        return Rewritten("", TokenUsage(estimate_tokens(prompt), 0, estimated=True) if began else NOTHING_SPENT)
    query = "" if reply.usage.cut_off else usable_query(reply.text, question, earlier, outline)
    return Rewritten(query, reply.usage)


def _outline(history: Sequence[Message]) -> str:
    """Return the headings and list items of the last answer, shortened: 「第二种」 may mean one of them."""
    answer = next((message.text for message in reversed(history) if message.role == "assistant"), "")
    return shorten("；".join(_items(answer)), OUTLINE_LENGTH)


def _items(answer: str) -> Iterator[str]:
    for item in _ITEM.finditer(answer[:20_000]):
        text = _ITEM_END.split(_CITATION.sub("", one_line(item["text"])).strip("*_` "), maxsplit=1)[0].strip("*_` ")
        if 2 <= len(text) <= 40 and not count_instructions(text) and not _LEAKS.search(text):
            yield text


def usable_query(reply: str, question: str, earlier: Sequence[str], outline: str) -> str:
    """Return the query in a model's reply. Empty if there is none, or none that may be searched for."""
    query = one_line(_LABEL.sub("", reply.strip().strip(_QUOTES)).strip(_QUOTES))
    own = normalize(" ".join((question, *earlier)))
    if not query or len(query) > MAX_MODEL_QUERY_LENGTH or _PROSE.search(reply.strip()):
        return ""
    if any(normalize(found[0]) not in own for found in _LEAKS.finditer(query)) or contains_instructions(query):
        return ""
    wanted = set(key_terms(query)) or set(terms(query))
    asked, known = set(terms(own)), set(terms(f"{own} {outline}"))
    is_known = len(wanted & known) >= KNOWN_SHARE * len(wanted)
    return query if is_known and wanted & asked else ""
