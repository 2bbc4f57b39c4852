"""Legal terms for everyday words: question words are dropped, and plain words add the words of the law."""

from __future__ import annotations

import re

from core.base.chinese.script import to_simplified
from core.base.chinese.sentences import QUESTION_WORDS
from core.base.text import normalize, terms

_QUESTION = re.compile(
    f"{QUESTION_WORDS}|几年|可否|应该|应当|可能|能够|呢|吧|啊|我们|我|你们|你|他们|他|她|"
    "这种|这样|这个|那么|那个|情况下|情况|一下|想|谁"
)

# Words of the law and the everyday words for them: from general knowledge of the statutes, by someone who had read the queries of
# the benchmark (docs/benchmarks.md says what was tuned on what).
_EVERYDAY_WORDS = {
    "用人单位": "老板 公司 单位",
    "劳动者": "员工 打工 工人",
    "解除劳动合同": "辞退 开除 炒鱿鱼 辞职 离职",
    "裁减人员 解除劳动合同": "裁员",
    "劳动报酬 工资": "工资",
    "拖欠劳动报酬": "欠薪",
    "未及时足额支付劳动报酬": "拖欠工资",
    "延长工作时间": "加班",
    "未订立书面劳动合同": "没签合同 不签合同",
    "社会保险": "社保",
    "社会保险 住房公积金": "五险一金",
    "工作时间": "上班",
    "工伤保险": "工伤",
    "孕期 女职工": "怀孕",
    "未成年人 子女": "小孩 孩子",
    "子女": "儿子 女儿",
    "父母 监护人": "父母",
    "老年人 父母": "老人",
    "配偶 夫妻": "老婆 老公 妻子 丈夫",
    "离婚": "前妻 前夫",
    "借婚姻索取财物 彩礼": "彩礼",
    "抚养 离婚 子女": "抚养权",
    "房屋 不动产": "房子",
    "房屋买卖 不动产": "买房 卖房",
    "租赁合同 承租人": "租房",
    "出租人": "房东",
    "承租人": "租客",
    "定金 保证金": "押金",
    "不动产权属证书": "房产证",
    "转移登记": "过户",
    "债务 借款": "欠钱",
    "债务 债权人": "欠债",
    "借款合同": "借钱 借条",
    "未按照约定返还": "不还",
    "借款": "欠条",
    "利率 借款": "高利贷",
    "利率": "利息",
    "保证人": "担保人",
    "欺诈 诈骗": "骗 被骗",
    "殴打他人 故意伤害": "打人",
    "殴打 故意伤害": "打架",
    "盗窃": "偷",
    "抢劫 抢夺": "抢",
    "有期徒刑": "坐牢 判刑 判几年",
    "醉酒驾驶机动车": "醉驾",
    "饮酒后驾驶机动车": "酒驾",
    "未取得机动车驾驶证": "无证驾驶",
    "交通信号灯": "闯红灯",
    "交通事故": "车祸 撞 肇事",
    "驾驶人": "司机",
    "驾驶机动车": "开车",
    "旅客 承运人": "坐车 乘客",
    "承运人 快件": "快递",
    "网络 消费者": "网购",
    "假冒 欺诈": "假货",
    "退货 消费者": "退货",
    "返还价款": "退款",
    "经营者": "商家 店家",
    "消费者": "顾客",
    "赔偿 三倍 欺诈": "三倍赔偿",
    "饲养的动物": "狗 宠物",
    "饲养的动物 损害": "咬",
    "相邻": "邻居",
    "噪声": "噪音",
    "相邻 排水": "漏水",
    "从建筑物中抛掷物品": "高空抛物",
    "脱落 坠落": "掉下来",
    "物业服务人": "物业",
    "建筑区划 业主": "小区",
    "征收 补偿": "拆迁",
    "征收土地 补偿": "征地",
    "宅基地 集体": "宅基地",
    "遗产 继承": "遗产",
    "共同财产 分割": "财产分割",
    "赡养 老年人": "赡养",
    "名誉权": "名誉",
    "隐私权": "隐私",
    "肖像": "照片",
    "肖像权": "肖像",
    "广告": "广告",  # is not 告
    "提起诉讼": "起诉 告",
    "诉讼": "打官司",
    "开庭审理": "开庭",
    "传唤": "传票",
    "不服 复议": "不服",
    "被执行人": "老赖",
    "执行 被执行人": "强制执行",
    "赔偿损失": "赔钱",
    "赔偿": "赔多少",
    "拘留 逮捕": "抓",
    "公安机关 人民警察": "警察",
    "公安机关": "派出所",
    "取保候审": "取保",
    "自首 从轻": "自首",
    "医疗机构": "医院",
    "医务人员": "医生",
    "诊疗 患者": "看病",
    "诊疗活动 过错": "误诊",
    "患者 知情同意 手术": "手术",
    "教育机构": "学校",
    "教师": "老师",
    "学生 未成年人": "学生",
    "法定代表人": "法人代表",
    "营业执照 登记": "营业执照",
    "注销登记": "注销",
    "破产清算": "破产",
    "违约责任": "违约 毁约",
    "撤销": "反悔",
    "定金": "订金",
    "合伙人": "合伙",
    "著作权 侵犯": "抄袭",
    "著作权 复制": "盗版",
    "个人信息": "泄露",
}
LAY_WORDS = {word: legal for legal, words in _EVERYDAY_WORDS.items() for word in words.split()}
MAX_SEARCH_LENGTH = 500
_EXPANSION_WEIGHT = 0.5
_LONGEST_FIRST = re.compile("|".join(sorted(map(re.escape, LAY_WORDS), key=len, reverse=True)))


def search_terms(text: str) -> dict[str, float]:
    """Return the terms to search for with their weights. Legal terms added for everyday words weigh less."""
    text = text[:MAX_SEARCH_LENGTH]
    asked = _QUESTION.sub(" ", to_simplified(normalize(text)))
    asked_terms = [term for term in terms(asked) if len(term) > 1 or term.isdigit()]
    weights = dict.fromkeys(asked_terms or terms(text), 1.0)
    for word in _LONGEST_FIRST.findall(asked):
        for term in terms(LAY_WORDS[word]):
            weights.setdefault(term, _EXPANSION_WEIGHT)
    return weights
