"""合同审查: clauses in many wordings, and near misses about which nothing may be said."""

from __future__ import annotations

import pytest

from core.legal.contracts.review import ContractReviewer
from support import contracts
from support.contract_wordings import WORDINGS


@pytest.fixture(scope="module")
def reviewer(tmp_path_factory: pytest.TempPathFactory) -> ContractReviewer:
    return ContractReviewer(contracts.quoted_laws(tmp_path_factory.mktemp("wordings")))


def said(reviewer: ContractReviewer, contract: str, clause: str) -> set[str]:
    found = reviewer.review(contract.replace("{clause}", clause))
    assert found is not None
    return {one.rule for one in found.findings}


@pytest.mark.parametrize(
    ("rules", "contract", "clause"), [(one.rules, one.contract, clause) for one in WORDINGS for clause in one.faulty]
)
def test_a_fault_is_found_in_any_wording(reviewer: ContractReviewer, rules: str, contract: str, clause: str) -> None:
    assert said(reviewer, contract, clause) & set(rules.split("|"))


@pytest.mark.parametrize(("contract", "clause"), [(one.contract, clause) for one in WORDINGS for clause in one.sound])
def test_nothing_is_said_about_a_near_miss(reviewer: ContractReviewer, contract: str, clause: str) -> None:
    assert said(reviewer, contract, clause) == set()
