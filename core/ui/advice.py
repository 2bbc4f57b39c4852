"""Advice for readers: sentences, lines to paste with a copy button, and how long a search engine is paused."""

from __future__ import annotations

from markupsafe import Markup, escape
from streamlit.delta_generator import DeltaGenerator

from core.answer.events import Notice
from core.base.text import clean, split_paste_lines
from core.search.types import Pause
from core.ui import clock
from core.ui.escape import draw_html, escape_label

_BLOCK = Markup(
    '<div class="wy-paste"><pre tabindex="0">%s</pre><button type="button" class="wy-paste-copy">复制</button></div>'
)
RETRY = "点「重新搜索」，现在就再试一次。"
NO_RETRY = "在那之前不会再问它。"


def advice_html(text: str) -> Markup:
    """Return the text as HTML. Lines to paste keep their breaks and get a copy button."""
    parts = split_paste_lines(clean(text))
    return Markup().join(_BLOCK % part if is_block else escape(part.strip()) for part, is_block in parts)


def pause_words(pause: Pause | None) -> str:
    """Return a pause on the reader's clock; empty without one."""
    return pause.words(clock.now()) if pause else ""


def draw_notice(place: DeltaGenerator, notice: Notice) -> None:
    """Draw a notice on a run. Its first sentence is the box, what can be pasted stands below."""
    (first, _), *more = split_paste_lines(clean(notice.text)) or [("", False)]
    place.info(escape_label(first), icon=":material/info:")
    for part, is_block in more:
        draw_html(_BLOCK % part if is_block else Markup('<div class="wy-line">%s</div>') % part.strip(), place)
    if notice.pause and notice.pause.until > clock.now().timestamp():
        then = NO_RETRY if notice.pause.is_firm else RETRY
        draw_html(Markup('<div class="wy-line">搜索引擎%s；%s</div>') % (pause_words(notice.pause), then), place)
