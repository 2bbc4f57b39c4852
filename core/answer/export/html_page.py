"""A conversation as one HTML page without other files, for screen and paper."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import tzinfo

from markupsafe import Markup

from core.answer.export import common
from core.answer.html.markdown import render_standalone
from core.answer.html.source_html import references_html
from core.answer.message import Message
from core.base.text import clean, one_line

_PAGE = Markup("""<!DOCTYPE html>
<html lang="zh-CN">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<main>
<h1>{title}</h1>
{body}
</main>
</body>
</html>
""")

_STYLE = Markup("""
:root { color-scheme: light dark; }
body { margin: 0; font: 16px/1.75 "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", system-ui, sans-serif; }
main { max-width: 46rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; overflow-wrap: break-word; }
h1 { font-size: 1.5rem; line-height: 1.4; }
h2 { font-size: 1rem; margin: 2.5rem 0 .25rem; }
h2 .origin, .remark, .domain, .summary { font-size: .85rem; font-weight: normal; opacity: .7; }
.question { white-space: pre-wrap; }
.summary { display: block; }
sup.cite { line-height: 0; } .wy-named > sup.cite { font-size: inherit; vertical-align: baseline; }
sup.cite::before { content: "["; } sup.cite::after { content: "]"; }
pre { overflow-x: auto; padding: .75rem; border: 1px solid #8884; border-radius: .25rem; }
code { font-family: ui-monospace, Consolas, monospace; font-size: .9em; }
table { display: block; max-width: 100%; overflow-x: auto; border-collapse: collapse; } math { max-width: 100%; }
th, td { border: 1px solid #8886; padding: .25rem .5rem; text-align: left; }
.right { text-align: right; } .center { text-align: center; }
blockquote { margin: 0; padding-left: 1rem; border-left: 3px solid #8886; }
section + section { border-top: 1px solid #8883; }
@media print {
  :root { color-scheme: light; }
  main { max-width: none; padding: 0; }
  a { color: inherit; } .back { display: none; }
  .wy-refs li > a[href^="http"]::after { content: " " attr(href); font-size: .85em; }
  h1, h2, h3 { break-after: avoid; }
  li, pre, tr, blockquote { break-inside: avoid; }
}
""")


def as_html(
    title: str,
    messages: Sequence[Message],
    *,
    zone: tzinfo | None = None,
    check_statutes: common.CheckStatutes = common.no_statute_check,
) -> Markup:
    sections = (
        _section(message, f"m{number}", zone, check_statutes)
        for number, message in enumerate(common.exported_messages(messages), 1)
    )
    return _PAGE.format(title=one_line(title) or common.UNTITLED, style=_STYLE, body=Markup("\n").join(sections))


def _section(message: Message, anchor: str, zone: tzinfo | None, check_statutes: common.CheckStatutes) -> Markup:
    if message.role == "user":
        when = common.format_time(message.created, zone)
        inside = Markup('<div class="question">%s</div>') % clean(message.text)
        inside += Markup('<p class="remark">%s</p>') % common.attachments_line(message) if message.files else Markup()
    else:
        when = common.origin_line(message, zone)
        text = render_standalone(message.text, message.sources, anchor=anchor)
        inside = Markup("<div>%s</div>") % text + _list("依据核验", common.check_lines(message, check_statutes))
        inside += _list("法条核验", common.statute_lines(message, check_statutes))
        inside += _list("案号核验", common.case_lines(message, check_statutes))
        inside += _references_and_remarks(message, anchor, zone)
    heading = Markup('<h2>%s <span class="origin">%s</span></h2>') % (common.LABELS[message.role], one_line(when))
    return Markup("<section>%s\n%s</section>") % (heading, inside)


def _list(title: str, lines: Iterable[str]) -> Markup:
    rows = Markup().join(Markup("<li>%s</li>") % line for line in lines)
    return Markup("<h3>%s</h3><ul>%s</ul>") % (title, rows) if rows else Markup()


def _references_and_remarks(message: Message, anchor: str, zone: tzinfo | None) -> Markup:
    remarks = Markup().join(Markup('<p class="remark">%s</p>') % remark for remark in common.remarks(message))
    accessed = common.format_day(message, zone)
    lists = (
        Markup("<h3>%s</h3>%s")
        % (
            name,
            references_html(
                sources,
                anchor=anchor if sources == message.cited else "",
                accessed=accessed,
                places=message.places,
            ),
        )
        for name, sources in common.source_lists(message)
    )
    return Markup().join(lists) + remarks
