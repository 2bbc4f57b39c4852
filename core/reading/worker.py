"""The child process that extracts text from untrusted bytes: `python -m core.reading.worker`.

Everything is imported first. Then the process gives up what it could be misused for (confinement.py): it can open, change
and delete no file, open no socket, start no program, send no signal and take no more than its share of memory. What of
this the machine cannot do is told in the first frame; the program then decides whether it sends any task. Every task has one second of processor time, a reader's own
file some more. After that the kernel ends the process, wherever in a C library it may be. The process ends by itself
when its socket is closed.
"""

from __future__ import annotations

import codecs
import json
import logging
import socket
from contextlib import suppress
from dataclasses import asdict
from encodings.aliases import aliases

from core.reading.confinement import confine_process
from core.reading.extract import extract_text
from core.reading.extraction_types import DocumentComment, NotReadable
from core.reading.file_text import extract_file
from core.reading.pdf_fonts import load_chinese_font
from core.reading.pdf_picture import draw_page
from core.reading.picture_files import load_picture_formats, open_picture
from core.reading.word_comments import add_comments
from core.reading.worker_protocol import Task, run_tasks, send_frame

_SAMPLE_PDF = b"%PDF-1.4\n1 0 obj<</Type/Pages/Kids[2 0 R]/Count 1>>endobj 2 0 obj<</Type/Page/MediaBox[0 0 9 9]/Parent 1 0 R>>endobj 3 0 obj<</Type/Catalog/Pages 1 0 R>>endobj trailer<</Root 3 0 R>>"
_SAMPLE_MAIL = b"""Subject: =?utf-8?B?5L2g5aW9?= =?gbk?Q?=C4=E3?=
Date: Mon, 16 Nov 2026 09:30:00 +0800
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: text/html; charset=gbk
Content-Transfer-Encoding: quoted-printable

<table><tr><td>a</table>
--b
Content-Type: message/rfc822

Subject: b

c
--b
Content-Type: text/csv; name*=utf-8''a.csv
Content-Transfer-Encoding: base64

YSxi
--b--
"""
_SAMPLE = "<html><head><title>t</title></head><body><article><p>{}</p></article></body></html>".format("一句话。" * 100)


def main() -> None:
    """Warm up, enter the confinement, then run tasks until the socket is closed."""
    logging.disable(logging.CRITICAL)
    parent = socket.socket(fileno=0)
    for sample in (_SAMPLE, "<html><body><p>短。</p></body></html>"):  # load now what is otherwise loaded late
        extract_text(sample.encode(), "text/html")
    extract_file(_SAMPLE_MAIL, "eml", 1, 1)
    _load_codecs()
    load_chinese_font()
    draw_page(_SAMPLE_PDF, 1, ["一"])
    load_picture_formats()
    send_frame(parent, json.dumps(confine_process()._asdict()).encode())
    run_tasks(parent, _run_task)


def _load_codecs() -> None:
    for codec in {*aliases.values(), "utf_8_sig", "koi8_u"}:  # each codec is a file, and a page may need it
        with suppress(LookupError):  # of another system
            codecs.lookup(codec)
    extract_text("Ceci est une phrase accentuée à déceler, évidemment.".encode("cp1252"), "")


def _run_task(body: bytes, task: Task) -> tuple[dict[str, object], bytes]:
    """Run one task and return the extracted text, the bytes of a new document, or a picture."""
    try:
        if "remarks" in task:
            return {}, add_comments(body, (DocumentComment(*remark) for remark in task["remarks"]), task["author"])
        if "suffix" in task:
            return asdict(extract_file(body, task["suffix"], task["first_page"], task["page_count"])), b""
        if "draw" in task:
            return draw_page(body, task["draw"], task["passages"]).frame()
        if "picture" in task:
            return open_picture(body, task["picture"]).frame()
        return asdict(extract_text(body, task["content_type"])), b""
    except NotReadable as error:
        return {"reason": error.reason}, b""
    except (MemoryError, RecursionError):
        return {"reason": "complex"}, b""
    except Exception:  # libraries stumble over strangers' bytes in ways of their own
        return {"reason": "broken"}, b""


if __name__ == "__main__":
    main()
