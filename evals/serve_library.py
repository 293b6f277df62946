"""Documents and questions for the bench of the server: a lighthouse each, with figures that no
other has.

The one rule: an answer tells whose it is. What is asked of one document stands in no other, so an
answer that went astray shows.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

FIRST = (
    "Nor",
    "Sal",
    "Tor",
    "Vel",
    "Har",
    "Mor",
    "Kel",
    "Bran",
    "Fen",
    "Gol",
    "Lin",
    "Ost",
    "Pel",
    "Rav",
    "Sund",
    "Wex",
)
LAST = (
    "haven",
    "moor",
    "ness",
    "wick",
    "strand",
    "holm",
    "fjord",
    "mouth",
    "gard",
    "cliff",
    "skerry",
    "bay",
    "point",
    "sound",
)
FIRST_ZH = "青白金玉云海松石月风龙鹤银江南北"
LAST_ZH = "岬角湾岛礁洲港浦崖滩汀屿沙口"
CHINESE = 4  # every fourth


@dataclass(frozen=True, slots=True)
class Asking:
    """A question, and what stands in the right answer and in nobody else's."""

    question: str
    marker: str


@dataclass(frozen=True, slots=True)
class Subject:
    """A document, and what a conversation about it asks, in order."""

    file: str
    text: str
    asks: tuple[Asking, ...]


def subject(number: int) -> Subject:
    """The document and the conversation of this number; up to 200 have names of their own."""
    return _chinese(number) if number % CHINESE == CHINESE - 1 else _english(number)


def write(folder: Path, count: int) -> Path:
    """A folder with so many documents."""
    folder.mkdir(parents=True)
    for each in map(subject, range(count)):
        (folder / each.file).write_text(each.text, "utf-8")
    return folder


def _english(number: int) -> Subject:
    name = FIRST[number % len(FIRST)] + LAST[number // len(FIRST) % len(LAST)]
    year, height, steps, keeper = (
        1500 + number,
        f"{20 + number}.{number % 10}",
        4_000 + 7 * number,
        f"Anna {name[:-2]}berg",
    )
    text = f"""# The lighthouse of {name}

The lighthouse of {name} was built in the year {year} by the harbour board, after three ships \
had been lost on the reef.

## Tower

The tower of the lighthouse of {name} is {height} metres high, measured from the rock to the \
gallery below its lantern.

The way up to the lantern of {name} has {steps} steps, and visitors may climb them from May to \
September.

## People

The first keeper of the lighthouse of {name} was {keeper}, who lived there with her family and \
two dogs for many years.

The harbour board paid for oil, coal and a boat, and sent a doctor twice a year in all weathers.
"""
    asks = (
        Asking(f"In which year was the lighthouse of {name} built?", str(year)),
        Asking(f"How high is the tower of the lighthouse of {name}?", height),
        Asking(f"Who was the first keeper of the lighthouse of {name}?", keeper),
        Asking(f"How many steps has the way up to the lantern of {name}?", str(steps)),
    )
    return Subject(f"{number:03}-{name}.md", text, asks)


def _chinese(number: int) -> Subject:
    name = FIRST_ZH[number % len(FIRST_ZH)] + LAST_ZH[number // len(FIRST_ZH) % len(LAST_ZH)] + "岭"
    year, height, steps, keeper = 1500 + number, 20 + number, 4_000 + 7 * number, f"林{name[:2]}生"
    text = f"""# {name}灯塔

{name}灯塔建于{year}年，由港务局出资修建，因为此前有三艘船在礁石上失事。

## 塔身

{name}灯塔的塔身高{height}米，从岩石量到灯笼下面的走廊为止。

{name}灯塔的楼梯有{steps}级台阶，游客五月到九月可以登塔参观。

## 人员

{name}灯塔的第一任守塔人是{keeper}，他和家人在那里住了很多年。

港务局负责灯油、煤炭和一艘小船的费用，并且每年派医生来两次，风雨无阻。
"""
    asks = (
        Asking(f"{name}灯塔建于哪一年？", f"{year}年"),
        Asking(f"{name}灯塔的塔身高多少米？", f"{height}米"),
        Asking(f"{name}灯塔的楼梯有多少级台阶？", f"{steps}级"),
        Asking(f"{name}灯塔的第一任守塔人是谁？", keeper),
    )
    return Subject(f"{number:03}-{name}.md", text, asks)
