"""Pairs of texts that the figures of `skills/alike.py` and `skills/recall.py` were chosen on, made by hand, half of them
Chinese.

The one rule: a figure is changed only together with what these pairs show.
"""

from __future__ import annotations

# The same asked in other words.
SAME_QUESTION: tuple[tuple[str, str], ...] = (
    ("How long is the warranty?", "What is the warranty period?"),
    ("How do I get a refund?", "What are the steps to request a refund?"),
    ("When was the lighthouse built?", "In which year was the lighthouse constructed?"),
    ("Can I bring my dog to the office?", "Are dogs allowed in the office?"),
    ("How many days of annual leave do employees get?", "What is the annual leave entitlement?"),
    ("What does the Pro plan cost?", "How much is the Pro plan?"),
    ("who is the ceo", "Who is the chief executive of the company?"),
    ("保修期多长？", "保修期是多久？"),
    ("怎么申请退款？", "退款要如何办理？"),
    ("灯塔是哪一年建的？", "灯塔建于何时？"),
    ("年假有几天？", "员工每年有多少天年假？"),
    ("专业版多少钱？", "专业版的价格是多少？"),
    ("可以带狗上班吗？", "公司允许带宠物狗进办公室吗？"),
    ("How long is the warranty?", "保修期多长？"),
    ("发票怎么开？", "如何开具发票？"),
    ("Where is the head office?", "Where are the headquarters?"),
    ("How do I reset the router?", "How can the router be reset?"),
    ("What are the opening hours?", "When are you open?"),
    ("公司总部在哪里？", "总部的地址在哪儿？"),
    ("怎么重置路由器？", "路由器如何重置？"),
    ("营业时间是什么？", "几点营业？"),
    ("退货期限是多久？", "多少天之内可以退货？"),
)

# One word makes it another question.
OTHER_QUESTION: tuple[tuple[str, str], ...] = (
    ("How long is the warranty of the battery?", "How long is the warranty of the pump?"),
    ("What does the Pro plan cost?", "What does the Basic plan cost?"),
    ("When was the lighthouse built?", "When was the lighthouse painted?"),
    ("How do I get a refund?", "How do I get an invoice?"),
    ("What is the limit for 2023?", "What is the limit for 2024?"),
    ("Is export to PDF supported?", "Is export to Excel supported?"),
    ("How do I install the filter?", "How do I remove the filter?"),
    ("Who may approve travel?", "Who may approve overtime?"),
    ("专业版多少钱？", "基础版多少钱？"),
    ("年假有几天？", "病假有几天？"),
    ("电池保修期多长？", "水泵保修期多长？"),
    ("怎么申请退款？", "怎么申请发票？"),
    ("2023年的上限是多少？", "2024年的上限是多少？"),
    ("如何安装滤芯？", "如何拆卸滤芯？"),
    (
        "How long is the warranty period of the pump in the northern region for business customers?",
        "How long is the warranty period of the battery in the northern region for business customers?",
    ),
    (
        "How do I install the filter of the water purifier in the kitchen?",
        "How do I remove the filter of the water purifier in the kitchen?",
    ),
    (
        "Which documents are needed to apply for a residence permit in the city?",
        "Which documents are needed to apply for a parking permit in the city?",
    ),
    ("When does the contract with the cleaning company start?", "When does the contract with the cleaning company end?"),
    ("What is the maximum speed of the train on the old line?", "What is the minimum speed of the train on the old line?"),
    ("商务客户在北区购买的水泵保修期是多长时间？", "商务客户在北区购买的电池保修期是多长时间？"),
    ("申请居住证需要准备哪些材料？", "申请停车证需要准备哪些材料？"),
    ("和保洁公司的合同什么时候开始？", "和保洁公司的合同什么时候结束？"),
    ("老线路上列车的最高速度是多少？", "老线路上列车的最低速度是多少？"),
    ("厨房净水器的滤芯如何安装？", "厨房净水器的滤芯如何拆卸？"),
    ("员工每年有多少天年假？", "经理每年有多少天年假？"),
    ("How many days of leave do employees get?", "How many days of leave do managers get?"),
    ("Does the Pro plan include phone support?", "Does the pro plan include email support?"),
    ("Who wrote the report?", "Who read the report?"),
    ("谁写了这份报告？", "谁审核了这份报告？"),
    ("What is the refund period for my plan (Pro)?", "What is the refund period for my plan (Basic)?"),
    ("What is the refund period?", "What is the refund fee?"),
    ("When does it start?", "When does it end?"),
    ("When does the shop open?", "When does the shop close?"),
    ("商店几点开门？", "商店几点关门？"),
    ("最高速度是多少？", "最低速度是多少？"),
    ("What is the maximum speed?", "What is the minimum speed?"),
    ("怎么安装滤芯？", "怎么拆卸滤芯？"),
    ("How do I enable sync?", "How do I disable sync?"),
    ("如何开启同步？", "如何关闭同步？"),
    ("Who is the buyer?", "Who is the seller?"),
    ("买方是谁？", "卖方是谁？"),
)

# Nothing in common.
UNRELATED: tuple[tuple[str, str], ...] = (
    ("How long is the warranty?", "Who painted the Mona Lisa?"),
    ("What does the Pro plan cost?", "When does the museum open on Sunday?"),
    ("How do I get a refund?", "What is the boiling point of nitrogen?"),
    ("Can I bring my dog to the office?", "How do I install the filter?"),
    ("When was the lighthouse built?", "How many days of annual leave do employees get?"),
    ("保修期多长？", "蒙娜丽莎是谁画的？"),
    ("专业版多少钱？", "博物馆周日几点开门？"),
    ("怎么申请退款？", "液氮的沸点是多少？"),
    ("可以带狗上班吗？", "如何安装滤芯？"),
    ("灯塔是哪一年建的？", "年假有几天？"),
    ("保修期多长？", "Who painted the Mona Lisa?"),
)

# A question, and a fact that it is about.
BEARS: tuple[tuple[str, str], ...] = (
    ("What is the refund period for my plan?", "my plan is Pro"),
    ("How much does my plan cost?", "My plan is Pro."),
    ("What is my name?", "my name is Li Lei"),
    ("Where is our office?", "our office is in Shenzhen"),
    ("Where do I work?", "I work in the sales department"),
    ("Which database do I use?", "I use PostgreSQL"),
    ("Which city do I live in?", "I live in Berlin"),
    ("What are the travel rules for my department?", "my department is Research"),
    ("我的套餐多少钱？", "我的套餐是专业版"),
    ("我叫什么名字？", "我叫李雷"),
    ("我们公司在哪里？", "我们公司在深圳"),
    ("我在哪个部门工作？", "我在销售部工作"),
    ("我用的是什么数据库？", "我用的是PostgreSQL"),
    ("我住在哪个城市？", "我住在北京"),
    ("我的部门出差标准是多少？", "我的部门是研发部"),
)

# A question, and a fact that it is not about.
BEARS_NOT: tuple[tuple[str, str], ...] = (
    ("How long is the warranty?", "my plan is Pro"),
    ("When was the lighthouse built?", "my name is Li Lei"),
    ("What is the boiling point of nitrogen?", "I live in Berlin"),
    ("How do I install the filter?", "I work in the sales department"),
    ("Who painted the Mona Lisa?", "I use PostgreSQL"),
    ("What does the Basic plan cost?", "my name is Li Lei"),
    ("How many days of annual leave do employees get?", "my plan is Pro"),
    ("What is my name?", "my plan is Pro"),
    ("What is the refund period for my plan?", "my name is Li Lei"),
    ("保修期多长？", "我的套餐是专业版"),
    ("灯塔是哪一年建的？", "我叫李雷"),
    ("液氮的沸点是多少？", "我住在北京"),
    ("如何安装滤芯？", "我在销售部工作"),
    ("蒙娜丽莎是谁画的？", "我用的是PostgreSQL"),
    ("年假有几天？", "我叫李雷"),
    ("我的套餐多少钱？", "我叫李雷"),
    ("我叫什么名字？", "我的套餐是专业版"),
)
