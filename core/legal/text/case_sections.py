"""Sections of a published case, as the courts head them: 关键词, 裁判要点, 相关法条, 基本案情, 裁判结果, 裁判理由."""

from __future__ import annotations

import re

KEYWORDS, RELATED_LAWS = "关键词", "相关法条"
_NAMES = (KEYWORDS, "裁判要点", "裁判要旨", "裁判摘要", RELATED_LAWS, "基本案情", "裁判结果", "裁判理由")
_SPACED = "|".join(r"\s*".join(name) for name in _NAMES)
_HEADING = re.compile(rf"[【\[#*\s]*({_SPACED})[】\]*]*(?:\s*[:：]\s*|\s+|$)(.*)")
_SEPARATORS = re.compile(r"[\s/／、，,；;]+")


def case_sections(text: str) -> dict[str, str]:
    """Return the sections of a text by heading. A heading stands on its own line, or before its first words."""
    sections: dict[str, list[str]] = {}
    current: list[str] = []
    for line in map(str.strip, text.splitlines()):
        found = _HEADING.fullmatch(line)
        if found:
            current = sections.setdefault(re.sub(r"\s+", "", found[1]), [])
        current += filter(None, [found[2] if found else line])
    return {name: "\n".join(lines) for name, lines in sections.items() if lines}


def case_keywords(text: str) -> list[str]:
    return [word for word in _SEPARATORS.split(case_sections(text).get(KEYWORDS, "")) if word]
