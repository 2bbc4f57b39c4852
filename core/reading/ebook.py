"""Books (.epub): their chapters in the order of the spine. This runs only in a worker: the file is untrusted."""

from __future__ import annotations

from collections.abc import Iterator

from lxml.etree import _Element as Element

from core.base.chinese.calendar import iso_day
from core.base.text import one_line
from core.reading.extraction_types import ExtractedText, NotReadable
from core.reading.html_blocks import add_blocks, parse_markup
from core.reading.packed_files import PackedFile, join_name
from core.reading.text_builder import TextBuilder

CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_FONT_METHODS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
"""Methods by which only fonts are encrypted, in books that everybody may read."""
MAX_CHAPTERS = 3_000
_MARKUP = {"application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document"}


def read_epub(packed: PackedFile, *, max_text: int) -> ExtractedText:
    """Return the chapters. Raise NotReadable."""
    if _is_locked(packed):
        raise NotReadable("locked")
    package = next((one.get("full-path", "") for one in packed.parse(CONTAINER).iter("{*}rootfile")), "")
    book = packed.parse(package)
    builder, number, is_cut = TextBuilder(), 0, False
    for part in _chapters(book, package.rpartition("/")[0]):
        if part not in packed.names:
            continue
        if builder.length > max_text:
            is_cut = True
            break
        chapter = _chapter(packed.read(part))
        if chapter.length:
            number += 1
            heading = next(iter(chapter.sections), None)
            begins_with_it = heading is not None and not heading.start
            title = heading.title if heading else ""
            builder.begin("chapter", number=number, title=title, first_line=0 if begins_with_it else 1)
            builder.add_text(chapter.text, chapter.sections)
            builder.add_line()
    about = {name: one_line(book.findtext(f".//{{*}}{name}") or "") for name in ("title", "date")}
    changed = (one.text or "" for one in book.iter("{*}meta") if one.get("property") == "dcterms:modified")
    return ExtractedText(
        "epub",
        builder.text,
        title=about["title"],
        sections=builder.sections if number else (),
        modified=iso_day(next(changed, about["date"])[:10]),
        is_cut=is_cut,
    )


def _is_locked(packed: PackedFile) -> bool:
    if _ENCRYPTION not in packed.names:
        return False
    methods = (one.get("Algorithm", "") for one in packed.parse(_ENCRYPTION).iter("{*}EncryptionMethod"))
    return any(method not in _FONT_METHODS for method in methods)


def _chapters(book: Element, folder: str) -> Iterator[str]:
    """Yield the names of the parts of the spine, each once. Raise NotReadable."""
    items = {item.get("id", ""): item for item in book.iter("{*}item")}
    seen = set[str]()
    for reference in book.iter("{*}itemref"):
        item = items.get(reference.get("idref", ""))
        if item is None or item.get("media-type", "") not in _MARKUP or "nav" in item.get("properties", "").split():
            continue
        part = join_name(folder, item.get("href", ""))
        if part not in seen:
            seen.add(part)
            yield part
        if len(seen) > MAX_CHAPTERS:
            raise NotReadable("complex")


def _chapter(body: bytes) -> TextBuilder:
    chapter = TextBuilder()
    try:
        add_blocks(parse_markup(body), chapter)
    except NotReadable as error:
        if error.reason != "empty":
            raise
    return chapter
