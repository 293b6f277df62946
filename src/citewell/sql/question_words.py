"""The words of a question that say what it is about: not those that only ask, count or sort."""

from __future__ import annotations

import re

from citewell.text.tokens import STOP_EN, STOP_ZH, tag_words

MOST_WORDS = 40  # of a question
_ASKS_EN = """
    all also among amount and any average avg below above between both bigger biggest by calculate
    count contain different display distinct each every either exactly few find first following for
    from get give greater group have has having high higher highest how in include including kind
    kinds last larger largest least less list low lower lowest many max maximum mean min minimum
    more most much neither no nor not number numbers of old older oldest only or ordered ordering
    other out over per please respective respectively return same separate show shown sort sorted
    sum tell than that the them there total type types under unique use used using value values what
    when where which who whose with without young younger youngest ascending descending alphabetical
    alphabetically lexicographical result results record records entry entries information detail
    details id ids row rows data do does did is are was were be been its their them it they belong
    named called corresponding common ever i me we us our my your you would like know want many
    across together percentage percent ratio share difference compare top bottom come comes came new
    newest latest earliest recent recently then whether if still some one two three four five six
    seven eight nine ten
"""
_ASKS_ZH = """
    所有 每个 每 各 各个 各自 多少 几个 哪些 哪个 哪 什么 谁 列出 显示 找出 找到 查找 查询 给出 返回
    请 请问 告诉 告诉我 统计 计算 平均 平均值 总 总数 总共 总和 总额 合计 一共 数量 个数 数目 人数
    次数 数 最大 最大值 最小 最小值 最高 最低 最多 最少 最长 最短 最新 最早 最老 最年轻 最年长 年轻
    年长 大于 小于 高于 低于 超过 少于 多于 至少 至多 不少于 不超过 以上 以下 之间 之前 之后 之后的
    分别 不同 相同 任何 任一 其他 其中 包含 包括 拥有 具有 没有 有 不 不是 按 按照 根据 排序 升序
    降序 顺序 从 到 大到小 小到大 字母 字母顺序 排列 分组 以及 和 与 或 并 并且 且 的 了 是 在 对
    对于 为 信息 记录 详细 详细信息 结果 数据 情况 关于 有关 属于 名为 叫 叫做 对应 相应 那些 这些
    它们 他们 我 我们 需要 想 知道 第一 第二 前 后 个 名 位 种 类 比 更 较 百分比 比例 占比 差 差值
    相比 最 最近 目前 现在 一个 两个 三个 四个 五个 一 二 三 四 五 六 七 八 九 十 是否 只 仅 都 也
    还 又 中 里 内 上 下 来自 出 得 多 少 大 小 高 低 全部 唯一 共有 怎么 如何 一下
"""
ASKS_EN = frozenset(_ASKS_EN.split()) | STOP_EN
ASKS_ZH = frozenset(_ASKS_ZH.split()) | STOP_ZH
_LATIN = re.compile(r"[^\W\d_](?:[^\W_]|['’-](?=\w))*")
# a value of the asker's, whether or not it is stored
QUOTED = re.compile(r"[“\"「《][^”\"」》]{1,80}[”\"」》]")
# jieba's tags of people, places, bodies: values, not names of columns
_NAMES = frozenset({"nr", "nrt", "ns", "nt", "nz"})
_THINGS = ("n", "vn", "an", "l", "i", "j", "b")
# Words that nearly every table has something for, whatever it calls it: where they stand for
# nothing, that says nothing.
_GENERIC = """
    order name names title titles word words type types place places location locations area origin
    code amount after before once never ever again during since until at least thing things people
    person item items list table column field 名称 名字 姓名 名 标题 题目 类型 类别 种类 地点 位置
    地方 地区 区域 场馆 代码 编号 金额 日期 时间 年份 人 物品 项目 单位 情况 内容 作品
"""
GENERIC = frozenset(_GENERIC.split())


def extract_content_words(question: str) -> list[str]:
    """The words that say what a question is about, each once: none that only asks or sorts."""
    found: list[str] = []
    for piece in re.split(r"([\u3400-\u9fff]+)", QUOTED.sub(" ", question)):
        if re.match(r"[\u3400-\u9fff]", piece):
            found += [word for word, _ in tag_words(piece) if word not in ASKS_ZH and len(word) > 1]
        else:
            found += [
                word.lower()
                for word in _LATIN.findall(piece)
                if len(word) > 1 and not _is_asking_word(word, question)
            ]
    return list(dict.fromkeys(found))[:MOST_WORDS]


def _is_asking_word(word: str, question: str) -> bool:
    """A word that only asks; IT and US in capitals are names, unless everything is in capitals."""
    return word.lower() in ASKS_EN and not (word.isupper() and not is_all_capitals(question))


def is_all_capitals(question: str) -> bool:
    """Everything is in capitals; beside Chinese, which has none, IT is a name."""
    return question.isupper() and not re.search(r"[\u3400-\u9fff]", question)


def is_thing(word: str) -> bool:
    """Whether a word that stands for nothing in the schema speaks against it: a noun does, what is
    done with it does not.
    """
    if word.isascii():
        return not word.endswith(("ing", "ed"))
    return any(tag.startswith(_THINGS) and tag not in _NAMES for _, tag in tag_words(word))
