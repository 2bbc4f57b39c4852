"""The difference between two versions of an answer, sentence by sentence, as HTML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher

from markupsafe import Markup, escape

_SENTENCE = re.compile(r"[^。！？!?\n]*[。！？!?\n]+|[^。！？!?\n]+")


def revision_diff_html(before: str, after: str) -> Markup:
    return Markup('<div class="wy-diff wy-rewriting">%s</div>') % Markup().join(_changes(before, after))


def _changes(before: str, after: str) -> Iterator[Markup]:
    old, new = _SENTENCE.findall(before), _SENTENCE.findall(after)
    for change, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if change == "equal":
            yield escape("".join(old[a:b]))
            continue
        if b > a:
            yield Markup("<del>%s</del>") % "".join(old[a:b])
        if d > c:
            yield Markup("<ins>%s</ins>") % "".join(new[c:d])
