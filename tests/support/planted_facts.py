"""Twenty PDF files in the layouts of real ones, with ten facts each whose pages are known."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import product
from random import Random
from typing import NamedTuple

from support.pdf_files import A4, PlacedLine, placed_pdf

FACTS_PER_FILE = 10
LEFT, RIGHT, TOP, LINE = 56.0, 306.0, 770.0, 15.0
CELL, ROW = 130.0, 22.0
LETTERS = 9.0
"""Every letter of the font is as wide as it is high."""
WIDE = 52
"""Letters of a line across the page."""
NARROW = 24

_NAMES = {
    "北岬": "Beijia",
    "南湾": "Nanwan",
    "鹿角": "Lujiao",
    "白沙": "Baisha",
    "龟背": "Guibei",
    "鹰嘴": "Yingzui",
    "月牙": "Yueya",
    "望潮": "Wangchao",
    "石浦": "Shipu",
    "青礁": "Qingjiao",
    "双屿": "Shuangyu",
    "落星": "Luoxing",
    "长滩": "Changtan",
    "铜山": "Tongshan",
    "东屏": "Dongping",
    "黄崖": "Huangya",
    "古雷": "Gulei",
    "平川": "Pingchuan",
    "马鞍": "Maan",
    "玉环": "Yuhuan",
}
_TRAITS = {
    "塔高": ("米", 12, 80),
    "造价": ("万元", 60, 900),
    "射程": ("海里", 8, 30),
    "守塔人数": ("人", 2, 40),
    "灯泡功率": ("瓦", 100, 2_000),
    "检修周期": ("天", 20, 400),
    "电缆长度": ("米", 200, 6_000),
    "年度预算": ("万元", 30, 700),
}
_ENGLISH = {"塔高": "tower height", "射程": "range", "灯泡功率": "lamp power", "检修周期": "service interval"}
_ENGLISH_UNITS = {"米": "metres", "海里": "nautical miles", "瓦": "watts", "天": "days"}
_FILL = (
    "航标处每季度检查一次设备，记录保存十年。",
    "本节说明灯塔的日常维护，具体安排由各站自行制定。",
    "遇有大雾时，值班人员应当提前开灯，并通知港务局。",
    "上述费用由海州市财政承担，专款专用。",
    "备件应当存放在干燥的库房，每年盘点两次。",
    "新设备试运行期间，旧设备不得拆除。",
    "发现故障的，应当在两小时内报告，并填写登记表。",
)
_ENGLISH_FILL = (
    "The equipment is checked every quarter and the records are kept for ten years.",
    "In dense fog the keepers light the lamp early and tell the harbour office.",
    "Spare parts are kept in a dry store and counted twice a year.",
)


class PlantedFact(NamedTuple):
    statement: str
    """As an answer says it."""
    page: int


class PlantedFile(NamedTuple):
    layout: str
    body: bytes
    facts: Sequence[PlantedFact]


class Fact(NamedTuple):
    name: str
    trait: str
    value: str
    unit: str

    @property
    def words(self) -> str:
        return f"{self.name}灯塔的{self.trait}为 {self.value} {self.unit}"


Pages = list[list[str]]
Say = Callable[[Fact], tuple[str, str]]
"""Returns a fact as the paragraph that says it, and as an answer says it."""


def planted_files() -> list[PlantedFile]:
    return [_planted(Random(seed), *_LAYOUTS[seed % len(_LAYOUTS)]) for seed in range(20)]


def _planted(random: Random, layout: str, say: Say, draw: Callable[[Pages], bytes], gaps: int) -> PlantedFile:
    """Return a file with the facts on some of its pages, and so many pages without text between them. On other pages the same
    is said with other values, as of other years."""
    fill = _ENGLISH_FILL if say is _in_english else _FILL
    count = random.randint(8, 30)
    empty = set(random.sample(range(1, count), gaps))
    filled = [number for number in range(count) if number not in empty]
    pages: Pages = [random.choices(fill, k=random.randint(6, 12)) if n in filled else [] for n in range(count)]
    facts = []
    for fact in _facts(random, _ENGLISH if say is _in_english else _TRAITS):
        number = random.choice(filled)
        paragraph, statement = say(fact)
        pages[number].insert(random.randint(0, len(pages[number])), paragraph)
        facts.append(PlantedFact(statement, number + 1))
        other, _ = say(_fact(random, fact.name, fact.trait))
        if other != paragraph:
            pages[random.choice(filled)].append(other)
    return PlantedFile(layout, draw(pages), facts)


def _facts(random: Random, traits: Collection[str]) -> list[Fact]:
    """Return facts that share names and traits with each other: only the whole sentence tells them apart."""
    pairs = list(product(random.sample(sorted(_NAMES), 5), random.sample(sorted(traits), 4)))
    return [_fact(random, *pair) for pair in random.sample(pairs, FACTS_PER_FILE)]


def _fact(random: Random, name: str, trait: str) -> Fact:
    unit, least, most = _TRAITS[trait]
    return Fact(name, trait, f"{random.randint(least, most):,}", unit)


# ── What a fact says ──────────────────────────────────────────────────────────────────────────────────────────────────


def _plainly(fact: Fact) -> tuple[str, str]:
    return f"{fact.words}，由海州市航标处核定。", fact.words


def _with_a_condition(fact: Fact) -> tuple[str, str]:
    """The check leaves such a sentence open: the answer does not say the condition."""
    return f"经核定，{fact.words}，自二〇二五年起执行。", fact.words


def _in_passing(fact: Fact) -> tuple[str, str]:
    said = f"{fact.name}灯塔建在岬角上，{fact.trait}为 {fact.value} {fact.unit}，附近没有其他建筑。"
    return said, fact.words


def _with_latin(fact: Fact) -> tuple[str, str]:
    return (
        f"{fact.name}灯塔（{_NAMES[fact.name]} Light，LED 型）的{fact.trait}为 {fact.value} {fact.unit}。",
        fact.words,
    )


def _in_english(fact: Fact) -> tuple[str, str]:
    said = f"The {_ENGLISH[fact.trait]} of {_NAMES[fact.name]} Light is {fact.value} {_ENGLISH_UNITS[fact.unit]}"
    return f"{said}.", said


def _as_row(fact: Fact) -> tuple[str, str]:
    return f"{fact.name}灯塔\t{fact.trait}\t{fact.value} {fact.unit}", fact.words


# ── Layouts ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _wrapped(paragraphs: Sequence[str], width: int) -> list[str]:
    return [one[start : start + width] for one in paragraphs for start in range(0, len(one), width)]


def _column(lines: Sequence[str], x: float = LEFT, top: float = TOP) -> list[PlacedLine]:
    return [(x, top - LINE * number, line) for number, line in enumerate(lines)]


def _one_column(pages: Pages) -> bytes:
    return placed_pdf(*(_column(_wrapped(page, WIDE)) for page in pages), letters=LETTERS)


def _two_columns(pages: Pages) -> bytes:
    """The right column follows the left one, in which a sentence may begin."""
    drawn = []
    for page in pages:
        lines = _wrapped(page, NARROW)
        half = (len(lines) + 1) // 2
        drawn.append(_column(lines[:half]) + _column(lines[half:], RIGHT))
    return placed_pdf(*drawn, letters=LETTERS)


def _lines_across_columns(pages: Pages) -> bytes:
    """A line of the left column, then one of the right column, as programs write that know no columns."""
    drawn = []
    for page in pages:
        lines = _wrapped(page, NARROW)
        half = (len(lines) + 1) // 2
        both = zip(_column(lines[:half]), [*_column(lines[half:], RIGHT), None], strict=False)
        drawn.append([line for pair in both for line in pair if line])
    return placed_pdf(*drawn, letters=LETTERS)


def _with_headers(pages: Pages) -> bytes:
    """Each page has the file's name above and its number below; on every second page they are written first."""
    drawn = []
    for number, page in enumerate(pages, 1):
        edges = [(LEFT, 805.0, "海州市航标处 灯塔年报"), (A4[0] / 2, 40.0, f"— {number} —")]
        lines = _column(_wrapped(page, WIDE))
        drawn.append([*edges, *lines] if number % 2 else [*lines, *edges])
    return placed_pdf(*drawn, letters=LETTERS)


def _tables(pages: Pages) -> bytes:
    """Rows are written cell by cell, below the same head on each page."""
    return placed_pdf(
        *(
            [
                (LEFT + CELL * column, TOP - ROW * row, cell)
                for row, line in enumerate(["灯塔\t项目\t数值", *page])
                for column, cell in enumerate(line.split("\t"))
            ]
            for page in pages
        ),
        letters=LETTERS,
    )


_LAYOUTS: Sequence[tuple[str, Say, Callable[[Pages], bytes], int]] = (
    ("one column", _plainly, _one_column, 0),
    ("two columns", _plainly, _two_columns, 0),
    ("two columns, said in passing", _in_passing, _two_columns, 0),
    ("headers and footers", _in_passing, _with_headers, 0),
    ("lines across columns", _plainly, _lines_across_columns, 0),
    ("pages without text", _with_a_condition, _one_column, 5),
    ("Chinese and Latin letters", _with_latin, _one_column, 2),
    ("English", _in_english, _with_headers, 0),
    ("tables", _as_row, _tables, 0),
)
