"""Pages in the shapes that the web has, written for the tests."""

from __future__ import annotations

import json
import random
import zlib
from collections.abc import Callable
from functools import cache

from core.search.types import SearchResult

MENU = "".join(f'<li><a href="/c{n}">栏目{n}</a></li>' for n in range(30))
STORY = (
    "青溪市水务局十二日公布，今年前三季度全市供水总量为一亿二千万立方米，比去年同期增加百分之四。",
    "局长林远在发布会上说，增加的水量主要用于新建的三个居民区，工业用水反而有所减少。",
    "为应对冬季低温，全市将在十一月底以前更换老旧水表八千只，费用由市财政承担，居民不需要付费。",
    "记者在现场看到，位于东岸的新水厂已经通水试运行，预计明年三月正式投入使用。",
    "市民如果发现水压异常，可以拨打二十四小时服务电话，维修人员承诺两小时之内到达现场。",
)


def page(body: str, *, title: str = "青溪市前三季度供水量增加", head: str = "", charset: str = "utf-8") -> str:
    return (
        f'<!DOCTYPE html><html><head><meta charset="{charset}"><title>{title}</title>{head}</head><body>'
        f'<div class="nav"><ul>{MENU}</ul></div>{body}<div class="footer">版权所有 青溪新闻网 备案号0001</div></body></html>'
    )


def paragraphs(*texts: str) -> str:
    return "".join(f"<p>{text}</p>" for text in texts)


NEWS = page(
    f'<article><h1>青溪市前三季度供水量增加</h1><div class="info">来源：青溪日报</div>{paragraphs(*STORY)}</article>',
    head='<meta property="article:published_time" content="2024-10-12T09:30:00+08:00">',
)
FORUM = page(
    "<h1>水表换了以后读数变大，正常吗？</h1>"
    + "".join(
        f'<div class="post" id="p{n}"><div class="author">用户{n}</div><div class="post-content">{text}</div></div>'
        for n, text in enumerate(
            (
                "上周家里换了新水表，用水习惯没有变，可是读数比原来多了三成，有没有人遇到同样的情况？",
                "旧水表用久了会走慢，新表更准，所以看起来多了。可以申请免费校验，一般五个工作日出结果。",
                "我家也是这样，校验之后误差在百分之二以内，属于合格范围，后来就没有再追究了。",
                "建议先关掉所有阀门，看新表还走不走，如果还在走，说明家里有地方漏水，先找漏点。",
            )
        )
    ),
    title="水表换了以后读数变大，正常吗？ - 青溪论坛",
)
NOTICE = page(
    "<table><tr><td><h2>关于更换老旧水表的通知</h2></td></tr><tr><td>发布日期：2024年10月8日　来源：青溪市水务局</td></tr>"
    f"<tr><td>{paragraphs('各街道办事处：', *STORY)}<p>特此通知。</p></td></tr></table>",
    title="关于更换老旧水表的通知",
    charset="gb2312",
)
TRADITIONAL = page(
    paragraphs(
        "青溪市水務局十二日公布，今年前三季全市供水總量為一億二千萬立方公尺，比去年同期增加百分之四。",
        "局長林遠在記者會上說，增加的水量主要用於新建的三個住宅區，工業用水反而有所減少。",
        "為應對冬季低溫，全市將在十一月底以前更換老舊水錶八千只，費用由市府負擔，住戶不需要付費。",
        "民眾如果發現水壓異常，可以撥打二十四小時服務電話，維修人員承諾兩小時之內到達現場。",
    ),
    title="供水量增加",
    charset="big5",
)
LOGIN = page(
    '<div class="box"><h1>会员专区</h1><p>请先登录后查看全文。</p><form action="/login"><input name="u">'
    '<input type="password" name="p"><button>登录</button></form></div>',
    title="会员专区",
)
PAYWALL = page(
    paragraphs(STORY[0]),
    head='<script type="application/ld+json">'
    + json.dumps({"@type": "NewsArticle", "headline": "供水", "isAccessibleForFree": False})
    + "</script>",
)
SHELL = (
    '<!DOCTYPE html><html><head><title>App</title><script src="/a.js"></script></head><body>'
    "<noscript>You need to enable JavaScript to run this app.</noscript>"
    '<div id="root"></div></body></html>'
)


def linked_article(body: str) -> str:
    """Linked data with an article of this text."""
    article = {"@type": "NewsArticle", "headline": "供水量增加", "datePublished": "2024-10-12", "articleBody": body}
    graph = json.dumps({"@graph": [{"@type": "WebSite", "name": "x"}, article]}, ensure_ascii=False)
    return f'<script type="application/ld+json">{graph}</script>'


LINKED_DATA = page('<div id="root"></div>', head=linked_article("".join(STORY) * 2))
CHALLENGE = page("<h1>安全验证</h1><p>请完成验证后继续访问。</p>", title="安全验证")
FEED = (
    '<?xml version="1.0" encoding="utf-8"?><rss version="2.0"><channel><title>青溪新闻</title>'
    + "".join(
        f"<item><title>第{n}条</title><description><![CDATA[<p>{text}</p>]]></description>"
        f"<pubDate>Sat, {n + 10} Oct 2024 08:00:00 GMT</pubDate></item>"
        for n, text in enumerate(STORY)
    )
    + "</channel></rss>"
)
MARKDOWN = "# 供水说明\n\n" + "\n\n".join(STORY) + "\n\n- 第一项\n- 第二项\n"


def pdf(content: bytes, *, pages: int = 1, filters: str = "/FlateDecode") -> bytes:
    """A whole file with one content stream for all its pages."""
    stream = zlib.compress(content, 9)
    kids = " ".join(f"{5 + n} 0 R" for n in range(pages))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {pages} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        f"<< /Length {len(stream)} /Filter {filters} >>\nstream\n".encode() + stream + b"\nendstream",
        *[
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R"
            b" /Resources << /Font << /F1 3 0 R >> >> >>"
        ]
        * pages,
    ]
    body, places = b"%PDF-1.4\n", []
    for number, content_of_object in enumerate(objects, 1):
        places.append(len(body))
        body += f"{number} 0 obj\n".encode() + content_of_object + b"\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    count = len(objects) + 1
    return (
        body
        + f"xref\n0 {count}\n0000000000 65535 f \n{table}trailer\n<< /Size {count} /Root 1 0 R >>\n".encode()
        + f"startxref\n{len(body)}\n%%EOF\n".encode()
    )


def pdf_of(*lines: str) -> bytes:
    text = " ".join(f"({line}) Tj 0 -20 Td" for line in lines)
    return pdf(f"BT /F1 12 Tf 72 760 Td {text} ET".encode())


DRAWING = pdf(b"0 0 1 rg 72 600 200 100 re f")
Body = bytes | Callable[[], bytes]
"""What takes long to make is made by the test that needs it, and not by everybody who looks for tests."""


def made(body: Body) -> bytes:
    return body if isinstance(body, bytes) else body()


@cache
def pdf_bomb() -> bytes:
    return pdf(b"BT /F1 12 Tf 72 760 Td " + b"(aaaaaaaaaa) Tj 0 -1 Td " * 2_000_000 + b" ET", pages=50)


def found(address: str, *, noise: int = 0) -> SearchResult:
    """A result whose engine sent the page along; `noise`: so many characters that no compression makes smaller."""
    chance = random.Random(address)
    more = "".join(chr(chance.randrange(0x4E00, 0x9FA5)) for _ in range(noise))
    return SearchResult("供水量增加", address, STORY[0], "a.example", text="\n".join(STORY) + more)
