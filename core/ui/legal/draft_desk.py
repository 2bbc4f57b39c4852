"""Desk of a checked draft: its text on the left, the verdicts on the right. Each leads to the other (`draft_desk.js`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from core.base.text import one_line, shorten
from core.legal import CaseFinding, ContractFinding, FindingGroup, Severity, StatuteFinding
from core.ui import case_findings, statute_findings
from core.ui.legal import contract_view

LISTED = 100
_LABEL_LENGTH = 80
_GROUP_OF_CLAUSE = {Severity.VIOLATES: FindingGroup.PROBLEM, Severity.CHECK: FindingGroup.TO_COMPARE}


@dataclass(frozen=True, slots=True)
class DraftVerdict:
    """What was found about one place of a draft."""

    start: int
    end: int
    group: FindingGroup
    badge: Markup
    label: str
    """The words that were checked, and what there is to say about them."""
    mark: str
    meaning: str
    colour: str
    body: Markup

    @property
    def order(self) -> tuple[int, int]:
        """Key for sorting: what is wrong first, then as it stands in the draft."""
        return list(FindingGroup).index(self.group), self.start


def verdicts(
    statutes: Iterable[StatuteFinding], clauses: Iterable[ContractFinding], cases: Iterable[CaseFinding]
) -> list[DraftVerdict]:
    """Return all verdicts on a draft, what is wrong first."""
    found = [*map(_clause_verdict, clauses), *map(_statute_verdict, statutes), *map(_case_verdict, cases)]
    return sorted(found, key=lambda one: one.order)


def _statute_verdict(finding: StatuteFinding) -> DraftVerdict:
    label = " · ".join(filter(None, (statute_findings.citation_label(finding), finding.note)))
    colour, body = statute_findings.colour_of(finding.mark), statute_findings.details_html(finding)
    return _verdict(finding.start, finding.end, finding.group, finding.mark, finding.meaning, colour, label, body)


def _clause_verdict(finding: ContractFinding) -> DraftVerdict:
    label = f"{finding.title} · {shorten(one_line(finding.sentence), _LABEL_LENGTH)}"
    colour, group = contract_view.COLOURS[finding.severity], _GROUP_OF_CLAUSE[finding.severity]
    body = contract_view.finding_html(finding)
    return _verdict(finding.start, finding.end, group, finding.severity, "", colour, label, body)


def _case_verdict(finding: CaseFinding) -> DraftVerdict:
    colour, body = statute_findings.colour_of(finding.mark), case_findings.finding_html(finding)
    return _verdict(
        finding.start, finding.end, finding.group, finding.mark, finding.meaning, colour, finding.cited, body
    )


def _verdict(
    start: int, end: int, group: FindingGroup, mark: str, meaning: str, colour: str, label: str, body: Markup
) -> DraftVerdict:
    badge = Markup('<span class="wy-tag %s">%s</span>') % (colour, " ".join(filter(None, (mark, meaning))))
    return DraftVerdict(start, end, group, badge, label, mark, meaning, colour, body)


def desk_html(name: str, text: str, shown: Sequence[DraftVerdict], *, key: str) -> Markup:
    """Return both sides of the draft with this name. `shown` are the verdicts to list, in their order; `key` is unique on the page."""
    return Markup(
        '<div class="wy-desk"><div class="wy-draft" role="region" aria-label="%s" tabindex="0">%s</div>'
        '<ol class="wy-findings" aria-label="核验结果">%s</ol></div>'
    ) % (
        name,
        _text_html(text, shown, key),
        Markup().join(_item_html(one, f"{key}-{n}") for n, one in enumerate(shown)),
    )


def _item_html(verdict: DraftVerdict, anchor: str) -> Markup:
    return Markup(
        '<li><details id="%s"><summary>%s %s</summary>%s<a class="wy-in-text" href="#%s-at">在文稿中的位置</a></details></li>'
    ) % (anchor, verdict.badge, verdict.label, verdict.body, anchor)


def _text_html(text: str, shown: Sequence[DraftVerdict], key: str) -> Markup:
    """Return the text with a mark before each place that has a verdict, and the place itself underlined."""
    placed = sorted(enumerate(shown), key=lambda pair: (pair[1].start, -pair[1].end))
    parts: list[Markup | str] = []
    open_ends: list[int] = []
    done = 0

    def write_to(place: int) -> None:
        nonlocal done
        while open_ends and open_ends[-1] <= place:
            parts.extend((text[done : open_ends[-1]], Markup("</span>")))
            done = open_ends.pop()
        parts.append(text[done:place])
        done = place

    for number, one in placed:
        write_to(one.start)
        open_ends.append(min(one.end, open_ends[-1]) if open_ends else one.end)
        parts.append(_place_html(one, f"{key}-{number}"))
    write_to(len(text))
    return Markup().join(parts) + Markup("</span>") * len(open_ends)


def _place_html(verdict: DraftVerdict, anchor: str) -> Markup:
    """Return the mark before a place, and the beginning of the place."""
    said = f"{verdict.mark} {verdict.meaning}：{shorten(verdict.label, _LABEL_LENGTH)}"
    return Markup(
        '<a class="wy-place wy-mark %s" id="%s-at" href="#%s" aria-label="%s">%s</a><span data-verdict="%s">'
    ) % (verdict.colour, anchor, anchor, said, verdict.mark, anchor)
