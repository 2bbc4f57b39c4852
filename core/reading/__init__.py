"""Reading of pages and files: an address or a file becomes a text, a day and passages that can be cited.

    reader = Reader.from_settings(settings)
page = reader.read("https://example.com/news", deadline=Deadline(reader.timeout))  # or raises ReadingError for passage
in select_passages(page, question, snippet=snippet, budget=1_200): ... page = reader.read_file("合同.docx", body)  # or
raises FileError

Everything that comes from outside is hostile: the address (download.py), the bytes (worker.py), the text (page.py).
"""

from core.reading.errors import FileError, ReadingError
from core.reading.page import Page, PageKind
from core.reading.passages import Passage, select_passages
from core.reading.reader import Reader, ReadOutcome
from core.reading.settings import ReadingSettings

__all__ = [
    "FileError",
    "Page",
    "PageKind",
    "Passage",
    "ReadOutcome",
    "Reader",
    "ReadingError",
    "ReadingSettings",
    "select_passages",
]
