"""The order of what a search finds."""

from __future__ import annotations

import pytest

from core.base.fusion import fuse_scores
from core.legal.entities import LawKind, LawStatus
from core.legal.library import ranking


def test_what_fits_by_words_and_by_meaning_comes_first() -> None:
    fused = fuse_scores({1: 8.0, 2: 7.0}, {2: 0.9, 3: 0.8, 4: 0.7})
    assert sorted(fused, key=lambda identity: -fused[identity]) == [2, 1, 3, 4]


def test_several_wordings_agree_on_what_none_of_them_puts_first() -> None:
    assert ranking.fuse_rankings([[1, 2, 3], [4, 2, 5]], 1) == [2]


def test_no_other_wording_displaces_the_first_hits_of_the_first() -> None:
    own, others = [*range(1, 11)], [[*range(20, 40)], [*range(20, 40)], [*range(20, 25)]]
    fused = ranking.fuse_rankings([own, *others], 10)
    assert fused[0] == 20
    assert [one for one in fused if one in own] == [1, 2, 3]
    assert len(fused) == 10


def test_an_article_gives_a_part_of_its_score_to_those_it_names() -> None:
    """The best of those that name it counts, and nobody passes the one that names it."""
    scores = ranking.add_referred({1: 10.0, 2: 8.0, 3: 1.0}, {1: [3, 4], 2: [4]})
    assert scores == {1: 10.0, 2: 8.0, 3: 5.0, 4: 4.0}
    assert ranking.best_first(scores) == [1, 2, 3, 4]


def test_a_law_out_of_force_weighs_half() -> None:
    in_force, repealed = (
        ranking.law_weight(LawKind.STATUTE, "灯塔法", one) for one in (LawStatus.IN_FORCE, LawStatus.REPEALED)
    )
    assert repealed == in_force / 2


def test_characters_of_the_question_count_where_its_pairs_differ() -> None:
    covered = ranking.coverages({1: "赠送灯塔的人", 2: "看守灯塔的人"}, ["送了", "灯塔"])
    assert covered[1] > covered[2] > 0


def test_characters_of_few_texts_weigh_more() -> None:
    covered = ranking.coverages({1: "灯", 2: "灯", 3: "灯", 4: "塔"}, ["灯塔"])
    assert covered[4] > covered[1]


@pytest.mark.parametrize(("terms", "share"), [(["灯塔"], 1.0), (["浮标"], 0.0), (["gps"], 0.0), ([], 0.0)])
def test_the_share_of_the_characters_that_occur(terms: list[str], share: float) -> None:
    assert ranking.coverages({1: "灯塔由人看守, gs, p"}, terms) == {1: pytest.approx(share)}


def test_a_lease_is_not_a_financial_lease() -> None:
    financial = "第十五章 融资租赁合同承租人应当按照约定支付租金。"
    assert ranking.kind_weight("租赁合同的租金怎么付", financial) < 1
    assert ranking.kind_weight("融资租赁合同的租金怎么付", financial) == 1
    assert ranking.kind_weight("租赁合同的租金怎么付", "第十四章 租赁合同承租人应当按照约定的期限支付租金。") == 1
