"""What is taken from a user's words, what is never, and how it is held against what is known."""

from __future__ import annotations

import pytest

from citewell.knowledge.memory import DAY, Kind, Memory, Told
from citewell.skills.remember import (
    asked_part,
    asks_about_memory,
    asks_to_remember,
    fact_of,
    facts_told,
    is_secret,
    judge,
    only_tells,
)

NOW = 1_000 * DAY


def memory(
    subject: str, text: str, kind: Kind = "fact", *, number: int = 1, days: float = 0.0, collection: str = "c"
) -> Memory:
    at = NOW - days * DAY
    return Memory(
        memory_id=f"mem_{number}",
        user_id="li",
        kind=kind,
        subject=subject,
        text=text,
        collection=collection,
        created_at=at,
        updated_at=at,
        expires_at=at + 100 * DAY,
    )


def fact(text: str, number: int = 1, days: float = 0.0) -> Memory:
    [found] = facts_told(text)
    return memory(found.subject, found.text, number=number, days=days)


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("My plan is Pro.", {"plan": "My plan is Pro"}),
        ("My current plan is Basic!", {"plan": "My current plan is Basic"}),
        ("I'm on the Basic plan now. How do I upgrade?", {"plan": "I'm on the Basic plan now"}),
        ("My plan is Pro, what is the refund period?", {"plan": "My plan is Pro"}),
        ("My name is Li Lei and I work in sales.", {"name": "My name is Li Lei", "work in": "I work in sales"}),
        ("My name is Li Lei and work in sales.", {"name": "My name is Li Lei and work in sales"}),
        ("Hi, call me Al.", {"name": "call me Al"}),
        ("I am a nurse", {"role": "I am a nurse"}),
        ("I live in Berlin; I use PostgreSQL.", {"live in": "I live in Berlin", "use": "I use PostgreSQL"}),
        ("I prefer short answers", {"like": "I prefer short answers"}),
        (
            "Remember that our office is in Shenzhen, near the station.",
            {"office location": "our office is in Shenzhen, near the station"},
        ),
        ("Please note that the demo is on Friday.", {"the demo is on friday": "the demo is on Friday"}),
        ("Note that: my name is Bob and my plan is Pro", {"name": "my name is Bob", "plan": "my plan is Pro"}),
        ("my plan is Pro. Actually, my plan is Basic.", {"plan": "my plan is Basic"}),
        ("I would like to know the price. My plan is Pro.", {"plan": "My plan is Pro"}),
        (
            "我叫李雷，在销售部工作。我的套餐是专业版。",
            {"姓名": "我叫李雷", "工作": "我在销售部工作", "套餐": "我的套餐是专业版"},
        ),
        ("你好，我是李雷", {"姓名": "我是李雷"}),
        ("我是销售经理", {"身份": "我是销售经理"}),
        ("我是专业版用户，退款要多久？", {"套餐": "我是专业版用户"}),
        ("我的套餐是专业版，退款期限是多久？", {"套餐": "我的套餐是专业版"}),
        ("我住在北京，我用的是PostgreSQL。", {"住": "我住在北京", "用": "我用的是PostgreSQL"}),
        ("我负责采购，我喜欢简短的回答", {"负责": "我负责采购", "喜欢": "我喜欢简短的回答"}),
        ("请记住：我们的办公室在深圳", {"办公室位置": "我们的办公室在深圳"}),
        ("别忘了下周一要开会。", {"下周一要开会": "下周一要开会"}),
    ],
)
def test_facts(text: str, facts: dict[str, str]) -> None:
    """Subject and words, in both languages."""
    assert {each.subject: each.text for each in facts_told(text)} == facts


@pytest.mark.parametrize(
    "text",
    [
        "is my plan Pro?",
        "What is my plan",
        "My plan is Pro, right?",
        "My name is what?",
        "If my plan is Pro, what is the refund period?",
        "Suppose my plan is Pro. How long may I wait?",
        "I am looking for a filter",
        "I'm trying to install it",
        "I'm wondering about the guarantee",
        "I'm a bit lost here",
        "My question is about the pump",
        "My laptop is overheating",
        "My plan is to buy two",
        "He said that my name is Bob",
        "I don't use Windows",
        "How long is the guarantee of the pump?",
        "我的套餐是什么",
        "我的套餐是专业版，对吗？",
        "如果我的套餐是专业版，能退款吗？",
        "我的问题是保修期",
        "我是在问保修期",
        "我在找滤芯",
        "你还记得我叫什么吗？",
        "保修期多长？",
        "我是不是专业版用户",
        "",
        "。？!",
    ],
)
def test_no_facts(text: str) -> None:
    """Questions, suppositions, tags, states of the moment, what one is doing."""
    assert facts_told(text) == []


def test_long_facts_are_left_out() -> None:
    assert facts_told("Remember that " + "the pump is red and " * 20 + "old.") == []
    assert facts_told("Remember that the pump is red.") != []


SECRETS = [
    "my password is hunter2",
    "The wifi password is abc",
    "remember that the door code is 4471",
    "my PIN is 1234",
    "PIN: 1234",
    "my api key is foo",
    "use sk-abcdefghijklmnop1234",
    "token abc123",
    "postgres://u:p4ss@db/main",
    "my card is 4111 1111 1111 1111",
    "credit card number is 4111",
    "passport number is E12345678",
    "我的密码是abc",
    "密码：abc123",
    "银行卡号是6222020200",
    "身份证号110101199003070000",
    "验证码为 8831",
    "110101199003070000",
]
NO_SECRETS = [
    "A password is required.",
    "A password has at least 12 characters",
    "the token limit is 4096",
    "Refunds to a credit card take 5 days",
    "The credit card is charged on day 3",
    "order 20240501123",
    "4111 1111 1111 1112",
    "the account is 30 days old",
    "my plan is Pro",
    "如何重置密码？",
    "密码必须是12位",
    "密码长度是8位",
    "银行卡退款时间是3天",
    "社保缴费比例是10%",
    "我的套餐是专业版",
]


@pytest.mark.parametrize("text", SECRETS)
def test_secrets(text: str) -> None:
    """Not remembered, asked for or not."""
    assert is_secret(text)
    assert facts_told(text) == []
    assert facts_told(f"Remember that {text}") == []
    assert facts_told(f"请记住：{text}") == []


@pytest.mark.parametrize("text", NO_SECRETS)
def test_no_secrets(text: str) -> None:
    assert not is_secret(text)


@pytest.mark.parametrize(
    ("text", "asks", "tells"),
    [
        ("Remember that my plan is Pro.", True, True),
        ("Hi! Please remember: I like short answers. Thanks!", True, True),
        ("请记住：我们的办公室在深圳。谢谢", True, True),
        ("Remember that my password is hunter2", True, True),
        ("My name is Li Lei.", False, True),
        ("你好，我叫王芳。", False, True),
        ("Remember that my plan is Pro. How long is the guarantee?", False, False),
        ("记住我的套餐是专业版，退款要多久？", False, False),
        ("How long is the guarantee?", False, False),
        ("hello", False, False),
        ("", False, False),
    ],
)
def test_asks_to_remember(text: str, asks: bool, tells: bool) -> None:
    assert (asks_to_remember(text), only_tells(text)) == (asks, tells)


@pytest.mark.parametrize(
    "text",
    [
        "What is my plan?",
        "what did I ask you about the warranty?",
        "Do you remember me?",
        "Who am I?",
        "What do you know about me?",
        "Which plan am I on, remind me what it was",
        "What plan am I on?",
        "Where do I work?",
        "Which database do I use?",
        "Did I tell you my name?",
        "我叫什么",
        "上次我问的是什么",
        "我的套餐是什么？",
        "你还记得我的名字吗？",
        "我住在哪里？",
        "我在哪个部门工作？",
        "我之前问过保修期吗？",
        "你知道我的什么信息？",
    ],
)
def test_asks_about_memory(text: str) -> None:
    assert asks_about_memory(text)


@pytest.mark.parametrize(
    "text",
    [
        "What is the refund period for my plan?",
        "How long is the warranty?",
        "What did the CEO say last time?",
        "Remember that my plan is Pro.",
        "What should I remember when filing?",
        "我的套餐多少钱",
        "之前的版本有什么问题？",
        "公司之前说过什么？",
        "记得提交报销单的截止日期是什么时候？",
        "请记住我叫李雷",
        "保修期是什么意思？",
    ],
)
def test_does_not_ask_about_memory(text: str) -> None:
    assert not asks_about_memory(text)


def decided(text: str, *known: Memory) -> tuple[str | None, tuple[str, ...]]:
    told = fact_of(text)
    found = judge(Told("fact", told.subject, told.text), [(each, 0.9) for each in known])
    return found.same_as, found.replaces


def test_facts_agree_or_contradict() -> None:
    """The same value merges, another replaces, in both languages; what can be many stays beside the others."""
    pro = fact("my plan is Pro")
    assert decided("My current plan is pro.", pro) == ("mem_1", ())
    assert decided("I'm on the Pro plan", pro) == ("mem_1", ())
    assert decided("my plan is Basic", pro) == (None, ("mem_1",))
    assert decided("我的套餐是基础版", pro) == (None, ("mem_1",))
    assert decided("my name is Bob", pro) == (None, ())
    assert decided("我叫李雷", fact("我叫韩梅")) == (None, ("mem_1",))
    assert decided("I use Redis", fact("I use PostgreSQL")) == (None, ())
    assert decided("I use redis", fact("I use Redis")) == ("mem_1", ())
    assert decided("I am a father", fact("I am a nurse")) == (None, ())
    assert decided("our office is in Berlin", fact("our office is closed on Sundays")) == (None, ())
    assert decided("the demo is on Monday", memory("the demo is on friday", "the demo is on Friday")) == (None, ())
    assert decided("The demo is on Friday!", memory("the demo is on friday", "the demo is on Friday")) == ("mem_1", ())
    basic = fact("my plan is Basic", 2)
    assert decided("my plan is Basic", pro, basic) == ("mem_2", ("mem_1",))


def settled(
    question: str, answer: str, known: Memory, cosine: float, collection: str = "c"
) -> tuple[str | None, tuple[str, ...]]:
    found = judge(Told("question", question, answer, collection), [(known, cosine)])
    return found.same_as, found.replaces


def test_answers_agree_or_contradict() -> None:
    """Figures, dates, denials, names and words of the answers decide, of questions that ask the same."""
    known = memory("How much is the Pro plan?", "It costs 30 euros a month.", "question")
    same = "What does the Pro plan cost?"
    assert settled(same, "30 euros per month.", known, 0.98) == ("mem_1", ())
    assert settled(same, "It costs 35 euros a month.", known, 0.98) == (None, ("mem_1",))
    assert settled(same, "30 euros per month.", known, 0.98, "other") == (None, ())
    assert settled("What does the Basic plan cost?", "10 euros.", known, 0.98) == (None, ())
    assert settled("what does the pro plan cost", "30 euros a month", known, 0.98) == ("mem_1", ())
    dogs = memory("可以带狗上班吗？", "可以，周五可以带狗。", "question")
    assert settled("可以带狗上班吗", "不可以带狗。", dogs, 1.0) == (None, ("mem_1",))
    lamp = memory("What colour is the lamp?", "It is red.", "question")
    assert settled("What colour is the lamp?", "It is blue.", lamp, 1.0) == (None, ("mem_1",))
    assert settled("What colour is the lamp?", "The lamp is red.", lamp, 1.0) == ("mem_1", ())
    filled = memory("我的套餐（专业版）的退款期限是多久？", "30天。", "question")
    assert settled("我的套餐（基础版）的退款期限是多久？", "30天。", filled, 0.99) == (None, ())


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("My plan is Pro. What is the refund period?", "What is the refund period?"),
        ("Hi! My plan is Pro, what is the refund period for it?", "what is the refund period for it?"),
        ("我的套餐是专业版，退款期限是多久？", "退款期限是多久？"),
        ("我叫李雷。年假有几天？病假呢？", "年假有几天？ 病假呢？"),
        ("If my plan is Pro, what is the refund period?", "If my plan is Pro, what is the refund period?"),
        ("How long is the guarantee, and who pays?", "How long is the guarantee, and who pays?"),
        ("My plan is Pro.", "My plan is Pro."),
    ],
)
def test_asked_part(text: str, asked: str) -> None:
    """The question alone, where something is told beside it."""
    assert asked_part(text) == asked


def test_a_fact_written_down() -> None:
    """Words that state a subject have it; others are their own."""
    assert fact_of(" My plan is Basic. ").subject == "plan"
    assert (fact_of("Lunch at twelve.").subject, fact_of("Lunch at twelve.").text) == ("lunch at twelve", "Lunch at twelve")
