"""Court cases from LawRefBook's 案例. Number, court and date are taken only from the text itself."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.base.chinese.calendar import iso_day
from core.base.text import HAN
from core.legal.entities import CaseType, CourtCase
from core.legal.layouts.corpus_markdown import Heading, parse_blocks
from core.legal.text.case_numbers import CaseNumber, find_case_numbers

_FACTS = ("基本案情", "案情", "案情回顾", "简要案情", "案情简介", "申请人请求", "原告诉讼请求")
_GIST = ("裁判要旨", "裁判要点")
_RESULT = ("裁判结果", "处理结果", "判决结果", "审理结果", "法院裁判", "裁判")
_SECTIONS = re.compile(
    "案情|裁判|关键词|适用|解析|解读|意义|法条|理由|分析|结果|请求|法官|说法|提示|要点|要旨|典型|相关"
)
_FOLDER_TYPES = {"行政协议诉讼": CaseType.ADMINISTRATIVE} | dict.fromkeys(
    ("劳动人事", "消费购物", "民法典"), CaseType.CIVIL
)
_COURT = rf"[{HAN}]{{0,25}}?(?:人民法院|知识产权法院|互联网法院|海事法院|金融法院|铁路运输(?:中级|基层)?法院|军事法院)"
_ACTING = re.compile(rf"({_COURT})(?=(?:经|一审|二审|再审|审理|审查|终审|认为|判决|裁定|作出|于\s*\d{{4}}年|的?\()+)")
_DECIDED = re.compile(rf"({_COURT})于([^于]{{8,20}})作出\s*$")
# In running text the words before the place belong to the sentence: 一审刑事判决书广东省…, 宣判后向北京市…
_BEFORE_PLACE = re.compile(
    r".*?(?:判决书|裁定书|决定书|调解书)|(?:经|由|向|被|对|在|至|而|后|和|与|及|原审|一审|二审|再审|终审|上诉|起诉|诉|据此|因此|故|但|本案)+"
)


def parse_lawrefbook_case(text: str, folders: Sequence[str], *, source: str) -> CourtCase:
    """Parse one case file. `folders` are 案例, the topic and the file name."""
    titles, sections = _sections(text)
    result = _first_section(sections, _RESULT) or ""
    number = _own_number(result)
    court, day = _court_and_day(result, number)
    everything = "\n".join(["\n".join(titles), *(f"{title}\n{body}" for title, body in sections.items())])
    return CourtCase(
        name=titles[-1] if titles else folders[-1].removesuffix(".md"),
        number=number.text if number else None,
        court=court,
        date=day,
        type=number.type if number else _FOLDER_TYPES.get(folders[1] if len(folders) > 2 else ""),
        summary=_first_section(sections, _FACTS),
        gist=_first_section(sections, _GIST),
        verdict=result or None,
        source=source,
        text=everything.strip(),
    )


def _sections(text: str) -> tuple[list[str], dict[str, str]]:
    """Return the titles above the first section (headline, then the name of the case), and the sections."""
    titles: list[str] = []
    sections: dict[str, list[str]] = {}
    current = ""
    for block in parse_blocks(text):
        if isinstance(block, str):
            sections.setdefault(current, []).append(block)
        elif not current and not (block.level > 1 and _is_section(block)):
            titles.append(block.title)
        else:
            current = block.title
    return titles, {title: "\n".join(lines) for title, lines in sections.items()}


def _is_section(heading: Heading) -> bool:
    return len(heading.title) <= 10 and _SECTIONS.search(heading.title) is not None


def _first_section(sections: dict[str, str], names: Sequence[str]) -> str | None:
    return next((sections[name] for name in names if sections.get(name)), None)


def _own_number(result: str) -> CaseNumber | None:
    """Return the number of the last decision made in the case, not of those that it mentions."""
    numbers = find_case_numbers(result)
    made = [number for number in numbers if result[: number.start].rstrip().endswith("作出")]
    return (made or numbers)[-1] if numbers else None


def deciding_court_and_day(result: str) -> tuple[str | None, str | None]:
    """Return the court of the last decision that a result tells of, and its day."""
    return _court_and_day(result, _own_number(result))


def _court_and_day(result: str, number: CaseNumber | None) -> tuple[str | None, str | None]:
    if number and (decided := _DECIDED.search(result[: number.start])):
        return trim_court_name(decided[1]), iso_day(decided[2])
    acting = _ACTING.findall(result)
    return (trim_court_name(acting[-1]) if acting else None), None


def trim_court_name(court: str) -> str | None:
    """Return the name of a court without the words before it, or None if no place is left."""
    court = re.sub(rf"^(?:{_BEFORE_PLACE.pattern})", "", court)
    return court if court not in {"人民法院", "法院", "中级人民法院"} and len(court) > 4 else None
