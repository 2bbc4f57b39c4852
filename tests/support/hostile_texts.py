"""Pages, books, mails and texts that are built against their readers."""

from __future__ import annotations

import base64

from support import office_files, word_files
from support.hostile_archives import BOOK, CHAPTER, PLAIN_DOCX, PLAIN_EPUB, changed, entities
from support.hostile_pdfs import FACT, Body

Cases = dict[str, tuple[str, Body, set[str]]]


def page(markup: str) -> bytes:
    return f"<!doctype html><html><body><p>{FACT}</p>{markup}</body></html>".encode()


def _asking(at: str) -> str:
    """Everything in a page that asks for an address when it is opened."""
    return (
        f'<base href="{at}"><meta http-equiv="refresh" content="0;url={at}refresh"><link rel="stylesheet" href="{at}a.css">'
        f'<link rel="preload" href="{at}font" as="font"><style>@import url({at}b.css); p {{ background: url({at}c.png) }}</style>'
        f'<script src="{at}d.js"></script><script>fetch("{at}e")</script><img src="{at}f.png" srcset="{at}g.png 2x">'
        f'<iframe src="{at}h"></iframe><object data="{at}i"></object><embed src="{at}j"><video src="{at}k" poster="{at}l"></video>'
        f'<svg><image href="{at}m"/><use href="{at}n#x"/></svg><form action="{at}o"><input type="image" src="{at}p"></form>'
        f'<p style="background:url({at}q)">words</p><table background="{at}r"><tr><td>a</td></tr></table>'
    )


def _nested(markup: str, times: int) -> Body:
    return lambda _: page(markup * times)


PAGES: Cases = {
    "page that asks for addresses.html": ("html", lambda at: page(_asking(at)), {"read"}),
    "page of entities.html": (
        "html",
        lambda at: (entities("file", at) + f"<html><body><p>{FACT} &x;</p></body></html>").encode(),
        {"read"},
    ),
    "page of laughs.html": (
        "html",
        lambda at: (entities("laughs", at) + f"<html><body><p>{FACT} &x;</p></body></html>").encode(),
        {"read"},
    ),
    "drawing with entities.html": (
        "html",
        lambda at: (
            f'<?xml version="1.0"?>{entities("address", at)}<svg xmlns="http://www.w3.org/2000/svg"><text>&x;</text></svg><p>{FACT}</p>'
        ).encode(),
        {"read", "empty"},
    ),
    "100,000 boxes in each other.html": ("html", _nested("<div>", 100_000), {"read", "complex"}),
    "100,000 tables in each other.html": ("html", _nested("<table><tr><td>", 60_000), {"read", "complex"}),
    "a million tags.html": ("html", _nested("<b></b>", 1_000_000), {"complex"}),
    "a million words in tags.html": ("html", _nested("<i>a</i>", 250_000), {"read", "complex"}),
    "a cell over a billion rows.html": (
        "html",
        lambda _: page(
            '<table><tr><td rowspan="999999999" colspan="99999999">a</td></tr>'
            + "<tr><td>b</td></tr>" * 900
            + "</table>"
        ),
        {"read", "complex"},
    ),
    "cells over everything.html": (
        "html",
        lambda _: page(
            "<table>" + ("<tr>" + '<td rowspan="65000" colspan="1000">a</td>' * 50 + "</tr>") * 500 + "</table>"
        ),
        {"complex"},
    ),
    "an attribute of 9 MB.html": ("html", lambda _: page(f'<p title="{"a" * 9_000_000}">a</p>'), {"read", "complex"}),
    "a style sheet that costs.html": (
        "html",
        lambda _: page(
            "<style>"
            + ":not(" * 5_000
            + "a"
            + ")" * 5_000
            + "{}"
            + "* * * * * * p{color:red}" * 3_000
            + "</style>"
            + "<b>a</b>" * 3_000
        ),
        {"read", "complex"},
    ),
    "zeros.html": ("html", lambda _: page("a").replace(b"<p>", b"\0<p>"), {"binary"}),
    "hidden orders.html": (
        "html",
        lambda _: page('<p style="display:none">root:x:0:0</p><p hidden>root:x:0:0</p>'),
        {"read"},
    ),
}


def _spine(times: int) -> Body:
    return lambda _: changed(PLAIN_EPUB, BOOK, '<itemref idref="c1"/>', '<itemref idref="c1"/>' * times)


BOOKS: Cases = {
    "chapters at paths.epub": (
        "epub",
        lambda _: changed(PLAIN_EPUB, BOOK, 'href="text/c1.xhtml"', 'href="../../../../../../etc/passwd"'),
        {"empty"},
    ),
    "chapters at addresses.epub": (
        "epub",
        lambda at: changed(PLAIN_EPUB, BOOK, 'href="text/c1.xhtml"', f'href="{at}c1.xhtml"'),
        {"empty"},
    ),
    "book at an address.epub": (
        "epub",
        lambda at: changed(PLAIN_EPUB, "META-INF/container.xml", "OEBPS/book.opf", f"{at}book.opf"),
        {"broken"},
    ),
    "chapter that asks for addresses.epub": (
        "epub",
        lambda at: changed(PLAIN_EPUB, CHAPTER, "</body>", _asking(at) + "</body>"),
        {"read"},
    ),
    "one chapter 100,000 times.epub": ("epub", _spine(100_000), {"read"}),
    "locked book.epub": (
        "epub",
        lambda _: word_files.with_part(
            PLAIN_EPUB,
            "META-INF/encryption.xml",
            '<encryption><EncryptedData><EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes256-cbc"/></EncryptedData></encryption>',
        ),
        {"locked"},
    ),
    "book without a spine.epub": ("epub", lambda _: changed(PLAIN_EPUB, BOOK, '<itemref idref="c1"/>', ""), {"empty"}),
    "chapter of boxes.epub": (
        "epub",
        lambda _: changed(PLAIN_EPUB, CHAPTER, "</body>", "<div>" * 50_000 + "</body>"),
        {"read", "complex"},
    ),
}

HEAD = "From: a@b.example\nDate: Mon, 16 Nov 2026 09:30:00 +0800\nSubject: lamp\nMIME-Version: 1.0\n"


def mail(rest: str, head: str = HEAD) -> bytes:
    return (head + rest).encode()


def multipart(*parts: str, head: str = HEAD) -> bytes:
    inside = "".join(f"--b\n{part}\n" for part in (f"Content-Type: text/plain\n\n{FACT}", *parts))
    return mail(f'Content-Type: multipart/mixed; boundary="b"\n\n{inside}--b--\n', head)


def _nested_parts(_: str) -> bytes:
    levels = "".join(f'Content-Type: multipart/mixed; boundary="b{n}"\n\n--b{n}\n' for n in range(2_000))
    return mail(levels + f"\n{FACT}\n")


def _mails_in_mails(_: str) -> bytes:
    body = mail(f"\n{FACT}\n")
    for _number in range(10):
        body = office_files.eml_file("lamp", FACT, files=[("a.eml", body)])
    return body


MAILS: Cases = {
    "parts in parts.eml": ("eml", _nested_parts, {"complex"}),
    "mails in mails.eml": ("eml", _mails_in_mails, {"read"}),
    "messages in messages.eml": (
        "eml",
        lambda _: mail("Content-Type: message/rfc822\n\n" * 3_000 + FACT),
        {"read", "complex"},
    ),
    "100,000 parts.eml": ("eml", lambda _: multipart(*["Content-Type: text/plain\n\na"] * 100_000), {"complex"}),
    "a header of 5 MB.eml": ("eml", lambda _: multipart(head=HEAD + "X-A: " + "a" * 5_000_000 + "\n"), {"read"}),
    "a subject of 5 MB.eml": (
        "eml",
        lambda _: mail(f"\n{FACT}", HEAD.replace("lamp", "=?utf-8?B?YWE=?= " * 300_000)),
        {"read"},
    ),
    "a subject over 100,000 lines.eml": (
        "eml",
        lambda _: mail(f"\n{FACT}", HEAD.replace("lamp", "lamp" + "\n a" * 100_000)),
        {"read"},
    ),
    "200,000 headers.eml": ("eml", lambda _: mail(f"\n{FACT}", HEAD + "X-A: a\n" * 200_000), {"read", "complex"}),
    "people without end.eml": (
        "eml",
        lambda _: mail(f"\n{FACT}", HEAD + "To: " + "((((" * 100_000 + ", " + "a@b.example, " * 100_000 + "\n"),
        {"read"},
    ),
    "a name in 20,000 pieces.eml": (
        "eml",
        lambda _: multipart(
            "Content-Type: text/plain;\n" + "".join(f" name*{n}*=%61;\n" for n in range(20_000)) + "\na"
        ),
        {"read", "complex"},
    ),
    "parameters without end.eml": (
        "eml",
        lambda _: mail("Content-Type: multipart/mixed; " + '"\\"' * 200_000 + '; boundary="b"\n\n' + FACT),
        {"read", "complex"},
    ),
    "a body elsewhere.eml": (
        "eml",
        lambda at: multipart(
            f'Content-Type: message/external-body; access-type=URL; URL="{at}body"\n\nContent-Type: text/plain\n'
        ),
        {"read"},
    ),
    "pictures elsewhere.eml": (
        "eml",
        lambda at: multipart(f"Content-Type: text/html\n\n<p>a</p>{_asking(at)}"),
        {"read"},
    ),
    "bomb attached.eml": (
        "eml",
        lambda _: office_files.eml_file(
            "lamp", FACT, files=[("a.docx", word_files.archive({word_files.MAIN: bytes(200_000_001)}))] * 20
        ),
        {"read"},
    ),
    "entities attached.eml": (
        "eml",
        lambda at: office_files.eml_file(
            "lamp",
            FACT,
            files=[("a.docx", word_files.with_part(PLAIN_DOCX, word_files.MAIN, entities("file", at) + "<a>&x;</a>"))],
        ),
        {"read"},
    ),
    "names that climb.eml": (
        "eml",
        lambda _: office_files.eml_file("lamp", FACT, files=[("../../../etc/cron.d/x.txt", b"a"), ("C:\\x.txt", b"b")]),
        {"read"},
    ),
    "garbage in base64.eml": (
        "eml",
        lambda _: multipart(
            "Content-Type: application/pdf; name=a.pdf\nContent-Transfer-Encoding: base64\n\n!!!!====\n"
        ),
        {"read"},
    ),
    "unknown encodings.eml": (
        "eml",
        lambda _: multipart(
            "Content-Type: text/plain; charset=rot13; name=a.txt\nContent-Transfer-Encoding: x-uuencode\n\nbegin 644 a\n",
            head=HEAD.replace("lamp", "=?zlib?B?eJw=?= =?unicode_escape?Q?=5C?="),
        ),
        {"read"},
    ),
    "a boundary of nothing.eml": (
        "eml",
        lambda _: mail(f'Content-Type: multipart/mixed; boundary=""\n\n--\n\n{FACT}\n' + "--\n" * 200),
        {"read", "empty"},
    ),
    "sealed by Outlook.eml": (
        "eml",
        lambda _: multipart(
            "Content-Type: application/ms-tnef; name=winmail.dat\nContent-Transfer-Encoding: base64\n\n"
            + base64.b64encode(b"\x78\x9f\x3e\x22" + bytes(999)).decode()
        ),
        {"read"},
    ),
    "a date of another world.eml": ("eml", lambda _: mail(f"\n{FACT}", HEAD.replace("2026", "9" * 4_000)), {"read"}),
}

TEXTS: Cases = {
    "a cell of 9 MB.csv": ("csv", lambda _: f"name,{FACT}\n".encode() + b"a" * 9_000_000, {"read", "broken"}),
    "a quotation without its end.csv": (
        "csv",
        lambda _: f'name,{FACT}\n"'.encode() + b"a,b\n" * 2_000_000,
        {"read", "broken"},
    ),
    "a million columns.csv": ("csv", lambda _: f"{FACT}\n".encode() + b"1," * 1_000_000, {"read", "complex"}),
    "four million rows.csv": ("csv", lambda _: f"{FACT},x\n".encode() + b"1,2\n" * 2_400_000, {"read"}),
    "formulas.csv": (
        "csv",
        lambda at: f"{FACT}\n=cmd|' /C calc'!A0\n=WEBSERVICE(\"{at}\")\n@SUM(1)\n".encode(),
        {"read"},
    ),
    "zeros.csv": ("csv", lambda _: f"{FACT}\n\0\0".encode(), {"binary"}),
    "a line of 9 MB.txt": ("txt", lambda _: (FACT + "灯" * 3_000_000).encode(), {"read"}),
    "broken characters.txt": ("txt", lambda _: FACT.encode() * 90 + b"\xff\xfe\x80\xc0\xc1", {"read"}),
    "half pairs.txt": (
        "txt",
        lambda _: b"\xff\xfe" + (FACT * 90).encode("utf-16-le") + b"\x00\xd8\x00\xd8" * 50,
        {"read"},
    ),
    "letters that turn and hide.txt": (
        "txt",
        lambda _: (FACT * 90 + "\u202e\u2066\U000e0041\u200b\ufeff" * 50).encode(),
        {"read"},
    ),
    "noise.txt": ("txt", lambda _: bytes(range(1, 32)) * 500, {"binary"}),
    "a million headings.md": ("md", lambda _: f"{FACT}\n".encode() + b"# a\n" * 1_000_000, {"read"}),
    "fences without end.md": (
        "md",
        lambda _: f"{FACT}\n".encode() + b"`" * 1_000_000 + b"\n# a\n" + b"~~~\n" * 500_000,
        {"read"},
    ),
    "quotations in each other.md": (
        "md",
        lambda _: f"{FACT}\n".encode() + b">" * 1_000_000 + b"[" * 1_000_000,
        {"read"},
    ),
    "a picture that is none.png": ("png", lambda _: b"\x89PNG\r\n\x1a\n" + b"\xff" * 5_000, {"broken"}),
    "a picture of a terapixel.png": (
        "png",
        lambda _: b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + b"\x7f\xff\xff\xff" * 2 + b"\x08\x02\0\0\0" + bytes(4),
        {"broken"},
    ),
}
