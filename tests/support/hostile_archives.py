"""Packed files and XML that are built against their readers, each with what may become of it.

A file that can be read says FACT, and nothing of what it tried to get hold of.
"""

from __future__ import annotations

import base64
import io
import struct
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from warnings import catch_warnings

from support import word_files
from support.hostile_pdfs import FACT, Body
from support.office_files import Slide, docx_file, epub_file, pptx_file, xlsx_file

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
PLAIN_DOCX = docx_file(FACT)
PLAIN_PPTX = pptx_file(Slide("Lamp", [FACT]))
PLAIN_XLSX = xlsx_file({"Lamp": [["name", FACT]]})
PLAIN_EPUB = epub_file("Lamp", ("Lamp", [FACT]))
MAIN = word_files.MAIN
SLIDE, SHEET, STRINGS = "ppt/slides/slide1.xml", "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml"
BOOK, CHAPTER = "OEBPS/book.opf", "OEBPS/text/c1.xhtml"


def document(body: str, *, before: str = "") -> str:
    """The XML of a document that says the fact, and something else."""
    return f"{before}<w:document {W}><w:body><w:p><w:r><w:t>{FACT}</w:t></w:r></w:p>{body}</w:body></w:document>"


def docx_with(xml: str | bytes, more: Mapping[str, bytes | str] | None = None) -> bytes:
    body = word_files.with_part(PLAIN_DOCX, MAIN, xml)
    for name, content in (more or {}).items():
        body = word_files.with_part(body, name, content)
    return body


def changed(body: bytes, name: str, old: str, new: str) -> bytes:
    """The same packed file with other words in one part."""
    part = word_files.part(body, name)
    assert old in part, (name, old)
    return word_files.with_part(body, name, part.replace(old, new, 1))


def entities(kind: str, at: str) -> str:
    """A document type that declares &x; in a hostile way."""
    return {
        "file": '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
        "address": f'<!DOCTYPE a [<!ENTITY x SYSTEM "{at}entity">]>',
        "parameter": f'<!DOCTYPE a [<!ENTITY % p SYSTEM "{at}parameter"> %p; <!ENTITY x "y">]>',
        "outside": f'<!DOCTYPE a SYSTEM "{at}type.dtd">',
        "laughs": '<!DOCTYPE a [<!ENTITY l0 "ha">'
        + "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
        + '<!ENTITY x "&l9;">]>',
        "quadratic": f'<!DOCTYPE a [<!ENTITY x "{"a" * 500_000}">]>',
    }[kind]


def xml_case(kind: str, body: bytes, name: str, *, root: str, use: str, times: int = 1) -> Body:
    """A packed file one of whose parts declares an entity before `root` and uses it in place of the fact."""

    def make(at: str) -> bytes:
        part = word_files.part(body, name)
        start = part.index(root)
        found = part[:start] + entities(kind, at) + part[start:]
        assert use in found
        return word_files.with_part(
            body, name, found.replace(use, ("" if kind == "outside" else "&x;" * times) + use, 1)
        )

    return make


# ── Archives ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def zip_of(entries: Iterable[tuple[zipfile.ZipInfo | str, bytes]], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as file:
        for name, content in entries:
            file.writestr(name, content)
    return packed.getvalue()


def parts_of(body: bytes) -> list[tuple[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(body)) as file:
        return [(name, file.read(name)) for name in file.namelist()]


def patched(body: bytes, name: str, *, flags: int = 0, size: int | None = None, method: int | None = None) -> bytes:
    """The archive with another size or flag in the directory's entry of a part."""
    data = bytearray(body)
    at = data.find(b"PK\x01\x02")
    while at >= 0:
        length = struct.unpack_from("<H", data, at + 28)[0]
        if data[at + 46 : at + 46 + length] == name.encode():
            local = struct.unpack_from("<I", data, at + 42)[0]
            for place in (at + 8, local + 6):
                data[place] |= flags
            if method is not None:
                struct.pack_into("<H", data, at + 10, method)
                struct.pack_into("<H", data, local + 8, method)
            if size is not None:
                struct.pack_into("<I", data, at + 24, size)
        at = data.find(b"PK\x01\x02", at + 4)
    return bytes(data)


def overlapping(count: int, size: int) -> bytes:
    """An archive all of whose parts are the same packed bytes."""
    content = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = content.compress(bytes(size)) + content.flush()
    crc = zlib.crc32(bytes(size))
    name = MAIN.encode()
    local = struct.pack("<4sHHHHHIIIHH", b"PK\x03\x04", 20, 0, 8, 0, 33, crc, len(packed), size, len(name), 0) + name
    directory = b""
    for number in range(count):
        own = name if not number else f"word/{number}.xml".encode()
        directory += (
            struct.pack(
                "<4sHHHHHHIIIHHHHHII",
                *(b"PK\x01\x02", 20, 20, 0, 8, 0, 33, crc, len(packed), size, len(own), 0, 0, 0, 0, 0, 0),
            )
            + own
        )
    start = len(local) + len(packed)
    end = struct.pack(
        "<4sHHHHIIH", b"PK\x05\x06", 0, 0, min(count, 65_535), min(count, 65_535), len(directory), start, 0
    )
    return local + packed + directory + end


def nested(depth: int) -> bytes:
    body = zip_of([("bomb.txt", bytes(50_000_000))])
    for _ in range(depth):
        body = zip_of([(f"{n}.zip", body) for n in range(10)])
    return body


def symlink(name: str, target: str) -> tuple[zipfile.ZipInfo, bytes]:
    entry = zipfile.ZipInfo(name)
    entry.create_system, entry.external_attr = 3, 0o120777 << 16
    return entry, target.encode()


def _with_names(*names: str) -> bytes:
    return zip_of([*parts_of(PLAIN_DOCX), *((name, b"root:x:0:0") for name in names)])


def _twice(_: str) -> bytes:
    packed = io.BytesIO(docx_with(document("<w:p><w:r><w:t>first</w:t></w:r></w:p>")))
    with catch_warnings(action="ignore"), zipfile.ZipFile(packed, "a", zipfile.ZIP_DEFLATED) as file:
        file.writestr(MAIN, document(""))
    return packed.getvalue()


ARCHIVES: dict[str, tuple[str, Body, set[str]]] = {
    "bomb of one part.docx": ("docx", lambda _: word_files.archive({MAIN: bytes(200_000_001)}), {"large"}),
    "bomb below the limit of a part.docx": ("docx", lambda _: word_files.archive({MAIN: bytes(39_000_000)}), {"large"}),
    "bomb among the pictures.docx": (
        "docx",
        lambda _: docx_with(document(""), {"word/media/a.bmp": bytes(150_000_000)}),
        {"read"},
    ),
    "bomb in the strings.xlsx": (
        "xlsx",
        lambda _: word_files.with_part(PLAIN_XLSX, STRINGS, bytes(100_000_000)),
        {"large"},
    ),
    "bomb in a slide.pptx": ("pptx", lambda _: word_files.with_part(PLAIN_PPTX, SLIDE, bytes(41_000_000)), {"large"}),
    "bomb in a chapter.epub": (
        "epub",
        lambda _: word_files.with_part(PLAIN_EPUB, CHAPTER, bytes(41_000_000)),
        {"large"},
    ),
    "a hundred bombs.epub": (
        "epub",
        lambda _: epub_file("Lamp", *[("Lamp", [FACT, "a" * 1_900_000])] * 100),
        {"read", "large", "complex"},
    ),
    "overlapping parts, 4 GB.docx": ("docx", lambda _: overlapping(4_000, 1_000_000), {"large"}),
    "overlapping parts, few.docx": ("docx", lambda _: overlapping(10, 1_000_000), {"broken"}),
    "archives in archives.zip": ("zip", lambda _: nested(2), {"archive"}),
    "archives in a document.docx": (
        "docx",
        lambda _: docx_with(document(""), {"word/embeddings/a.zip": nested(2)}),
        {"read"},
    ),
    "100,000 parts.docx": ("docx", lambda _: zip_of((f"{n}", b"") for n in range(70_000)), {"large"}),
    "locked part.docx": ("docx", lambda _: patched(PLAIN_DOCX, MAIN, flags=1), {"locked"}),
    "packed by lzma.docx": ("docx", lambda _: zip_of(parts_of(PLAIN_DOCX), zipfile.ZIP_LZMA), {"broken"}),
    "packed by bzip2.docx": ("docx", lambda _: zip_of(parts_of(PLAIN_DOCX), zipfile.ZIP_BZIP2), {"broken"}),
    "packed by an unknown method.docx": ("docx", lambda _: patched(PLAIN_DOCX, MAIN, method=99), {"broken"}),
    "part that is longer than it says.docx": ("docx", lambda _: patched(PLAIN_DOCX, MAIN, size=50), {"broken"}),
    "part that says 4 GB.docx": ("docx", lambda _: patched(PLAIN_DOCX, MAIN, size=0xFFFFFFF0), {"large"}),
    "names that climb.docx": (
        "docx",
        lambda _: _with_names("../../../../etc/cron.d/x", "/etc/passwd", "..\\..\\x", "C:\\x", "word/../../x", "a\0b"),
        {"read"},
    ),
    "link to a file.docx": (
        "docx",
        lambda _: zip_of([symlink(MAIN, "/etc/passwd")]),
        {"broken"},
    ),
    "links among the parts.docx": (
        "docx",
        lambda _: zip_of([*parts_of(PLAIN_DOCX), symlink("word/footnotes.xml.lnk", "/etc/shadow")]),
        {"read"},
    ),
    "two parts of one name.docx": ("docx", _twice, {"read"}),
    "half an archive.docx": ("docx", lambda _: PLAIN_DOCX[: len(PLAIN_DOCX) // 2], {"broken"}),
    "archive and nothing else.docx": ("docx", lambda _: b"PK\x03\x04", {"broken"}),
    "empty archive.docx": ("docx", lambda _: zip_of([]), {"archive"}),
    "archive behind a pdf.pdf": ("pdf", lambda _: b"%PDF-1.7\n" + PLAIN_DOCX, {"broken"}),
    "pdf inside the first part.docx": (
        "docx",
        lambda _: zip_of([("a", b"%PDF-1.7 "), *parts_of(PLAIN_DOCX)], zipfile.ZIP_STORED),
        {"read"},
    ),
    "page in a document's name.docx": (
        "docx",
        lambda at: f"<html><body><p>{FACT}<img src={at}a.png></body></html>".encode(),
        {"read"},
    ),
    "document in a workbook's name.xlsx": ("xlsx", lambda _: PLAIN_DOCX, {"read"}),
    "program in a document's name.docx": ("docx", lambda _: b"\x7fELF\x02\x01\x01" + bytes(5_000), {"binary"}),
    "old document with a password.docx": (
        "docx",
        lambda _: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(5_000) + "EncryptedPackage".encode("utf-16-le"),
        {"locked"},
    ),
}

# ── XML ───────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _xml_cases() -> dict[str, tuple[str, Body, set[str]]]:
    targets = {
        "docx": (PLAIN_DOCX, MAIN, "<w:document", FACT),
        "pptx": (PLAIN_PPTX, SLIDE, "<p:sld ", FACT),
        "xlsx": (PLAIN_XLSX, STRINGS, "<sst", FACT),
        "epub": (PLAIN_EPUB, BOOK, "<package", "Lamp</dc:title>"),
    }
    found: dict[str, tuple[str, Body, set[str]]] = {}
    for ending, (body, part, root, use) in targets.items():
        for kind in ("file", "address", "parameter", "outside", "laughs", "quadratic"):
            expected = {"read"} if kind == "outside" else {"broken"}
            times = 2_000 if kind == "quadratic" else 1
            make = xml_case(kind, body, part, root=root, use=use, times=times)
            found[f"entities: {kind}.{ending}"] = (ending, make, expected)
    chapter = xml_case("file", PLAIN_EPUB.replace(b"<!DOCTYPE html>", b""), CHAPTER, root="<html", use=FACT)
    sheet = xml_case("laughs", PLAIN_XLSX, SHEET, root="<worksheet", use="<v>")
    return found | {
        "entities in a chapter.epub": ("epub", lambda at: chapter(at), {"read"}),
        "entities in a sheet.xlsx": ("xlsx", sheet, {"broken"}),
    }


XML: dict[str, tuple[str, Body, set[str]]] = {
    **_xml_cases(),
    "entities in UTF-16.docx": (
        "docx",
        lambda at: docx_with(
            f'<?xml version="1.0" encoding="utf-16"?>{entities("file", at)}{document("&x;")}'.encode("utf-16")
        ),
        {"broken"},
    ),
    "inclusion of a file.docx": (
        "docx",
        lambda at: docx_with(
            document(
                '<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="file:///etc/passwd" parse="text"/>'
                f'<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="{at}xi"/>',
                before=f'<?xml-stylesheet href="{at}style.xsl" type="text/xsl"?>',
            )
        ),
        {"read"},
    ),
    "100,000 elements in each other.docx": ("docx", lambda _: docx_with(document("<w:p>" * 100_000)), {"broken"}),
    "groups in groups.pptx": (
        "pptx",
        lambda _: changed(PLAIN_PPTX, SLIDE, "<p:spTree>", "<p:spTree>" + "<p:grpSp>" * 5_000 + "</p:grpSp>" * 5_000),
        {"broken"},
    ),
    "a million attributes.docx": (
        "docx",
        lambda _: docx_with(document("<w:p " + " ".join(f'a{n}="1"' for n in range(1_000_000)) + "/>")),
        {"read", "broken", "complex"},
    ),
    "100,000 namespaces.docx": (
        "docx",
        lambda _: docx_with(document("<w:p " + " ".join(f'xmlns:n{n}="u:{n}"' for n in range(100_000)) + "/>")),
        {"read", "broken", "complex"},
    ),
    "an attribute of 30 MB.docx": (
        "docx",
        lambda _: docx_with(document(f'<w:p w:rsidR="{"ab" * 15_000_000}"/>')),
        {"broken", "large"},
    ),
    "a word of 9 MB.docx": (
        "docx",
        lambda _: docx_with(
            document(
                "<w:p><w:r><w:t>"
                + base64.b64encode(zlib.compress(b"a") * 500_000).decode()[:9_000_000]
                + "</w:t></w:r></w:p>"
            )
        ),
        {"read", "large"},
    ),
    "an unknown encoding.docx": (
        "docx",
        lambda _: docx_with(document("", before='<?xml version="1.0" encoding="utf-7"?>')),
        {"read", "broken"},
    ),
    "zeros in the text.docx": ("docx", lambda _: docx_with(document("<w:p>\0</w:p>")), {"broken"}),
}
