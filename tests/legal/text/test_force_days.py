"""The list of days of force: well formed, and never against what a corpus states."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from core.legal.entities import Law
from core.legal.layouts import corpora
from core.legal.text.force_days import _STATED, stated_force_day
from core.legal.text.law_names import law_key


def test_each_version_is_listed_once_under_the_name_that_is_looked_up() -> None:
    listed = [(name, decided) for decided, _, names in _STATED for name in names.split()]
    assert len(listed) == len(set(listed))
    assert [name for name, _ in listed if law_key(name) != name] == []
    assert all(date.fromisoformat(decided) <= date.fromisoformat(force) for decided, force, _ in _STATED)


def test_another_version_is_unknown() -> None:
    assert stated_force_day("劳动合同法", "2012-12-28") == "2013-07-01"
    assert stated_force_day("劳动合同法", "2007-06-29") is None
    assert stated_force_day("劳动合同法", None) is None


def test_it_agrees_with_what_a_corpus_states(shared: Path) -> None:
    source = shared / "data/legal/lawrefbook-national.tar.xz"
    laws = [one for one in corpora.read(source, corpora.survey(source)) if isinstance(one, Law)]
    stated = {(law_key(law.name), law.published): law.effective for law in laws if law.effective}
    both = [(version, day, listed) for version, day in stated.items() if (listed := stated_force_day(*version))]
    assert len(both) > 40
    assert [entry for entry in both if entry[1] != entry[2]] == []
