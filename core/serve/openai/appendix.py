"""What stands below the text of an answer, for front ends that show nothing but text: 参考文献, what 依据核验 found, notices.

It is recognized at the end of an answer that a client sends back, and taken off: a model would imitate it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from core.answer import AGREEING_SOURCES, HOW_MADE_NOTE, PROBLEM_VERDICTS, against_law_lines, list_verdicts, tally
from core.answer.events import Notice
from core.answer.export import references_as_markdown
from core.answer.message import Message
from core.base.inert_markdown import escape_line
from core.base.text import quote_paste_lines
from core.legal import PROBLEMS, NoLegalIndex, StatuteCheck

RULE = "\n\n---\n\n"
"""What separates it from the text."""
_CHECKED = "依据核验"
_HEADINGS = ("参考文献", AGREEING_SOURCES, _CHECKED)
_LINES = re.compile(rf"(?:(?:- .*|> .*|\*\*(?:{'|'.join(map(re.escape, _HEADINGS))})\*\*|)(?:\n|\Z))+")
_BEGINNINGS = ("> ", *(f"**{heading}**" for heading in _HEADINGS))


def appendix_of(message: Message, statutes: StatuteCheck | None, notices: Iterable[Notice]) -> str:
    """Return what is written below an answer, with the rule above it; empty where there is nothing to say."""
    parts = references_as_markdown(message)
    if lines := "\n".join(f"- {escape_line(line)}" for line in _check_lines(message, statutes)):
        parts += [f"**{_CHECKED}**", lines]
    parts += dict.fromkeys(f"> {escape_line(quote_paste_lines(notice.text))}" for notice in notices)
    return f"{RULE}{_without_escaped_brackets(parts)}\n" if parts else ""


def _without_escaped_brackets(parts: Iterable[str]) -> str:
    r"""Return the parts as one text, with full-width brackets instead of `\[`, by which front ends begin a formula."""
    return "\n\n".join(parts).replace(r"\[", "［").replace(r"\]", "］")


def _check_lines(message: Message, statutes: StatuteCheck | None) -> Iterator[str]:
    """Yield the totals of 依据核验, then what a reader should look at, also where 法条核验 has found it."""
    check = message.check
    if check and (totals := tally(check)):
        yield f"{totals}。{HOW_MADE_NOTE}"
        yield from (str(verdict) for verdict in list_verdicts(check) if verdict.verdict in PROBLEM_VERDICTS)
        yield from against_law_lines(check)
    if statutes and not statutes.has_index:
        yield f"回答引用的法条没有核验：{NoLegalIndex()}"
    told = {one.statute.cited for one in check.against_law if one.statute} if check else set()
    for finding in statutes.findings if statutes else ():
        if finding.mark in PROBLEMS and finding.cited not in told:
            yield f"{finding.mark} {finding.cited}：{finding.meaning}。{finding.note}"


def without_appendix(text: str) -> str:
    """Return an answer that a client sends back without what this program wrote below it."""
    text = text.rstrip()
    place = text.rfind(RULE)
    below = text[place + len(RULE) :]
    is_ours = place >= 0 and below.startswith(_BEGINNINGS) and _LINES.fullmatch(below)
    return text[:place] if is_ours else text
