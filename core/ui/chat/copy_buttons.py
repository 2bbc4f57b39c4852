"""Buttons that take an answer along. A script of the page acts on a click (core/ui/scripts/copying.js): the server hears
nothing of it."""

from __future__ import annotations

from markupsafe import Markup

_BUTTON = Markup('<button type="button" class="wy-copy" data-copy="%s">%s</button>')
COPY = Markup('<button type="button" class="wy-copy" title="复制回答，可以粘贴到文档、邮件和聊天">复制</button>')
OTHERS = Markup().join(
    _BUTTON % entry
    for entry in (
        ("markdown", "复制为 Markdown"),
        ("picture", "复制为图片"),
        ("save-picture", "保存图片"),
    )
)
"""The less frequent ways, for a menu."""
PRINT = _BUTTON % ("print", "打印 / PDF")
"""Prints the conversation."""
COPY_AND_OTHERS = Markup(
    '<div class="wy-taking">%s<details class="wy-more"><summary title="更多">⋯</summary><div>%s</div></details></div>'
) % (COPY, OTHERS)
