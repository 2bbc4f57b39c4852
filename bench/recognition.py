"""Text recognized on invented pages that were printed and scanned badly: errors, seconds and memory."""

from __future__ import annotations

import io
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path
from statistics import median

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

from bench.rows import Row

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from core.base.http import Deadline
from core.reading.pictures import Picture
from core.reading.recognized_text import recognized_page
from core.reading.recognizer import Recognizer, is_recognition_installed

NEEDS = "requirements-ocr.txt and fonts-noto-cjk"
PAGES = 20
A4 = (1_654, 2_339)
_DPI = 200
_FOLDER = Path("/usr/share/fonts")
_WHO = [
    "灯塔管理处",
    "守塔人",
    "港务公司",
    "航标维护队",
    "海事仓库",
    "值班员",
    "承租方",
    "出租方",
    "供货商",
    "监理单位",
    "财务部门",
    "潮汐站",
]
_WHEN = ["应当在", "可以于", "须于", "已经在", "不得晚于", "计划在"]
_WHAT = [
    "完成灯笼室的检修",
    "支付剩余的货款",
    "提交年度巡查报告",
    "更换主灯的镜片",
    "交付备用发电机",
    "清点库存的缆绳",
    "归还借用的望远镜",
    "核对上一季度的账目",
    "通知全部的船东",
    "封存旧的航海日志",
]
_SAME = str.maketrans("，；：（）！？", ",;:()!?")
"""Marks whose width a reader cannot see."""


@dataclass(frozen=True)
class Degradation:
    """How a page was scanned. Each page takes its own values between these."""

    name: str
    turn: float
    blur: tuple[float, float]
    scale: tuple[float, float]
    contrast: tuple[float, float]
    noise: tuple[float, float]
    quality: tuple[int, int]


OFFICE = Degradation("office scan", 1.2, (0.4, 1.1), (0.8, 1.0), (0.55, 0.9), (4, 14), (40, 75))
BAD = Degradation("bad copy", 1.5, (0.8, 1.6), (0.3, 0.5), (0.4, 0.7), (8, 20), (25, 50))


@dataclass
class Tally:
    characters: int = 0
    errors: int = 0
    digits: int = 0
    digit_errors: int = 0
    """Digits that are missing, too many or others."""
    certain: int = 0
    certain_errors: int = 0


def rows() -> Iterator[Row]:
    if not is_recognition_installed() or not next(_FOLDER.rglob("NotoSerifCJK-Regular.ttc"), None):
        return
    recognizer = Recognizer()
    try:
        seconds: list[float] = []
        for degradation in (OFFICE, BAD):
            tally = Tally()
            for number in range(PAGES):
                seconds.append(_recognize_page(recognizer, number, degradation, tally))
            yield from _figures(degradation, tally)
        yield Row("a dense page, processor time, median", median(seconds), "s", 6.0)
        yield Row("the slowest page", max(seconds), "s", 10.0)
        yield Row("largest resident memory of the process", _peak(recognizer), "MB", 800)
    finally:
        recognizer.close()


def _figures(degradation: Degradation, tally: Tally) -> Iterator[Row]:
    is_target = degradation is OFFICE
    name = f"{degradation.name}, {PAGES} pages"
    yield Row(f"{name}: wrong characters", tally.errors / tally.characters, "of 1", 0.005 if is_target else None)
    right = 1 - tally.digit_errors / tally.digits
    yield Row(
        f"{name}: right digits, of all {tally.digits:,}", right, "of 1", 0.995 if is_target else None, at_least=True
    )
    right = 1 - tally.certain_errors / tally.certain
    yield Row(f"{name}: right digits, of those that count as certain", right, "of 1", 0.995, at_least=True)
    limit = 0.9 if is_target else None  # of a bad copy more is doubted, and must be
    yield Row(f"{name}: digits that count as certain", tally.certain / tally.digits, "of 1", limit, at_least=True)


def _recognize_page(recognizer: Recognizer, number: int, degradation: Degradation, tally: Tally) -> float:
    """Recognize a page, count its errors, and return the processor time that it took."""
    dice = random.Random(f"{degradation.name} {number}")
    clean, lines = _print_page(dice, columns=2 if number % 5 == 4 else 1, points=(10.5, 9, 12, 10.5, 9)[number % 5])
    image = _scan(clean, dice, degradation)
    picture = Picture(image.width, image.height, image.tobytes())
    before = _processor_time(recognizer)
    found = recognized_page(number, recognizer.recognize(picture, Deadline(300)))
    spent = _processor_time(recognizer) - before
    doubted = [any(start <= at < end for start, end in found.uncertain) for at in range(len(found.text))]
    read = [
        (char.translate(_SAME), doubt) for char, doubt in zip(found.text, doubted, strict=True) if not char.isspace()
    ]
    written = "".join(lines).translate(_SAME).replace(" ", "")
    _count(tally, written, read)
    return spent


def _count(tally: Tally, written: str, read: Sequence[tuple[str, bool]]) -> None:
    matcher = SequenceMatcher(None, written, "".join(char for char, _ in read), autojunk=False)
    tally.characters += len(written)
    tally.digits += sum(char.isdigit() for char in written)
    tally.certain += sum(char.isdigit() and not doubt for char, doubt in read)
    for what, first, last, start, end in matcher.get_opcodes():
        if what == "equal":
            continue
        tally.errors += max(last - first, end - start)
        lost, seen = (
            [c for c in written[first:last] if c.isdigit()],
            [pair for pair in read[start:end] if pair[0].isdigit()],
        )
        tally.digit_errors += max(len(lost), len(seen))
        tally.certain_errors += max(sum(not doubt for _, doubt in seen), len(lost) - len(seen))


# ── Pages ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _sentence(dice: random.Random) -> str:
    tail = dice.choice(
        (
            f"逾期的按每日百分之{dice.choice('一二三五')}计收违约金。",
            f"合同总价为{dice.randint(10_000, 99_999_999):,}元，其中税额{dice.randint(1_000, 999_999)}.{dice.randint(10, 99)}元。",
            f"编号为LH-{dice.randint(1_000, 9_999)}的设备除外。",
            f"联系电话0{dice.randint(21, 899)}-{dice.randint(10_000_000, 99_999_999)}，传真同号。",
            f"占全年用电量的{dice.uniform(1, 99):.1f}%，较上年下降{dice.uniform(0, 9):.2f}个百分点。",
            f"第{dice.randint(1, 88)}条另有约定的，从其约定。",
            f"塔高{dice.uniform(8, 70):.1f}米，射程{dice.randint(5, 28)}海里，海拔{dice.randint(3, 400)}米。",
        )
    )
    day = f"{dice.randint(1998, 2031)}年{dice.randint(1, 12)}月{dice.randint(1, 28)}日"
    return f"{dice.choice(_WHO)}{dice.choice(_WHEN)}{day}前{dice.choice(_WHAT)}，{tail}"


@cache
def _font(size: int, *, serif: bool) -> ImageFont.FreeTypeFont:
    name = "NotoSerifCJK-Regular.ttc" if serif else "NotoSansCJK-Regular.ttc"
    return ImageFont.truetype(str(next(_FOLDER.rglob(name))), size, index=2)


def _print_page(dice: random.Random, *, columns: int, points: float) -> tuple[Image.Image, list[str]]:
    """Return a full page of invented sentences, and its lines."""
    size = round(points * _DPI / 72)
    font, paper, lines = _font(size, serif=dice.random() < 0.5), Image.new("L", A4, 255), list[str]()
    draw, margin, gap, pitch = ImageDraw.Draw(paper), 180, 80, round(size * 1.55)
    width = (A4[0] - 2 * margin - gap * (columns - 1)) // columns
    for column in range(columns):
        words, top = "", margin
        while top + pitch <= A4[1] - margin:
            if not words:
                words = "　　" + "".join(_sentence(dice) for _ in range(dice.randint(1, 4)))
                top += round(pitch * 0.3)
                continue
            length = next((n for n in range(len(words), 0, -1) if font.getlength(words[:n]) <= width), 1)
            draw.text((margin + column * (width + gap), top), words[:length], font=font, fill=20)
            lines.append(words[:length].strip("　"))
            words, top = words[length:], top + pitch
    return paper, lines


def _scan(paper: Image.Image, dice: random.Random, how: Degradation) -> Image.Image:
    """Return the page turned, blurred, coarser, paler, uneven in its light, noisy, and as a JPEG."""
    width, height = paper.size
    page = paper.rotate(dice.uniform(-how.turn, how.turn), Image.Resampling.BICUBIC, fillcolor=255)
    page = page.filter(ImageFilter.GaussianBlur(dice.uniform(*how.blur)))
    scale = dice.uniform(*how.scale)
    page = page.resize((int(width * scale), int(height * scale)), Image.Resampling.BILINEAR)
    page = page.resize((width, height), Image.Resampling.BILINEAR)
    contrast, grain = dice.uniform(*how.contrast), np.random.default_rng(dice.randrange(2**32))
    light = np.asarray(page).astype(float) * contrast + 110 * (1 - contrast)
    light += np.linspace(-15, 15, width)[None, :] * dice.choice([-1, 1])
    light += grain.normal(0, dice.uniform(*how.noise), light.shape)
    file = io.BytesIO()
    Image.fromarray(np.clip(light, 0, 255).astype(np.uint8)).save(file, "JPEG", quality=dice.randint(*how.quality))
    return Image.open(file).convert("RGB")


# ── The process ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _status(recognizer: Recognizer) -> Path:
    recognizer.confinement(Deadline(60))
    (worker,) = recognizer._pool._alive
    return Path(f"/proc/{worker._process.pid}")


def _processor_time(recognizer: Recognizer) -> float:
    fields = (_status(recognizer) / "stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def _peak(recognizer: Recognizer) -> float:
    lines = (_status(recognizer) / "status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1_000
