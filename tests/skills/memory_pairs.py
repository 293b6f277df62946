"""Pairs of texts that the figures of `skills/memory/recall.py` were chosen on, made by hand, half
of them Chinese.

The one rule: a figure is changed only together with what these pairs show.
"""

from __future__ import annotations

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
