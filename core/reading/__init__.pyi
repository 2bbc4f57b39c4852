from .attached_files import is_attachment
from .charset_detection import decode_body
from .errors import FileError, ReadingError
from .extraction_types import DocumentComment
from .file_kinds import FILE_KINDS, KINDS_IN_WORDS, UPLOAD_KINDS
from .file_parts import FilePart
from .file_reading import FileReading
from .outline import outline, places_between
from .page import Page, PageKind
from .passages import PASSAGE_CHARS, Passage, RankedPassages, Span, select_passages
from .prompt_injection import count_instructions
from .reader import MAX_SCANNED_PAGES, Reader, ReadOutcome
from .recognition_types import RecognizedPage
from .recognized_text import with_recognized
from .recognizer import is_recognition_installed
from .section_codec import decode_sections, encode_sections
from .sections import Place, SectionKind, TextSection, place_at, section_label
from .settings import ReadingSettings

__all__ = [
    "FILE_KINDS",
    "KINDS_IN_WORDS",
    "MAX_SCANNED_PAGES",
    "PASSAGE_CHARS",
    "UPLOAD_KINDS",
    "DocumentComment",
    "FileError",
    "FilePart",
    "FileReading",
    "Page",
    "PageKind",
    "Passage",
    "Place",
    "RankedPassages",
    "ReadOutcome",
    "Reader",
    "ReadingError",
    "ReadingSettings",
    "RecognizedPage",
    "SectionKind",
    "Span",
    "TextSection",
    "count_instructions",
    "decode_body",
    "decode_sections",
    "encode_sections",
    "is_attachment",
    "is_recognition_installed",
    "outline",
    "place_at",
    "places_between",
    "section_label",
    "select_passages",
    "with_recognized",
]
