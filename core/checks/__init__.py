"""Checks whether the sources of an answer say what the answer says. No model is asked, and nothing is looked up.

`check_answer(text, sources)` checks every cited statement, `check_statement(statement, sources)` one. The modules
`numbers`, `stated_dates` and `wording` compare texts without any source, for other checks.
"""

from core.answer.check_results import (
    CHECKER_VERSION,
    AnswerCheck,
    CitationCheck,
    Difference,
    QuotedPassage,
    SourceCheck,
    SourceText,
    StatementCheck,
    UncitedStatement,
    Verdict,
)
from core.checks.check import check_answer, check_statement, find_objection

__all__ = [
    "CHECKER_VERSION",
    "AnswerCheck",
    "CitationCheck",
    "Difference",
    "QuotedPassage",
    "SourceCheck",
    "SourceText",
    "StatementCheck",
    "UncitedStatement",
    "Verdict",
    "check_answer",
    "check_statement",
    "find_objection",
]
