"""Guiding cases about lighthouses, in the words of the courts' own headings: records of the documented JSONL."""

from __future__ import annotations

from pathlib import Path

from support import invented

GIST = "守塔人明知有雾而不鸣笛，船舶因此搁浅的，塔主应当承担赔偿责任。船长也有过失的，可以减轻塔主的责任。"
JUDGMENT = "（2011）海刑初字第29号"


def guiding_case(number: int, **fields: str) -> dict[str, str]:
    """Return guiding case 24 with other words under another number."""
    name = f"塔主{number}赔偿案"
    record = {
        "type": "case",
        "caseNumber": f"指导性案例{number}号",
        "caseName": name,
        "caseType": "民事",
        "date": "2014-01-29",
        "source": "指导性案例",
        "gist": GIST if number == 24 else f"第{number}种要点，与浮标的颜色和登记有关。",
        "summary": "大雾之夜，某渔船驶近礁石。",
        "verdict": f"海天县人民法院于2011年作出{JUDGMENT}判决。" if number == 24 else "驳回诉讼请求。",
        "url": "https://www.court.gov.cn/shenpan/xiangqing/24.html",
        **fields,
    }
    sections = {
        "关键词": "民事／侵权责任／雾号" if number == 24 else "行政／浮标登记",
        "裁判要点": record["gist"],
        "相关法条": "《中华人民共和国灯塔法》第三条",
        "基本案情": record["summary"],
        "裁判结果": record["verdict"],
        "裁判理由": "法院生效裁判认为：鸣笛是守塔人的义务。依照《中华人民共和国浮标法》第二条判决。",
    }
    return {"text": "\n".join(f"{title}\n{text}" for title, text in sections.items()), **record}


def write_guiding_cases(file: Path) -> Path:
    return invented.jsonl(file, *(guiding_case(number) for number in (2, 4, 9, 24, 124)))
