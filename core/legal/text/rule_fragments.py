"""Fragments of a rule: a case or a party of which nothing is said, as in 发行类别股的公司."""

from __future__ import annotations

import re

from core.legal.text.rule_comparison import contained_share, split_rules

_CLAUSE = re.compile("[，,：:。；;\n]+")
_CASE = re.compile("(?:的|的话|时|之?后|之?前|情况下)$")
_DUTY = re.compile(
    "应|可以|不得|必须|有权|无权|禁止|[须需]|不能|能够|视为|属于|包括|是指|限于|无效|承担|免除|处罚|罚款|[没未不]|[是为由]"
)
"""What says something of a party or of a case."""
_STRONG_DUTY = re.compile("应当|应该|可以|不得|必须|有权|无权|禁止|视为|属于|包括|是指")
"""The same, which hardly stands in an attribute: 应当承担相应的责任."""


def is_fragment(claim: str, article: str) -> bool:
    """Return whether a claim stops before it says what the article provides."""
    clauses = [clause for clause in map(str.strip, _CLAUSE.split(claim)) if clause]
    whole = [clause for clause in clauses if not _CASE.search(clause)]
    if not whole:
        return True
    if not all("的" in clause and not _says_something(clause) for clause in whole):
        return False
    rule = max(split_rules(article), key=lambda rule: contained_share(claim, rule), default="")
    return _DUTY.search(rule[_end_in(rule, whole[-1]) :]) is not None


def _says_something(clause: str) -> bool:
    return bool(_STRONG_DUTY.search(clause) or _DUTY.search(clause.rpartition("的")[2]))


def _end_in(rule: str, clause: str) -> int:
    """Return where the last letters of a clause end in a rule; its length if they do not stand there."""
    last = clause.strip()[-2:]
    at = rule.find(last)
    return at + len(last) if at >= 0 else len(rule)
