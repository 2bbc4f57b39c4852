from .check import CheckMemory, check_answer, check_statement
from .errors import CheckInputError
from .input_files import check_pair, read_address_sources, read_folder_sources
from .meaning import MeaningComparison
from .quotation_rules import find_objection, is_about
from .uncertain_values import leave_uncertain

__all__ = [
    "CheckInputError",
    "CheckMemory",
    "MeaningComparison",
    "check_answer",
    "check_pair",
    "check_statement",
    "find_objection",
    "is_about",
    "leave_uncertain",
    "read_address_sources",
    "read_folder_sources",
]
