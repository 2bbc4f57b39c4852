from . import numbers, stated_dates
from .agreement import MAX_CLAUSES, Agreement, Chain, ParsedClauses, StatementAlignment
from .alignment import ClauseMatch, EqualRun, Objection, Words, align
from .differences import Contradiction
from .lexicon import ADDED, DROPPED
from .passages import ClauseSequence, PassageClause, read_clauses
from .words import Word

__all__ = [
    "ADDED",
    "DROPPED",
    "MAX_CLAUSES",
    "Agreement",
    "Chain",
    "ClauseMatch",
    "ClauseSequence",
    "Contradiction",
    "EqualRun",
    "Objection",
    "ParsedClauses",
    "PassageClause",
    "StatementAlignment",
    "Word",
    "Words",
    "align",
    "numbers",
    "read_clauses",
    "stated_dates",
]
