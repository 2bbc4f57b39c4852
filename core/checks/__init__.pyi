from .alignment import is_about, says_the_same
from .check import CheckMemory, check_answer, check_statement, find_objection
from .errors import CheckInputError
from .input_files import check_pair, read_address_sources, read_folder_sources, read_text

__all__ = [
    "CheckInputError",
    "CheckMemory",
    "check_answer",
    "check_pair",
    "check_statement",
    "find_objection",
    "is_about",
    "read_address_sources",
    "read_folder_sources",
    "read_text",
    "says_the_same",
]
