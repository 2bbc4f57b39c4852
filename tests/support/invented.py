"""Small corpora about lighthouses, written for the tests: every quirk of the real ones, and not a sentence of them."""

from __future__ import annotations

import io
import json
import sqlite3
import tarfile
import zipfile
from datetime import date
from pathlib import Path
from typing import Literal

from core.legal.imports.build import import_source
from core.legal.library.index import LegalIndex, LegalLibrary

TODAY = date(2026, 3, 1)
INFO_END = "<!-- INFO END -->"

LIGHTHOUSE_2010 = f"""# 中华人民共和国灯塔法

2010年5月1日 第一届灯塔代表大会常务委员会第一次会议通过

{INFO_END}

## 第一章　总 则

第一条 为了让夜航的船看得见岸，制定本法。

第二条 灯塔由守塔人看守，旧规定。

第三条 本法自2010年6月1日起施行。
"""
LIGHTHOUSE_2020 = f"""# 中华人民共和国灯塔法

2010年5月1日 第一届灯塔代表大会常务委员会第一次会议通过

2020年8月8日 第三届灯塔代表大会常务委员会第二次会议《关于修改<中华人民共和国灯塔法>的决定》修正

{INFO_END}

## 第一章　总 则

第一条 为了让夜航的船看得见岸，制定本法。

第二条 灯塔由守塔人看守。守塔人有下列情形之一的，应当离岗：

（一）视力不足以辨认航标的；

（二）擅自熄灯的。

离岗的守塔人可以申请复核。

## 第二章　灯光

### 第一节　亮度

第三 条守塔人应当在日落前点灯。

第三条之一 大雾期间，守塔人应当鸣笛，并依照前条的规定点灯。

笫四条 违反本法第二条、第三条之一规定的，处警告。

第五条 依照《中华人民共和国浮标法》第二条第一款和本法第二条至第四条的规定处理。

第六条 本法自2010年6月1日起施行。
"""
BUOY = f"""\ufeff# 中华人民共和国浮标法

2015年3月3日 第二届灯塔代表大会常务委员会第九次会议通过

2015年7月1日 施行

{INFO_END}

第一条\u3000浮\u200b标分为红、绿\xa0两色。

第二条 浮标由船长登记。

登记满五年的，应当重新登记。
"""
REPLY = f"""# 关于雾号问题的批复

2012年2月2日 灯塔管理部门公布

{INFO_END}

一、雾号应当短促。

二、雾号不得用于取乐。
"""
CODE_PARTS = {
    "总则": f"# 中华人民共和国海灯法典\n\n# 总则编\n\n2021年1月1日 灯塔代表大会通过\n\n2022年1月1日 施行\n\n{INFO_END}\n\n## 第一章 一般规定\n\n第一条 海灯受法律保护。\n\n第二条 任何人不得遮挡海灯。\n",
    "附则": f"# 中华人民共和国海灯法典\n\n# 附则编\n\n2021年1月1日 灯塔代表大会通过\n\n2022年1月1日 施行\n\n{INFO_END}\n\n第三条 本法自2022年1月1日起施行。《中华人民共和国灯笼法》、《渔灯管理条例》同时废止，《灯油管理规定》第三条同时废止。\n",
}
INTERPRETATION = f"""# 最高人民法院关于审理灯塔纠纷案件适用法律若干问题的规定

2021年6月6日 最高人民法院审判委员会第1次会议通过

2021年7月1日 施行

{INFO_END}

为正确审理灯塔纠纷，作出如下规定：

第一条 守塔人请求支付夜班津贴的，人民法院应予支持。
"""
REGULATION = f"""# 灯塔法实施条例

2022年4月4日 国务院公布

{INFO_END}

第一条 守塔人应当在日落前点灯，并记录时刻。 第二条 夜班津贴按月发放。

第三条 本条例自公布之日起施行。
"""
CASE = f"""# 守塔人擅自熄灯，船舶搁浅的，塔主应当赔偿

{INFO_END}

## 甲某诉乙灯塔公司海上侵权纠纷案

## 裁判要点

塔主对守塔人的过失负责。

## 基本案情

某夜大雾，守塔人熄灯，甲某的渔船搁浅。

<!-- FORCE BREAK -->

## 裁判结果

海角市中级人民法院于2021年3月4日作出（2021）闽99民初12号民事判决：驳回。甲某上诉后，海天省高级人民法院于2021年9月8日作出（2021）闽民终345号民事判决：撤销海角市中级人民法院（2021）闽99民初12号民事判决。
"""
BARE_CASE = f"# 浮标漂走了谁负责\n\n{INFO_END}\n\n## 案情回顾\n\n浮标在风暴中漂走。\n\n## 法官解读\n\n登记人负责。\n"


def lawrefbook(root: Path) -> Path:
    """A folder in the layout of LawRefBook/Laws, with a database that lags behind and some broken files."""
    files = {
        "经济法/灯塔法(2010-05-01).md": LIGHTHOUSE_2010,
        "经济法/灯塔法(2020-08-08).md": LIGHTHOUSE_2020,
        "经济法/灯塔法.md": LIGHTHOUSE_2020,
        "经济法/浮标法(2015-03-03).md": BUOY,
        "民法典/总则.md": CODE_PARTS["总则"],
        "民法典/附则.md": CODE_PARTS["附则"],
        "司法解释/最高人民法院关于审理灯塔纠纷案件适用法律若干问题的规定(2021-06-06).md": INTERPRETATION,
        "行政法规/灯塔法实施条例(2022-04-04).md": REGULATION,
        "部门规章/灯塔管理局/关于雾号问题的批复.md": REPLY,
        "案例/民法典/甲某诉乙灯塔公司.md": CASE,
        "案例/行政协议诉讼/浮标.md": BARE_CASE,
        "经济法/_index.md": "---\ntitle: 经济法\n---\n",
        "经济法/没有标题.md": "第一条 没有抬头。",
        "经济法/空的.md": "",
        "README.md": "# 说明",
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    (root / "经济法/国标.md").write_bytes(BUOY.replace("浮标法", "航标法").lstrip("\ufeff").encode("gb18030"))
    (root / "经济法/乱码.md").write_bytes(b"\xff\x81\x00\xfe\x80" * 9)
    _database(root / "db.sqlite3")
    return root


def _database(path: Path) -> None:
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE law (name TEXT, publish DATE, expired INTEGER, valid_from DATE)")
    database.executemany(
        "INSERT INTO law VALUES (?, ?, ?, ?)",
        [
            ("灯塔法", "2020-08-08", 0, "2020-10-01"),
            ("灯塔法", "2010-05-01", 1, "2010-05-01"),
            ("关于雾号问题的批复", "2012-02-02", 1, None),
        ],
    )
    database.commit()
    database.close()


def just_laws(root: Path) -> Path:
    """A folder in the layout of just-laws: a newer lighthouse law, one that comes later, and a code in two files."""
    head = "# 中华人民共和国灯塔法\n\n2010年5月1日灯塔代表大会通过\n\n根据2020年8月8日《关于修改〈中华人民共和国灯塔法〉的决定》修正\n\n"
    files = {
        "docs/README.md": "# 首页",
        "docs/category/economic.md": "# 经济法",
        "docs/economic/lighthouse-law/README.md": f"---\nsidebar: auto\n---\n\n{head}2025年9月9日灯塔代表大会修订\n\n## 第一章　总则\n\n**第一条**　为了让夜航的船看得见岸，制定本法。\n\n**第二条**　灯塔由守塔人或者机器看守。\n\n第二条之一　机器看守的，应当有人巡查。\n\n**第三条**　本法自2026年1月1日起施行。\n",
        "docs/economic/lighthouse-law/versions.json": json.dumps(
            {
                "versions": [
                    {"promulgatedOn": "2025-09-09", "effectiveFrom": "2026-01-01", "entry": "README.md"},
                    {"promulgatedOn": "2026-02-02", "effectiveFrom": "2027-01-01", "entry": "versions/2027/README.md"},
                ]
            }
        ),
        "docs/economic/lighthouse-law/versions/2027/README.md": f"{head}**第一条**　灯塔一律由机器看守。\n",
        "docs/civil/lamp-code/README.md": "# 中华人民共和国海灯法典\n\n2021年1月1日灯塔代表大会通过\n",
        "docs/civil/lamp-code/00-last.md": "# 附则\n\n**第三条**　本法自2022年1月1日起施行。\n",
        "docs/civil/lamp-code/01-first.md": "# 第一编　总则\n\n**第一条**　海灯受法律保护。\n\n**第二条**　任何人不得遮挡海灯。\n",
        "docs/civil/lamp-code/02-amendment.md": "# 修正案\n\n## 中华人民共和国海灯法典修正案\n\n*2023年3月3日灯塔代表大会通过*\n\n一、第二条修改为：“不得遮挡。”\n",
        "docs/civil/orphan/01-part.md": "# 第一编\n\n**第一条**　没有 README。\n",
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return root


def jsonl(path: Path, *records: object) -> Path:
    path.write_text("\n".join(r if isinstance(r, str) else json.dumps(r, ensure_ascii=False) for r in records), "utf-8")
    return path


TAR_MODES: dict[str, Literal["w:", "w:gz", "w:xz", "w:bz2"]] = {
    ".tar": "w:",
    ".gz": "w:gz",
    ".xz": "w:xz",
    ".bz2": "w:bz2",
}


def packed(folder: Path, target: Path) -> Path:
    """The folder as .zip or .tar.*, below a folder of its own as GitHub does it."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return pack(target, {f"Laws-master/{path.relative_to(folder)}": path.read_bytes() for path in files})


def pack(target: Path, files: dict[str, bytes]) -> Path:
    """An archive of whatever the target's name says, with these names in it as they are."""
    if target.suffix == ".zip":
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as zipped:
            for name, data in files.items():
                zipped.writestr(name, data)
    else:
        with tarfile.open(target, TAR_MODES[target.suffix]) as tar:
            for name, data in files.items():
                member = tarfile.TarInfo(name)
                member.size = len(data)
                tar.addfile(member, io.BytesIO(data))
    return target


def library(data_dir: Path, *sources: Path, today: date = TODAY) -> LegalLibrary:
    """A library into which the sources were imported in order."""
    made = LegalLibrary(data_dir, today=lambda: today)
    for source in sources:
        import_source(made.folder, source)
    return made


def opened(data_dir: Path, *sources: Path, today: date = TODAY) -> LegalIndex:
    index = library(data_dir, *sources, today=today).index()
    assert index is not None
    return index
