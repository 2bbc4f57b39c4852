"""Kinds of files: those that are read, and those that are known by their bytes, so that a sentence can say what to do."""

from __future__ import annotations

from typing import Literal, NamedTuple

FILE_KINDS = (
    *("pdf", "docx", "docm", "pptx", "pptm", "ppsx", "xlsx", "xlsm", "csv", "tsv", "html", "htm", "xhtml"),
    *("epub", "eml", "md", "markdown", "txt", "png", "jpg", "jpeg", "webp", "bmp", "tif", "tiff"),
)
"""Endings of the names of files that are read: at the input, in the library and on the command line."""
KINDS_IN_WORDS = (
    "PDF、Word（docx）、PowerPoint（pptx）、Excel（xlsx）、CSV、网页（html）、EPUB、邮件（eml）、Markdown、txt 和图片"
)
PICTURE_KINDS = frozenset({"png", "jpg", "jpeg", "webp", "bmp", "tif", "tiff"})

OtherKind = Literal[
    "doc", "xls", "ppt", "msg", "rtf", "xlsb", "wps", "iwork", "opendocument", "ofd", "ebook", "archive"
]


class OtherFile(NamedTuple):
    """A kind of file that is not read."""

    name: str
    advice: str
    endings: tuple[str, ...]


OTHER_FILES: dict[OtherKind, OtherFile] = {
    "doc": OtherFile("旧版 Word 文件（.doc）", "请用 Word 或 WPS 打开，另存为 .docx 再试。", ("doc", "dot")),
    "xls": OtherFile("旧版 Excel 文件（.xls）", "请用 Excel 或 WPS 打开，另存为 .xlsx 再试。", ("xls", "xlt")),
    "ppt": OtherFile(
        "旧版 PowerPoint 文件（.ppt）", "请用 PowerPoint 或 WPS 打开，另存为 .pptx 再试。", ("ppt", "pps")
    ),
    "msg": OtherFile("Outlook 邮件（.msg）", "请在 Outlook 里另存为 .eml，或者存为 PDF 再试。", ("msg",)),
    "rtf": OtherFile("RTF 文件", "请用 Word 或 WPS 打开，另存为 .docx 再试。", ("rtf",)),
    "xlsb": OtherFile("二进制的 Excel 文件（.xlsb）", "请用 Excel 打开，另存为 .xlsx 再试。", ("xlsb",)),
    "wps": OtherFile(
        "WPS 自己的格式（.wps、.et、.dps）", "请用 WPS 打开，另存为 .docx、.xlsx 或 .pptx 再试。", ("wps", "et", "dps")
    ),
    "iwork": OtherFile(
        "苹果 iWork 文件（.pages、.numbers、.key）",
        "请在原来的软件里导出为 PDF 或 Office 格式再试。",
        ("pages", "numbers", "key"),
    ),
    "opendocument": OtherFile(
        "OpenDocument 文件（.odt、.ods、.odp）",
        "请用 LibreOffice 或 WPS 打开，另存为 .docx、.xlsx 或 .pptx 再试。",
        ("odt", "ods", "odp"),
    ),
    "ofd": OtherFile("OFD 版式文件", "请用 OFD 阅读器打开，转换为 PDF 再试。", ("ofd",)),
    "ebook": OtherFile(
        "别的电子书或论文格式（如 .mobi、.azw3、.caj、.djvu）",
        "请转换为 EPUB 或 PDF 再试。",
        ("mobi", "azw", "azw3", "caj", "kdh", "nh", "djvu"),
    ),
    "archive": OtherFile("压缩包", "请先解压，再选里面的文件。", ("zip", "rar", "7z", "gz", "tgz", "bz2", "xz", "tar")),
}
UPLOAD_KINDS = (*FILE_KINDS, *(ending for kind in OTHER_FILES.values() for ending in kind.endings))
"""Endings of the names of files that may be chosen: for those that are not read, a sentence says what to do."""

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""The container of Office before 2007, and of newer files that are encrypted."""
_STREAMS: tuple[tuple[str, OtherKind | Literal["locked"]], ...] = (
    ("EncryptedPackage", "locked"),
    ("__properties_version1.0", "msg"),
    ("PowerPoint Document", "ppt"),
    ("WordDocument", "doc"),
    ("Workbook", "xls"),
    ("Book", "xls"),
)
_BEGINNINGS: tuple[tuple[bytes, OtherKind], ...] = (
    (b"{\\rtf", "rtf"),
    (b"Rar!", "archive"),
    (b"7z\xbc\xaf\x27\x1c", "archive"),
    (b"\x1f\x8b", "archive"),
    (b"BZh", "archive"),
    (b"\xfd7zXZ", "archive"),
    (b"PK\x05\x06", "archive"),
    (b"CAJ\0", "ebook"),
    (b"HN\0\0", "ebook"),
    (b"KDH ", "ebook"),
    (b"AT&TFORM", "ebook"),
)
_MOBI, _MOBI_AT = b"BOOKMOBI", 60
_TAR, _TAR_AT = b"ustar", 257
_PICTURES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF8", b"II*\0", b"MM\0*")


def is_ole(body: bytes) -> bool:
    """Return whether the bytes are the container of old Office files."""
    return body.startswith(_OLE)


def other_kind(body: bytes) -> OtherKind | Literal["locked"] | None:
    """Return what a file that is not read is, by its bytes; "locked" if it has a password. None if it is something else."""
    if is_ole(body):
        return next((kind for name, kind in _STREAMS if name.encode("utf-16-le") in body), "doc")
    if body.startswith(_MOBI, _MOBI_AT):
        return "ebook"
    if body.startswith(_TAR, _TAR_AT):
        return "archive"
    return next((kind for beginning, kind in _BEGINNINGS if body.startswith(beginning)), None)


def is_picture(body: bytes) -> bool:
    """Return whether the bytes begin as a picture does."""
    is_webp = body.startswith(b"RIFF") and body.startswith(b"WEBP", 8)
    return body.startswith(_PICTURES) or is_webp or (body.startswith(b"BM") and body[6:10] == bytes(4))
