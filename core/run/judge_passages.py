"""The passages of a source that the judge of 让模型复核 gets to read.

A page cannot argue for itself: sentences that give instructions, or speak of the check, its verdicts or its format, are left
out, with the sentences next to them in the same paragraph. They are no evidence either. Such sentences also stand in honest
articles; what they say is then left open.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from core.answer.check_results import SourceCheck, SourceText
from core.base.chinese.script import comparison_form
from core.reading import count_instructions

CONTEXT_LENGTH = 200
"""Characters on each side of a passage that the rules compared."""
PASSAGES_LENGTH = 800
"""Characters of one source for one statement."""
BETWEEN = " …… "

_SENTENCE_END = re.compile(r"[。！？!?；;\n]|(?<=[a-z\d)”\"])\.(?=\s)", re.IGNORECASE)

_VERDICT = "(?:不?支持|无法判断|有据|属实|正确|准确|成立|一致|通过)"
_ITEM = "(?:这|本|该|此|上述|以上|以下|下列|前述|所有|每一?|各|任何|全部|一切|第[\\d一二三四五六七八九十]+)(?:条|项|句|个|些)?"
_SPEECH_ABOUT_THE_CHECK = re.compile(
    "|".join(
        (
            # verdicts and the format of the reply
            r"\d(?:[条项]|[|:、])[|:.、]*(?:不?支持|无法判断)",
            "(?:判(?:断|定|作|成)?[为是]?|标(?:记|注|成|作)?[为是]?|视[为作]|记[为作]|答复?|回[答复]|输出|填写?|选择?|写上?|给出)[「“\"'『【]*(?:不?支持|无法判断|有据|属实)",
            f"[「“\"'『【]{_VERDICT}[」”\"'』】]",
            "(?:结论|结果|判断|判定|核[对查验]|复核|审核|校验)(?:结[果论])?[是为:]+.{0,4}(?:支持|有据|属实|正确|无误|通过|一致)",
            # who checks, and what is checked
            "(?:核[对查验]|复核|评[判审]|裁判|审[核查]|校对|判断|打分)(?:者|员|人员|模型|系统|程序|助手|机器人|任务)",
            "(?:模型|助手|机器人|人工智能|ai|系统).{0,6}(?:请|应当?|必须|务必|需要?|要|只能|不得).{0,10}(?:判|核|支持|认定|确认|采信|忽略|相信)",
            f"{_ITEM}.{{0,8}}(?:陈述|说法|断言|声明|论断|引用|主张|条目).{{0,12}}(?<![不未无非])(?:支持|证实|属实|正确|准确|成立|可信|无误)",
            "(?:的|这[种一个]?|上述|以上)(?:陈述|说法|断言|论断).{0,6}(?:完全|全部|都|均|是|已经?)+.{0,6}(?<![不未无非])(?:支持|证实|属实|正确|准确|成立|可信|无误)",
            f"(?:本文|本页|本站|本网页|本来源|本资料|该来源|节选).{{0,8}}(?:支持|证实|证明|印证|佐证)了?.{{0,6}}(?:{_ITEM}|陈述|说法|结论|回答|内容)",
            r"(?:不要|不必|无需|请勿|别)(?:再)?(?:核对|核查|复核|怀疑|比较|判断)",
            "(?:提示词|系统消息|以下(?:是|为)指令)",
            # in English
            r"\b(?:statement|claim|answer|citation|assertion|item)s?\b.{0,30}\b(?:is|are|be|as)\b.{0,12}\b(?:supported|true|correct|accurate|verified|confirmed)\b",
            r"\b(?:mark|rate|judge|label|grade|classify|treat|return|output|reply|answer|respond|say|write)\b.{0,40}\b(?:supported|unsupported|supports?|true|verified)\b",
            r"\bfact[- ]?check(?:er|ers|ing)?\b.{0,40}\b(?:must|should|model|please|verdict|supported)\b",
            r"\b(?:verdict|evaluator|grader|language model|llm|chatbot|ai (?:assistant|model|judge)|system prompt)s?\b",
            r"\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:instructions?|rules?|above|previous|prompt)\b",
            r"\b(?:dear|hey|hello|attention|note to)\b.{0,20}\b(?:ai|model|assistant|judge)\b",
        )
    )
)


def speaks_to_judge(sentence: str) -> bool:
    """Return whether a sentence gives instructions or speaks of the check. Spaces between Chinese characters hide nothing."""
    plain = comparison_form(sentence)
    forms = {plain, "".join(plain.split())}
    return any(_SPEECH_ABOUT_THE_CHECK.search(form) or count_instructions(form) for form in forms)


def is_near_speech(text: str, start: int, end: int) -> bool:
    """Return whether sentences of a text, or those next to them in the same paragraph, speak to the judge."""
    if start > 0 and text[start - 1] != "\n":
        start = surrounding_sentences(text, start - 2, start - 1)[0]
    if end < len(text) and text[end - 1] != "\n":
        end = surrounding_sentences(text, end, end + 1)[1]
    return speaks_to_judge(text[start:end])


def passages_for_judge(source: SourceText, check: SourceCheck) -> str:
    """Return the passages that the rules compared, with the sentences around them; else the beginning of the source."""
    text = source.text
    quotes = [one.text for one in check.evidence if one.source == source.number]
    found = [(start, start + len(quote)) for quote in quotes if (start := text.find(quote)) >= 0]
    if len(text) <= PASSAGES_LENGTH or not found:
        found = [(0, PASSAGES_LENGTH)]
    else:
        found = [(start - CONTEXT_LENGTH, end + CONTEXT_LENGTH) for start, end in found]
    passages = (_allowed_sentences(text, start, end) for start, end in _joined(found))
    return BETWEEN.join(filter(None, passages))[:PASSAGES_LENGTH]


def _joined(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the spans in order. Those that overlap become one."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def _allowed_sentences(text: str, start: int, end: int) -> str:
    """Return the sentences from start to end that may be shown. Of a sentence that is cut off, all of it is looked at."""
    first, last = surrounding_sentences(text, max(0, start), min(end, len(text)))
    ends = [first, *(found.end() for found in _SENTENCE_END.finditer(text, first, last)), last]
    shown = ((max(one, start), min(two, end)) for one, two in pairwise(ends) if not is_near_speech(text, one, two))
    return "".join(text[one:two] for one, two in shown).strip()


def surrounding_sentences(text: str, start: int, end: int) -> tuple[int, int]:
    """Return where the sentences begin and end in which a passage stands."""
    ends = [found.end() for found in _SENTENCE_END.finditer(text, max(0, start - CONTEXT_LENGTH), max(0, start))]
    after = _SENTENCE_END.search(text, max(start, end - 1), end + CONTEXT_LENGTH)
    first = ends[-1] if ends else max(0, start - CONTEXT_LENGTH)
    return first, after.end() if after else min(len(text), end + CONTEXT_LENGTH)
