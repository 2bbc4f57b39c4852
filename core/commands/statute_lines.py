"""Lines about checked statutes and cases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core.legal import CaseFinding

FIRST_WORDS = 400
"""Characters of a long text that a terminal shows."""


def verdict_text(verdict: dict[str, Any]) -> str:
    return f"{verdict['mark']} {verdict['cited']}：{'；'.join(filter(None, (verdict['meaning'], verdict['note'])))}"


def case_finding_text(finding: CaseFinding) -> str:
    return f"{finding.mark} {finding.cited}：{finding.sentence}"
