"""What is taken from a user's words, what is never, and how it is held against what is known."""

from __future__ import annotations

import time
from collections.abc import Collection

import pytest
from tests.skills.made_memories import fact, memory

from citewell.skills.memory import remember
from citewell.skills.memory.memory_questions import is_conversation_question, is_memory_question
from citewell.skills.memory.remember import (
    extract_question_part,
    extract_stated_facts,
    has_only_statements,
    is_remember_request,
    judge_memory,
    parse_fact,
)
from citewell.store.memory_judgement import Told
from citewell.store.memory_rows import Memory
from citewell.text.secret import has_secret, is_secret


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("My plan is Pro.", {"plan": "My plan is Pro"}),
        ("My current plan is Basic!", {"plan": "My current plan is Basic"}),
        ("I'm on the Basic plan now. How do I upgrade?", {"plan": "I'm on the Basic plan now"}),
        ("My plan is Pro, what is the refund period?", {"plan": "My plan is Pro"}),
        (
            "My name is Li Lei and I work in sales.",
            {"name": "My name is Li Lei", "work in": "I work in sales"},
        ),
        ("My name is Li Lei and work in sales.", {"name": "My name is Li Lei and work in sales"}),
        ("Hi, call me Al.", {"name": "call me Al"}),
        ("I am a nurse", {"role": "I am a nurse"}),
        (
            "I live in Berlin; I use PostgreSQL.",
            {"live in": "I live in Berlin", "use": "I use PostgreSQL"},
        ),
        ("I prefer short answers", {"like": "I prefer short answers"}),
        (
            "Remember that our office is in Shenzhen, near the station.",
            {"office location": "our office is in Shenzhen, near the station"},
        ),
        (
            "Please note that the demo is on Friday.",
            {"the demo is on friday": "the demo is on Friday"},
        ),
        (
            "Note that: my name is Bob and my plan is Pro",
            {"name": "my name is Bob", "plan": "my plan is Pro"},
        ),
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
    assert {each.subject: each.text for each in extract_stated_facts(text)} == facts


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
    assert extract_stated_facts(text) == []


def test_long_facts_are_left_out() -> None:
    assert extract_stated_facts("Remember that " + "the pump is red and " * 20 + "old.") == []
    assert extract_stated_facts("Remember that the pump is red.") != []


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


TOLD = [
    "my pass is hunter22", "my pass is sunshine", "my wifi pass is sunshine", "my pw is hunter22",
    "our AWS secret is wJalrXUtnFEMI", "my seed phrase is apple banana cherry",
    "my recovery phrase: apple banana cherry", "my pass word is hunter2",
    "remember that the wifi is hunter2", 'the wifi in the office is "hunter22"',
    "remember that the alarm is 4711", "my key is 12345-ABCDE", "my bank login is bob/hunter2",
    "my bank login is bob hunter22", "my login is bob:sunshine", "the door code is 4471",
    "the gate code is sunflower", "the code for the gate is 4471", "the safe is 12-34-56",
    "the combination of the safe is 12 34 56", "our router is hunter22", "the pin is 4471",
    "sim pin 4471", "hunter22 is my password", "use 4471 as the door code",
    "the wifi password was changed to hunter22", "my secret is hunter",
    "the client secret is abcdef", "the alarm's code is 4711", "The gate is 4711#",
    "my garage is 0815", "What is wrong with my password hunter22?",
    "My pass is hunter22. How do I change it?", "my product key is ABCDE", "网银登录是 abc123",
    "网银登录是bob/abc123", "门禁是 4711", "门禁码是4711", "小区门禁：4711#", "保险柜是 123456",
    "保险箱密码 1234", "无线网是 hunter22", "WiFi是hunter22", "WiFi密码是 sunshine",
    "WiFi 密码：hunter22", "我家路由器是 admin888", "助记词是 apple banana cherry",
    "助记词 apple banana cherry", "我的恢复短语是apple banana", "账号是 abc123",
    "密码改成了 hunter2", "我家大门是4711", "报警器是4711。", "我的门锁是 1234", "PIN码是 1234",
    "the alarm code's 4711", "my wifi's hunter22", "our door code: sunflower",
    "my laptop pw: sunshine", "my gmail pass is sunshine", "My Netflix pass is hunter2",
    "the guest wifi is hunter2", "our office alarm is 4711 now",
    "Remember my locker combination is 12-34-56", "my bike lock is 4711",
    "the entry code for building B is 4471", "my Apple ID login is li@example.com/hunter22",
    "Our VPN key is sunshine5", "my SSH key is AAAAB3NzaC1", "my license key is ABCD-EFGH",
    "my crypto wallet words are apple banana cherry", "Wi-Fi: hunter22", "wi-fi = hunter22",
    "remember: wifi hunter22", "the front door is 4471#", "my PIN for the alarm is 4711",
    "The garage door code is 4711 and the alarm is 0815", "our safe opens with 4711",
    "the alarm can be switched off with 4711", "remember that hunter22 is the wifi password",
    "记住保险柜的密码是4711", "我的网银登录名是bob/abc123", "WiFi: hunter22",
    "家里的wifi是 sunshine88", "小区的门禁卡密码1234", "我的PIN是1234", "支付密码是123456",
    "邮箱密码：sunshine", "我的钱包助记词为 apple banana", "请记住大门密码 4711", "开机密码 4711",
    "电脑口令hunter22", "保险柜：12-34-56", "路由器：admin/admin88", "我的PIN是1234",
    "我的password是sunshine", "密码：１２３４", "my ＰＩＮ is １２３４", "用4711开门",
]  # fmt: skip
ORDINARY = [
    "my bus pass is monthly", "my bus pass is 49 euros", "my pass is for the whole zone",
    "my keyboard is German", "our key supplier is Foxconn", "my login shell is zsh",
    "the key point is that refunds take 5 days", "the key is under the mat",
    "our key metric is revenue", "our key market is Germany", "our wifi is slow",
    "the wifi is 802.11ac", "our wifi is 2.4GHz", "our wifi is Wi-Fi 6", "my alarm is at 6:30",
    "my alarm is 6:30", "our office door is 2100 mm wide", "our door is 90cm wide",
    "our gate is B12", "my safe is fireproof", "our safe is 30kg", "our router is a Fritzbox 7590",
    "our router is AX3000", "our router is 192.168.1.1", "my login is broken",
    "my login is li@example.com", "our login page is https://sso.example.com/login",
    "the secret of success is patience", "our pass rate is 90%", "our pass rate is 1234 of 2000",
    "my plan is Pro", "my office is on floor 12", "my team is 12 people", "my project is Apollo11",
    "my version is 3.2.1", "my server is web01", "our primary key is user_id2",
    "our code is in GitHub", "our area code is 0755", "our code review is 2 days",
    "I use PostgreSQL 16", "our dress code is casual", "the alarm is loud",
    "my phone is an iPhone 15", "our product is X1000", "my birthday is 1990-01-02",
    "Our door supplier is Hormann", "our account manager is Bob", "my account is in Berlin",
    "the gate opens at 8", "我的套餐是专业版", "我们的门禁是人脸识别", "我们的大门是红色的",
    "我们的无线网很慢", "我家路由器是华为的", "路由器是 2000 元", "路由器是2019年买的",
    "门禁2024年升级", "保险柜是 30kg 的", "我们的登录页是 https://sso.example.com",
    "我登录是用微信", "我的邮箱是 li88@example.com", "我的手机是 iPhone15",
    "我们的无线网是2024年装的", "我的账号是 zhangsan", "我的关键目标是增长10%", "我负责门禁系统",
    "我们的车库有200个车位", "our gate is closed at 18:00", "the alarm is tested on 12 May 2024",
    "our alarm is a Bosch 3000", "the safe is from 1998", "our data vault is HashiCorp",
    "my lock is broken", "our wifi is fast in room 1204", "my Wi-Fi is 300 Mbps",
    "my door is number 12", "our key figure for 2024 is 12%", "our key contact is Bob Smith",
    "our key account is Siemens", "our key date is 2024-05-01", "my login is bob",
    "my code editor is VSCode", "our zip code is 10115", "our country code is +49",
    "my postal code is 518000", "my order number is 20240501123", "my employee number is 4711",
    "my room is 1204", "my desk is A1204", "our server is web01", "our flight is LH1234",
    "my gate is 14", "my badge is blue", "I pass the station every day", "my pass mark is 60",
    "my son will pass his exam", "my parking pass is free", "our boarding pass is digital",
    "our secret santa is on Friday", "my secretary is Anna", "I am a security guard",
    "I work in IT security", "my token budget is 4000", "our gateway is in Frankfurt", "I use 2FA",
    "My flat is on floor 3", "I use the router FB7590", "My monitor is 27 inches",
    "I prefer answers of 3 sentences", "I am responsible for the door systems",
    "I work on wifi routers", "我的房间是1204", "我的工号是4711", "我的订单号是20240501123",
    "我们的账户是企业版", "我的登录方式是扫码", "我的手机号是13800138000", "我们的大门是朝南的",
    "我们的路由器是TP-Link", "我们公司的网银是招商银行", "我用的是wifi6", "我住在3号楼1204",
    "我的邮编是518000", "我们的热点话题是AI", "我的生日是1990年1月2日", "我负责密码学课程",
    "我的航班是CA1234", "我家的门锁坏了", "My account is Premium",
]  # fmt: skip
HARMLESS = [  # questions about secrets, and answers to them
    "How do I reset my password?", "What do I do when my password is lost?",
    "Why was my password not accepted?", "Is my password encrypted?", "Where do I find my API key?",
    "How long is my access token valid?", "What if my password is compromised?",
    "How do I change my PIN?", "How do I block my credit card?", "What is the limit of my token?",
    "如何重置我的密码？", "我的密码忘了怎么办？", "我的密码多久过期？", "我的银行卡丢了怎么办？",
    "怎样修改我的支付密码？", "我的验证码收不到怎么办",
    "The password is entered on the login page.",
    'Click "Forgot password" on the login page; a link is sent to your email address.',
    "Your password must have at least 12 characters.",
    "Reset your password under Settings, Security.", "Tokens are billed per 1,000.",
    "在登录页点击“忘记密码”，按邮件提示重置密码。", "密码必须至少12位。",
    "Open the safe with your key.", "Door codes are issued by the front desk.",
    "我的token是怎么计费的？", "我家的密码锁坏了怎么办",
]  # fmt: skip


def test_secrets() -> None:
    """Not remembered, asked for or not."""
    texts = [*SECRETS, *TOLD]
    assert [text for text in texts if not (is_secret(text) and has_secret(text))] == []
    for lead in ("", "Remember that ", "请记住："):
        assert [text for text in texts if extract_stated_facts(lead + text)] == []


def test_no_secrets() -> None:
    assert [text for text in (*NO_SECRETS, *ORDINARY) if is_secret(text)] == []


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_asked_of_secrets_tells_none(text: str) -> None:
    """It may be remembered that it was asked and answered, until a secret itself stands in it."""
    assert not has_secret(text)
    assert has_secret(f"{text} my password is hunter2")


def test_speaking_of_ones_own_secret_is_one_in_a_statement() -> None:
    """In doubt: what follows may be the secret in other words. As a question it tells nothing."""
    for text in ("my password has the name of my dog in it", "我的密码里有我家狗的名字"):
        assert is_secret(text)
        assert not has_secret(text)


@pytest.mark.parametrize(
    "text", ["1 ", "a ", "-1", "1,", "my key is ", "login is a,", "x@", "wifi ", "账号", "aA1"]
)
def test_long_texts_take_no_longer_than_they_are(text: str) -> None:
    """No pattern looks over all of the rest at each place."""
    started = time.process_time()
    is_secret(text * (40_000 // len(text)))
    assert time.process_time() - started < 3


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
    assert (is_remember_request(text), has_only_statements(text)) == (asks, tells)


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
    assert is_memory_question(text)


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
    assert not is_memory_question(text)


@pytest.mark.parametrize("text", [
    "what did I ask", "What did you say about refunds?", "Did you say 30 days?",
    "What was my last question?", "summarise our conversation",
    "Can you summarize this conversation so far?", "Do you remember what I told you?",
    "Repeat your last answer", "What have we discussed?", "What were we talking about?",
    "Your last answer was too long. What was it about?", "Why did you say that?",
    "remind me what you said", "上次我问的是什么", "刚才你说的保修期是多久？", "我问过保修期吗？",
    "你说过什么？", "你刚才说什么？", "总结本次对话", "总结一下我们的对话", "请总结对话",
    "上次的回答是什么", "刚才说的退款期限是几天？", "你还记得我的名字吗？", "我们聊了什么？",
    "我的上一个问题是什么", "你有没有说过保修两年？", "我刚才的问题是什么",
])  # fmt: skip
def test_asks_about_talk(text: str) -> None:
    """What either side said, now or in an earlier conversation."""
    assert is_conversation_question(text)
    assert is_memory_question(text)


@pytest.mark.parametrize("text", [
    "What is my plan?", "我的套餐是什么", "Who am I?", "我叫什么", "我住在哪里？",
    "What do you know about me?", "What did the CEO say last time?", "公司之前说过什么？",
    "之前的版本有什么问题？", "你说我该怎么办？", "Summarise the warranty terms",
    "总结一下保修条款", "Remember that my plan is Pro.", "请记住我叫李雷",
    "What should I remember when filing?", "记得提交报销单的截止日期是什么时候？",
    "How do I end the chat?", "上次发布是什么时候？", "What should I tell the customer?",
    "How long is the guarantee?", "What did the manual say?", "怎样总结对话记录功能",
    "What did I need to sign?", "刚才的版本发布了吗", "这次会话过期怎么办",
    "说明书里说的保修期是多久", "我说中文可以吗", "Why can't you tell me the price?",
    "我的手机上一个应用是什么", "Did they say when?", "前面板的指示灯是什么意思？",
    "之前问题是怎么解决的",
])  # fmt: skip
def test_does_not_ask_about_talk(text: str) -> None:
    """The user themself, other people, the documents, the product's own conversations."""
    assert not is_conversation_question(text)


def decided(text: str, *known: Memory) -> tuple[str | None, tuple[str, ...]]:
    told = parse_fact(text)
    found = judge_memory(Told("fact", told.subject, told.text), [(each, 0.9) for each in known])
    return found.same_as, found.replaces


def test_facts_agree_or_contradict() -> None:
    """The same value merges, another replaces, in both languages; what can be many stays beside the
    others.
    """
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
    assert decided(
        "the demo is on Monday", memory("the demo is on friday", "the demo is on Friday")
    ) == (None, ())
    assert decided(
        "The demo is on Friday!", memory("the demo is on friday", "the demo is on Friday")
    ) == ("mem_1", ())
    basic = fact("my plan is Basic", 2)
    assert decided("my plan is Basic", pro, basic) == ("mem_2", ("mem_1",))


def settled(
    question: str,
    answer: str,
    known: Memory,
    collection: str = "c",
    same_asked: Collection[str] = (),
) -> tuple[str | None, tuple[str, ...]]:
    found = judge_memory(
        Told("question", question, answer, collection), [(known, 0.98)], same_asked
    )
    return found.same_as, found.replaces


def test_answers_agree_or_contradict() -> None:
    """Figures, dates, denials, names and words of the answers decide, of questions that ask the
    same.
    """
    known = memory("How much is the Pro plan?", "It costs 30 euros a month.", "question")
    asked, same = "What does the Pro plan cost?", {known.subject}
    assert settled(asked, "30 euros per month.", known, same_asked=same) == ("mem_1", ())
    assert settled(asked, "It costs 35 euros a month.", known, same_asked=same) == (
        None,
        ("mem_1",),
    )
    assert settled(asked, "30 euros per month.", known, "other", same) == (None, ())
    assert settled(asked, "30 euros per month.", known) == (None, ())
    assert settled("how much is the pro plan", "30 euros a month", known) == ("mem_1", ())
    dogs = memory("可以带狗上班吗？", "可以，周五可以带狗。", "question")
    assert settled("可以带狗上班吗", "不可以带狗。", dogs) == (None, ("mem_1",))
    lamp = memory("What colour is the lamp?", "It is red.", "question")
    assert settled("What colour is the lamp?", "It is blue.", lamp) == (None, ("mem_1",))
    assert settled("What colour is the lamp?", "The lamp is red.", lamp) == ("mem_1", ())
    filled = memory("我的套餐（专业版）的退款期限是多久？", "30天。", "question")
    assert settled("我的套餐（基础版）的退款期限是多久？", "30天。", filled) == (None, ())


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("My plan is Pro. What is the refund period?", "What is the refund period?"),
        (
            "Hi! My plan is Pro, what is the refund period for it?",
            "what is the refund period for it?",
        ),
        ("我的套餐是专业版，退款期限是多久？", "退款期限是多久？"),
        ("我叫李雷。年假有几天？病假呢？", "年假有几天？ 病假呢？"),
        (
            "If my plan is Pro, what is the refund period?",
            "If my plan is Pro, what is the refund period?",
        ),
        ("How long is the guarantee, and who pays?", "How long is the guarantee, and who pays?"),
        ("My plan is Pro.", "My plan is Pro."),
    ],
)
def test_asked_part(text: str, asked: str) -> None:
    """The question alone, where something is told beside it."""
    assert extract_question_part(text) == asked


def test_a_fact_written_down() -> None:
    """Words that state a subject have it; others are their own."""
    assert parse_fact(" My plan is Basic. ").subject == "plan"
    assert (parse_fact("Lunch at twelve.").subject, parse_fact("Lunch at twelve.").text) == (
        "lunch at twelve",
        "Lunch at twelve",
    )


@pytest.mark.parametrize(
    ("text", "forget", "everything"),
    [
        ("Forget my plan", True, False),
        ("please forget what I told you", True, False),
        ("请忘记我的套餐", True, False),
        ("忘掉我的地址", True, False),
        ("How do I reset a forgotten password?", False, False),
        ("forget how it works, who pays?", False, False),
        ("What do you remember about me?", False, True),
        ("你记得我什么？", False, True),
        ("你知道关于我的哪些事？", False, True),
        ("What is my plan?", False, False),
    ],
)
def test_to_forget_and_to_tell_all(text: str, forget: bool, everything: bool) -> None:
    assert (remember.is_forget_request(text), remember.is_list_all_request(text)) == (
        forget,
        everything,
    )
