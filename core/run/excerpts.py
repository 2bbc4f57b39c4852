"""Answers without a language model: sentences of the sources about the question, each with its number.

The same question and sources get the same answer, and nothing is written that a source does not say.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from core.answer import has_citation
from core.base.chinese.script import is_traditional, to_simplified, to_traditional
from core.base.chinese.sentences import coverage, idf_weights, key_terms, split_sentences
from core.base.text import ELLIPSIS, is_chinese, normalize, one_line
from core.search.types import Source

MAX_QUOTES = 5
MIN_QUOTES = 2
MIN_SCORE = 0.2
SHARE_OF_BEST = 0.65
SECOND_SHARE_OF_BEST = 0.4  # one sentence is rarely an answer: the second may be weaker
SAME_CONTENT = 0.6

SearchState = Literal["off", "unused", "empty", "failed"]
"""The reason why there are no sources: search is off, nobody searched, a search found nothing, or it failed."""


def write_excerpts(question: str, sources: Sequence[Source], *, search: SearchState, query: str = "") -> str:
    """Return an answer that quotes the sources' snippets, in the script of the question. `query`: what was searched for instead."""
    words = _CHINESE if is_chinese(question) else _ENGLISH
    return in_script_of(question, _answer(question, query, _without_older_versions(question, sources), search, words))


_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")


def _without_older_versions(question: str, sources: Sequence[Source]) -> Sequence[Source]:
    """Return the sources without older versions of files, except those whose year the question names."""
    years = set(_YEAR.findall(question))
    return [one for one in sources if not one.is_outdated or years & set(_YEAR.findall(one.title))] or sources


def are_related(question: str, sources: Sequence[Source]) -> bool:
    """Return whether there is anything to quote for the question."""
    return bool(_quotes(question, sources) or _foreign_opening(question, sources))


def in_script_of(question: str, text: str) -> str:
    """Return the text, in traditional characters if the question is written in them."""
    return to_traditional(text) if is_traditional(question) else text


# ── Choosing sentences ────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Quote:
    text: str
    number: int
    position: tuple[int, int]
    terms: frozenset[str]
    title_terms: frozenset[str]

    def repeats(self, other: _Quote) -> bool:
        return len(self.terms & other.terms) > SAME_CONTENT * len(self.terms | other.terms)


def _is_quotable(text: str) -> bool:
    """Return whether it can stand before a citation: no number in brackets, which looks like one, no open backtick."""
    return not has_citation(text) and text.count("`") % 2 == 0


def _candidates(sources: Sequence[Source]) -> list[_Quote]:
    return [
        _Quote(sentence, source.number, (rank, place), frozenset(key_terms(sentence)), title_terms)
        for rank, source in enumerate(sources)
        for title_terms in [frozenset(key_terms(source.title))]
        for place, sentence in enumerate(split_sentences(one_line(source.snippet)))
        if _is_quotable(sentence)
    ]


def _quotes(question: str, sources: Sequence[Source]) -> list[_Quote]:
    """Return the sentences about the question, best first. None repeats another."""
    candidates = _candidates(sources)
    weights = idf_weights(key_terms(question), [quote.terms for quote in candidates])
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


def _foreign_opening(question: str, sources: Sequence[Source]) -> list[_Quote]:
    """Return the first sentences if all sources are in another language: they share no words with the question."""
    if any(is_chinese(source.snippet) == is_chinese(question) for source in sources):
        return []
    candidates = _candidates(sources)
    return [quote for quote in candidates if quote.number == candidates[0].number][:MIN_QUOTES]


def _score(quote: _Quote, weights: dict[str, float]) -> float:
    """Return how much of the question the sentence covers. Its title counts too: it may name the subject."""
    own = coverage(weights, quote.terms)
    title = coverage(weights, quote.title_terms - quote.terms)
    if own + title == 0:
        return 0.0
    rank, place = quote.position
    score = own + 0.5 * title + 0.06 / (1 + rank) + 0.06 / (1 + place)
    return score * 0.6 if quote.text.endswith(ELLIPSIS) else score  # cut off in the middle


# ── Writing ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Words:
    lead: str = "来源中与这个问题直接有关的原文如下："
    indirect_lead: str = "来源没有直接提到这个问题；与搜索用词有关的原文如下："
    foreign_lead: str = "来源与问题不是同一种语言，我无法判断它们是否切题；排在最前的来源写道："
    unrelated: str = "检索到的来源没有回答这个问题。"
    titles: str = "它们讲的是：{}。"
    title_separator: str = "；"
    nothing: str = "搜索没有找到与这个问题有关的来源，所以没有可以摘录的内容。可以换一种说法再试。"
    failed: str = "这次搜索没有成功，没有来源可以摘录。请稍后再试，或检查搜索引擎的设置。"
    about: str = "我是问源的内置摘录模型：只从搜到的来源里摘录原句并标明出处，不会推理或写作。"
    switch_on: str = "打开「联网搜索」再问一次，我就能从来源中摘录与问题有关的内容。"
    just_ask: str = "直接提出具体的问题，我会从搜索到的来源中摘录。"
    connect: str = "在「设置」页面的「模型」里连接一个语言模型之后，由它来写回答。"
    separator: str = ""


_CHINESE = _Words()
_ENGLISH = _Words(
    lead="This is what the sources say about the question:",
    indirect_lead="The sources do not mention this directly; about the words that were searched for they say:",
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
    connect="For answers written by a language model, connect one on the settings page (设置 → 模型).",
    separator=" ",
)


def _answer(question: str, query: str, sources: Sequence[Source], search: SearchState, words: _Words) -> str:
    if is_small_talk(question) or not (sources or search in {"empty", "failed"}):
        how_to_ask = words.just_ask if sources or search != "off" else words.switch_on
        return words.separator.join((words.about, how_to_ask, words.connect))
    if not sources:
        why = words.failed if search == "failed" else words.nothing
        return words.separator.join((why, words.about, words.connect))
    quotes = _quotes(f"{question} {query}", sources)
    if len(quotes) < MIN_QUOTES and (opening := _foreign_opening(question, sources)):
        return _quoted(words.foreign_lead, opening)
    lead = words.lead if _mention(question, quotes) else words.indirect_lead
    return _quoted(lead, quotes) if quotes else _unrelated(sources, words)


def _mention(question: str, quotes: Sequence[_Quote]) -> bool:
    """Return whether the quotes share a word with the question itself, not only with words of earlier questions."""
    own = set(key_terms(question))
    return not own or any(own & (quote.terms | quote.title_terms) for quote in quotes)


def _quoted(lead: str, quotes: Sequence[_Quote]) -> str:
    """Return one paragraph per source, each sentence with its number."""
    paragraphs: dict[int, list[str]] = {}
    for quote in sorted(quotes, key=lambda quote: quote.position):
        paragraphs.setdefault(quote.number, []).append(_cited(quote.text, quote.number))
    return "\n\n".join((lead, *(" ".join(paragraph) for paragraph in paragraphs.values())))


def _cited(text: str, number: int) -> str:
    return f"{text} [{number}]" if text[-1].isascii() else f"{text}[{number}]"


def _unrelated(sources: Sequence[Source], words: _Words) -> str:
    named = [(one_line(source.title), source.number) for source in sources]
    titles = [_cited(title, number) for title, number in named if title and _is_quotable(title)]
    about = words.titles.format(words.title_separator.join(titles[:MAX_QUOTES])) if titles else ""
    return words.separator.join(filter(None, (words.unrelated, about)))


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


def is_small_talk(question: str) -> bool:
    squashed = re.sub(r"[\W_]+", "", normalize(one_line(to_simplified(question))))
    return bool(squashed and len(squashed) < 40 and _SMALL_TALK.fullmatch(squashed))
