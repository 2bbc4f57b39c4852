"""Relevance of the library for a question: most questions are not about law.

A question that names a statute or an article always counts. Otherwise three values are added: the fit of the best
article (BM25), the frequency of the question's character pairs in laws, and the number of legal words. The weights come
from a logistic regression, scaled so that the sum is 1 where 2 of 100 general questions bring articles.
docs/benchmarks.md has the data and figures.
"""

from __future__ import annotations

import math
import re

from core.base.chinese.script import to_simplified
from core.base.text import normalize
from core.legal.library.index import LegalIndex
from core.legal.text.law_qualifiers import is_abroad, place_before
from core.legal.text.statute_citations import find_citations

_BEST, _LEGAL_WORD = 0.32, 0.34
_MOST_WORDS = 3
MAX_QUESTION_LENGTH = 1_000

_WORDS = (
    "法律 违法 合法 非法 法院 法庭 法官 法规 条例 司法 律师 立法 罪 判刑 刑事 量刑 刑期 缓刑 判决 裁定 裁决 起诉 诉讼 上诉 被告 原告 "
    "官司 仲裁 公证 立案 报案 报警 传票 强制执行 失信 老赖 赔偿 补偿 赔钱 索赔 赔款 合同 协议 违约 定金 订金 押金 退款 退货 退票 侵权 "
    "侵犯 维权 权利 权益 义务 责任 全责 次责 纠纷 继承 遗产 遗嘱 离婚 夫妻 彩礼 抚养 扶养 赡养 监护 收养 婚前 婚后 婚内 家暴 劳动 用人单位 "
    "劳务 工资 加班 辞退 解雇 开除 裁员 社保 公积金 工伤 试用期 年假 产假 竞业 拘留 逮捕 坐牢 取保 罚款 处罚 吊销 没收 债务 债权 欠条 借条 "
    "借钱 借款 欠钱 欠款 还钱 高利贷 利息 利率 担保 抵押 质押 留置 房产 产权 过户 拆迁 征收 征地 宅基地 承包 租赁 租房 租客 房东 承租 物业 "
    "业主 邻居 相邻 违章 股东 股权 法人 破产 清算 合伙 行政 许可 复议 信访 商标 专利 著作权 版权 盗版 隐私 个人信息 肖像 名誉 诽谤 姓名权 "
    "诈骗 骗 偷 盗窃 抢劫 抢夺 伤害 打伤 砸伤 受伤 轻伤 酒驾 醉驾 肇事 交通事故 交警 驾照 驾驶证 消费者 假货 保险 理赔 欺诈 无效 撤销 时效 管辖 "
    "证据 举证 鉴定 户口 纳税 偷税 逃税 未成年 霸凌 强奸 骚扰 赌博 吸毒 贩毒 传销 医疗事故 所有权 使用权 用益 地役 归谁 雇主 雇员 承揽 "
    "保管人 承运 票据 支票 汇票 正当防卫 紧急避险 咬伤 逾期 漏水 冷静期 不还 判几年 判多久 撞人"
)
_LEGAL_WORDS = re.compile("|".join(sorted(_WORDS.split(), key=len, reverse=True)))
_NAME_ENDS = re.compile(r"法典|法|条例|规定|办法|细则|规则|解释|通则|修正案")
_LONGEST_NAME = 40
_SHORT_NAMES = frozenset({"刑法", "宪法"})
"""Names of two characters that count. Other short names are also parts of words: 第六次反法同盟."""


def is_legal_question(index: LegalIndex, question: str) -> bool:
    """Return whether articles of the library should be shown beside the results of the web."""
    words = to_simplified(normalize(question))[:MAX_QUESTION_LENGTH]
    return _has_law_name(index, words) or _score(index, words) >= 1.0


def _score(index: LegalIndex, words: str) -> float:
    best, common = index.closeness(words)
    legal = min(len(set(_LEGAL_WORDS.findall(words))), _MOST_WORDS) if best else 0
    return _BEST * math.log1p(best) + common + _LEGAL_WORD * legal


def _has_law_name(index: LegalIndex, words: str) -> bool:
    """Return whether the words name a law of the library, not another country's: 劳动合同法对试用期怎么规定."""
    if any(citation.law and index.is_known(citation.law) for citation in find_citations(words, index.is_known)):
        return True
    for found in _NAME_ENDS.finditer(words):
        for start in range(max(0, found.end() - _LONGEST_NAME), found.start() + 1):
            name = words[start : found.end()]
            if (len(name) > 2 or name in _SHORT_NAMES) and index.resolve(name):
                return not is_abroad(name) and not place_before(words[:start], name)
    return False
