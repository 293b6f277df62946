"""Words that exclude each other, and words for one thing, in both languages: what a changed word is held against.

The one rule: a family holds only words of which a thing is one or another; what may be both at once is in none.
"""

from __future__ import annotations

from functools import cache

from citewell.knowledge.words import query_tokens

# of one family only one is true of the same thing
_FAMILIES = """
flat hilly mountainous | long short | large small big tiny | high low | cold warm hot | wet dry | old new | young old |
urban rural | day night | morning evening | winter summer spring autumn | left right | north south east west | heavy light |
thick thin | deep shallow | wide narrow | hard easy | strong weak | early late | rich poor | male female | men women |
public private | manual automatic | online offline | internal external | upper lower | inner outer | front rear |
linear nonlinear | supervised unsupervised | labelled unlabelled | labeled unlabeled | static dynamic | sparse dense |
convolutional recurrent feedforward | unidirectional bidirectional | encoder decoder | training validation test |
precision recall | fixed variable | frozen trained finetuned | discrete continuous | local global | minimum maximum |
mean median | first second third last | open closed | full empty | positive negative | included excluded | accept reject |
inside outside | before after | source target | input output | parallel sequential | temporary permanent | smooth rough |
common rare | frequent rare | simple complex | single multiple | horizontal vertical |
monday tuesday wednesday thursday friday saturday sunday | daily weekly monthly yearly | increase decrease |
indoor outdoor | adults children | synchronous asynchronous | maximise minimise |
短途 长途 | 短期 长期 | 平坦 丘陵 山地 平原 | 冬季 夏季 春季 秋季 | 冬天 夏天 春天 秋天 | 白天 夜间 夜晚 | 城市 农村 乡村 |
城区 郊区 | 卷积 循环 前馈 | 编码器 解码器 | 训练集 验证集 测试集 | 精确率 召回率 | 监督 无监督 | 线性 非线性 |
固定 可变 动态 | 静态 动态 | 稀疏 稠密 | 单向 双向 | 离散 连续 | 局部 全局 | 均值 中位数 | 人工 自动 | 公开 私有 |
内部 外部 | 在线 离线 | 冻结 微调 | 输入 输出 | 晴天 雨天 | 男性 女性 | 成人 儿童 | 简单 复杂 | 常见 罕见 | 寒冷 炎热 温暖 |
潮湿 干燥 | 并行 串行 | 室内 室外 | 上午 下午 | 工作日 周末 | 同步 异步
"""
# words that say one thing in a paper, near enough; what stands for another here is no change
_SAME = """
reach achieve attain obtain get score yield have show record report see give produce deliver |
need require take cost demand use | use employ adopt apply utilise leverage rely |
propose introduce present describe develop design | find observe note see discover show |
improve raise increase boost lift gain grow rise | reduce lower decrease drop fall decline cut shrink lose |
stay remain keep | contain hold store comprise include cover consist | question query claim prompt request |
example sample instance item case record entry | person people user participant subject rider driver respondent patient |
city town place site location | bike bicycle vehicle | trip ride journey tour |
dataset corpus benchmark collection data set | paper study work article |
model system method approach technique baseline network algorithm architecture |
big large great substantial considerable major | small little minor slight modest tiny | error mistake fault |
result outcome finding | train fit learn finetuned tune | predict forecast estimate | test evaluate assess measure examine |
run trial experiment test | step stage phase | inspect check examine review | remove drop omit delete | add append include |
begin start | end finish stop | make build create form generate write | ask query prompt | fast quick rapid |
accurate precise correct | wrong incorrect erroneous | cause lead due come result stem | compare contrast against versus |
help benefit improve useful | split cut divide separate | choose select pick | allow permit let enable |
answer reply respond | document text passage article | machine computer server device | memory vram storage |
latency time delay | difference gap margin | advantage lead benefit gain | largest biggest greatest highest |
smallest lowest least | annotator rater judge | main typical key important primary |
focus examine study investigate consider address | group category type class kind | problem task |
existing current prior previous earlier present | last take |
达到 取得 获得 为 是 有 得到 | 采用 使用 利用 用 运用 | 提出 引入 介绍 设计 给出 | 需要 要求 须 | 包含 包括 含有 涵盖 |
提高 提升 增加 上升 升高 | 降低 下降 减少 减小 | 查询 问题 提问 | 样本 样例 例子 实例 条目 | 方法 模型 系统 算法 方案 |
文档 文本 文章 段落 | 预测 估计 推断 | 优于 超过 高于 领先 | 不如 低于 逊于 落后 | 仅 只 只有 仅仅 |
参与者 被试 用户 受试者 人 | 数据 数据集 语料 | 误差 错误 | 实验 试验 测试 | 结果 表现 性能 | 去掉 移除 删除 去除 |
答案 回答 回复 | 延迟 时间 耗时 | 每个 每 各 | 影响 作用 | 城市 地区 地点 | 车辆 自行车 货运车
"""
# Chinese words that differ in one character alone, and that by these
_HAN = """
长短 大小 高低 冷热 新旧 多少 东西 南北 内外 前后 冬夏 日夜 昼夜 干湿 正负 左右 男女 早晚 深浅 快慢 强弱 轻重 单双 主次 有无
上下 出入 增减 升降 开关 先后 首末
"""
_AGAINST = tuple(frozenset(pair) for pair in _HAN.split())
HEADS = frozenset("天季月日集区省市国语层类路泵机站车色端侧科症")  # of what kind a Chinese word is: two of a kind are not one
_NOT = ("un", "in", "im", "non", "dis", "ir")


def _stem(word: str) -> str:
    return (query_tokens(word) or [word])[-1] if word.isascii() else word


def _groups(text: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(_stem(word) for word in group.split()) for group in text.split("|"))


FAMILIES = _groups(_FAMILIES)
SAME_WORDS = _groups(_SAME)


@cache
def exclude(one: str, other: str) -> bool:
    """Whether what is the one is not the other. Both as compared: stemmed, small."""
    if one == other:
        return False
    if any(one in family and other in family for family in FAMILIES):
        return True
    if one.isascii() and other.isascii():
        short, long = sorted((one, other), key=len)
        return len(short) > 3 and any(long == prefix + short for prefix in _NOT)
    different = [pair for pair in zip(one, other, strict=False) if pair[0] != pair[1]]
    return len(one) == len(other) > 1 and len(different) == 1 and frozenset(different[0]) in _AGAINST
