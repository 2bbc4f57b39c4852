from . import numbers, stated_dates
from .agreement import MAX_CLAUSES, Agreement, Chain, ParsedClauses, StatementAlignment
from .alignment import ClauseMatch, Objection, Words
from .differences import Contradiction
from .lexicon import ADDED, DROPPED
from .passages import Passage, PassageClause, read_clauses
from .words import Word

__all__ = [
    "ADDED",
    "DROPPED",
    "MAX_CLAUSES",
    "Agreement",
    "Chain",
    "ClauseMatch",
    "Contradiction",
    "Objection",
    "ParsedClauses",
    "Passage",
    "PassageClause",
    "StatementAlignment",
    "Word",
    "Words",
    "numbers",
    "read_clauses",
    "stated_dates",
]
