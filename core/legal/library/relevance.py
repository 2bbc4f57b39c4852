"""Relevance of the library for a question: most questions are not about law.

A question that names a statute or an article always counts. Otherwise seven values are added: the fit of the best
article (BM25), the frequency of the question's character pairs in laws, the numbers of legal words, of everyday words for
legal things, of words of a dispute and of words of other questions, and the length. The weights come from a logistic
regression; at `_ENOUGH` 4 of 100 general questions bring articles, half of which are about law. docs/benchmarks.md has the
data and figures.
"""

from __future__ import annotations

import math
import re

from core.base.chinese.script import to_simplified
from core.base.text import normalize
from core.legal.library.index import LegalIndex
from core.legal.text.law_qualifiers import is_abroad, place_before
from core.legal.text.lay_words import LAY_WORDS
from core.legal.text.statute_citations import find_citations

_BEST, _COMMON, _LEGAL, _LAY, _DISPUTE, _OTHER, _LENGTH = 0.556, 1.08, 0.604, 0.27, 0.485, -0.366, -0.162
_MOST_WORDS = 2
_ENOUGH, _PERHAPS = 1.05, 0.8
MAX_QUESTION_LENGTH = 1_000

_LEGAL_WORDS = (
    "违法 合法 非法 法院 法庭 法官 法规 条例 司法 律师 立法 判刑 刑事 量刑 刑期 缓刑 判决 裁定 裁决 起诉 诉讼 上诉 被告 原告 官司 "
    "仲裁 公证 立案 报案 报警 传票 强制执行 失信 老赖 赔偿 补偿 赔钱 索赔 赔款 违约 定金 订金 押金 退款 退货 退票 侵权 侵犯 维权 "
    "权益 全责 次责 纠纷 继承 遗产 遗嘱 离婚 彩礼 抚养 扶养 赡养 监护 收养 婚前 婚后 婚内 家暴 用人单位 劳务 加班 辞退 解雇 "
    "开除 裁员 社保 公积金 工伤 试用期 年假 产假 竞业 拘留 逮捕 坐牢 取保 罚款 处罚 吊销 没收 债务 债权 欠条 借条 借钱 借款 欠钱 "
    "欠款 还钱 高利贷 担保 抵押 质押 留置 产权 过户 拆迁 征收 征地 宅基地 承包 租赁 租客 承租 物业 业主 相邻 违章 股东 股权 "
    "破产 清算 合伙 复议 信访 商标 著作权 版权 盗版 个人信息 肖像 名誉 诽谤 诈骗 盗窃 抢劫 打伤 砸伤 受伤 轻伤 酒驾 醉驾 肇事 "
    "交通事故 交警 消费者 假货 理赔 欺诈 无效 时效 管辖 举证 纳税 偷税 逃税 未成年 霸凌 强奸 骚扰 赌博 吸毒 贩毒 传销 医疗事故 所有权 "
    "使用权 用益 地役 归谁 雇主 雇员 承揽 承运 票据 支票 汇票 正当防卫 紧急避险 咬伤 逾期 漏水 冷静期 不还 判几年 判多久 撞人 劝退 "
    "离职证明 劳动合同 双倍工资 三倍工资 不发工资 扣工资 欠薪 出轨 探视 养子 家庭暴力 二房东 转租 租约 退租 收房 凶宅 业委会 高空抛物 "
    "扰民 违建 网贷 欠的债 转错 借给 赖账 跑路 会员卡 预付卡 不退 退钱 退费 退卡 假冒 仿冒 山寨 三包 霸王条款 打赏 造谣 污蔑 "
    "网暴 偷拍 裸照 威胁 勒索 敲诈 犯法 违规 犯罪 拘役 判多少年 会判 案底 帮信 跑分 销赃 赃款 撞了人 逃逸 无证驾驶 闯红灯 被罚 "
    "罚单 扣分 退股 撤资 实缴 注册资本 出资 抄袭 盗图 侵占 挪用 集资 集体土地 医药费 误工费 精神损失 谁赔 赔多少 赔不赔 要赔 谁负责 "
    "要负责 谁承担 责任在谁 要还吗 要我还 不给钱 不认账 不承认 反悔 毁约 投诉 举报 讨回 要回来 追回 冤枉 算谁的 受骗 上当 "
    "被骗 骗了 骗钱 骗走 偷了 被偷 抢了 打成 打人 重伤 打架 斗殴 猥亵 房产证 强拆 不可抗力 免责 人格权 居住权 姓名权 自主权 表演权 优先权 知情权"
)
_ORDINARY_WORDS = (
    "夫妻 姓名权 责任 利率 证据 义务 保管人 伤害 协议 劳动 房产 合同 权利 抢夺 行政 罪 法律 鉴定 撤销 许可"
)
"""Words of law that people also use of other things, like most of `LAY_WORDS`."""
_DISPUTE_WORDS = re.compile(
    "不给|不让|不肯|不修|不管|不交|不开|被[^，。？]{0,8}了|能退|能要|可以要|能告|告他|告谁|找谁|怎么分|分点|跟谁|要我|赶我"
    "|还吗|交吗|犯|判|罚|赔|索|没签|没给|没交|没立|没打|没说|弄丢|弄坏|弄烂|砸|摔|撞|咬|滑倒|出事|合法|合理吗|有权|权利|规定|承担|构成|拒绝|可以要求"
)
_OTHER_WORDS = re.compile(
    "为什么|为何|看待|评价|怎么看|推荐|哪个好|多少钱|原理|怎么做|怎么选|好看|技巧|如何才能|历史|意味着|影响|哪些信息|作者"
    "|电影|小说|动漫|游戏|剧|《(?!.{0,30}(?:法|条例|规定|办法|解释)》)"
)
"""Words of questions about opinions, explanations, prices and stories."""
_NAME_ENDS = re.compile(r"法典|法|条例|规定|办法|细则|规则|解释|通则|修正案")
_LONGEST_NAME = 40
_SHORT_NAMES = frozenset({"刑法", "宪法"})
"""Names of two characters that count. Other short names are also parts of words: 第六次反法同盟."""


def _any_of(words: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(sorted(words, key=len, reverse=True)))


_LEGAL_PATTERN = _any_of(_LEGAL_WORDS.split())
_LAY_PATTERN = _any_of([*LAY_WORDS, *_ORDINARY_WORDS.split()])


def is_legal_question(index: LegalIndex, question: str) -> bool:
    """Return whether articles of the library should be shown beside the results of the web."""
    return _is_about_law(index, question, _ENOUGH)


def may_be_legal_question(index: LegalIndex, question: str) -> bool:
    """Return whether a question is so close to the law that a model may be asked for the words of statutes."""
    return _is_about_law(index, question, _PERHAPS)


def _is_about_law(index: LegalIndex, question: str, least: float) -> bool:
    words = to_simplified(normalize(question))[:MAX_QUESTION_LENGTH]
    return _has_law_name(index, words) or _score(index, words) >= least


def _score(index: LegalIndex, words: str) -> float:
    best, common = index.closeness(words)
    if not best:
        return 0.0
    counts = (
        (_LEGAL, _LEGAL_PATTERN, words),
        (_LAY, _LAY_PATTERN, _LEGAL_PATTERN.sub(" ", words)),
        (_DISPUTE, _DISPUTE_WORDS, words),
        (_OTHER, _OTHER_WORDS, words),
    )
    said = sum(weight * min(len(set(pattern.findall(text))), _MOST_WORDS) for weight, pattern, text in counts)
    return _BEST * math.log1p(best) + _COMMON * common + said + _LENGTH * math.log(len(words))


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
