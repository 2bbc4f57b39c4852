"""Version of a law that was in force at a time (行为时法). A note says what the library cannot tell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.legal.library.index import LegalIndex
from core.legal.library.law_index import LawVersion
from core.legal.text.dates import are_close
from core.legal.text.periods import Period


@dataclass(frozen=True, slots=True)
class VersionOnDay:
    """Version of a law for a time."""

    law: LawVersion
    """The version in force then, or the nearest one in the library."""
    is_exact: bool
    note: str = ""
    """Note for the reader about the choice of version."""


def version_on(index: LegalIndex, key: str, period: Period) -> VersionOnDay:
    """Return the version of a law that was in force in a period. The index must hold the law."""
    versions = index.versions(key)
    dated = sorted((one for one in versions if one.begins), key=lambda one: one.begins)
    if not dated:
        return VersionOnDay(versions[0], False, "库中这份文件没有日期，不能按日期选择版本。")
    before = [one for one in dated if one.begins <= period.last]
    if not before:
        return VersionOnDay(dated[0], False, _not_yet_note(dated[0], period))
    law = before[-1]
    if law.begins > period.first:
        older = f"此前是 {before[-2].published} 公布的版本" if len(before) > 1 else "库中没有此前的版本"
        return VersionOnDay(law, False, f"{period.spaced}之内有变动：{_force_note(law)}，{older}。请写明是哪一天。")
    if missing := [day for day in missing_amendments(versions) if (law.published or law.begins) < day <= period.last]:
        return VersionOnDay(law, False, f"库中没有 {missing[-1]} 修改后的版本，这是此前 {law.published} 公布的文本。")
    return VersionOnDay(law, True, "".join(_remarks(index, law, period)))


def _not_yet_note(first: LawVersion, period: Period) -> str:
    if first.history and first.history[0] > period.last:
        return f"{period.spaced}时还没有这部法规：它 {first.history[0]} 制定，{_force_note(first)}。"
    if first.history and first.published and are_close(first.history[0], first.published):
        return f"{period.spaced}时它还没有施行：{first.history[0]} 制定，{_force_note(first)}。"
    return f"库中没有 {period.spaced}施行的版本，最早的一版 {_force_note(first)}。"


def _force_note(law: LawVersion) -> str:
    return f"{law.effective} 起施行" if law.effective else f"{law.published} 公布，施行日期库中没有"


def _remarks(index: LegalIndex, law: LawVersion, period: Period) -> Iterator[str]:
    if law != index.current(law.key):
        yield f"这是 {period.spaced}施行的版本（{law.published or law.effective} 公布），不是现行文本。"
    if law.effective is None:
        yield "它的施行日期库中没有，按公布日期选择。"
    if index.repeal(law.key):
        yield repeal_note(index, law.key, period)
    elif law.repealed and law == index.current(law.key):
        yield "它后来已废止，废止日期库中没有。"


def repeal_note(index: LegalIndex, key: str, period: Period) -> str:
    """Return a note on whether a repealed law was in force in the period. Empty if it was not repealed."""
    repeal = index.repeal(key)
    if repeal is None:
        return ""
    by = f"《{index.version(repeal.law_id).name}》{repeal.number}"
    if repeal.since <= period.first:
        return f"{period.spaced}时它已由{by}废止（{repeal.since} 起）。"
    return f"{period.spaced}时它仍然有效，{repeal.since} 起由{by}废止。"


def missing_amendments(versions: Sequence[LawVersion]) -> list[str]:
    """Return the days on which the law was made or amended and for which the library has no text."""
    dates = [day for one in versions for day in (one.published, one.effective) if day]
    days = {day for one in versions for day in one.history}
    return sorted(day for day in days if not any(are_close(day, other) for other in dates))
