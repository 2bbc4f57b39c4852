"""One version of a law from several sources: which texts are the same version, whose words are kept, and its dates.

The result does not depend on the order of the imports, except between two texts of the same length.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from core.legal.entities import Law
from core.legal.text.dates import are_close
from core.legal.text.force_days import stated_force_day
from core.legal.text.law_names import law_key

_NEARLY_THE_SAME = 0.95
"""Smallest share of the shorter copy that the longer one contains. Copies differ in slips of the pen, or one has lost an
annex."""


def law_fingerprint(law: Law) -> str:
    """Return a hash of the words of a law that ignores punctuation and spaces."""
    words = " ".join(f"{article.number} {article.text}" for article in law.articles)
    return hashlib.sha256(_letters(words).encode()).hexdigest()


def with_credible_force(law: Law) -> Law:
    """Return the law with the day of force that is known for this version, and without one before its publication,
    which is that of the law's first version."""
    return replace(law, effective=_known_force(law) or _force_day(law.published, law.effective))


def is_same_version(one: Law, other: Law) -> bool:
    """Return whether two texts of one law are the same version. Sources give the day of the session or of the
    announcement, so the days of one version may differ by weeks."""
    if one.published == other.published or law_fingerprint(one) == law_fingerprint(other):
        return True
    if one.published and other.published:
        in_force_together = one.effective is not None and one.effective == other.effective
        if not in_force_together and not are_close(one.published, other.published):
            return False
    return _common_share(one, other) >= _NEARLY_THE_SAME


def merge_versions(new: Law, stored: Law) -> Law:
    """Return one version of a law from two copies of it."""
    kept, other = (new, stored) if _replaces(new, stored) else (stored, new)
    published = max(filter(None, (new.published, stored.published)), default=None)
    days = [
        law.published for law in (new, stored) if law.published and published and are_close(law.published, published)
    ]
    earliest = min(days, default=None)
    forces = [_force_day(earliest, law.effective) for law in (new, stored)]
    known = _known_force(new) or _known_force(stored) or (forces[0] if new.source == stored.source else None)
    return replace(
        kept,
        issuer=kept.issuer or other.issuer,
        published=published,
        effective=known or _likelier_force(earliest, forces),
        repealed=any(law.repealed for law in (new, stored) if law.published in (None, *days)),
        history=max(kept.history, other.history, key=len),
    )


def _known_force(law: Law) -> str | None:
    return stated_force_day(law_key(law.name), law.published)


def _force_day(published: str | None, effective: str | None) -> str | None:
    return effective if effective and effective >= (published or "") else None


def _likelier_force(published: str | None, days: Sequence[str | None]) -> str | None:
    """Return the right one of two days of force. A source that errs repeats the publication, or gives the day of an
    annex that was changed later."""
    known = sorted(day for day in days if day)
    return next((day for day in known if day != published), published if known else None)


def _replaces(new: Law, stored: Law) -> bool:
    """Return whether the words of the new copy are kept. A source corrects itself; a copy without a day may be older; of
    two others the longer one has the annexes and tables."""
    if new.source == stored.source:
        return True
    has_same_words = law_fingerprint(new) == law_fingerprint(stored)
    if not has_same_words and (new.published is None) != (stored.published is None):
        return new.published is not None
    return (_rank(new), not has_same_words) > (_rank(stored), False)


def _rank(law: Law) -> tuple[int, bool]:
    """Return the length of a copy, and whether its corpus has it in a folder, which tells the field of a statute."""
    return len(_letters(_all_words(law))), "/" in law.source


def _common_share(one: Law, other: Law) -> float:
    """Return the share of the letter pairs of the shorter copy that the longer one has, too."""
    mine, others = (set(pairwise(_letters(_all_words(law)))) for law in (one, other))
    return len(mine & others) / max(1, min(len(mine), len(others)))


def _all_words(law: Law) -> str:
    """Return the articles with the headings above them."""
    return "\n".join(part for article in law.articles for part in (*article.path, article.text))


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text)
