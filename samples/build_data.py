"""Builds the tables of `data/`: costs, their Chinese counterpart and orders of the made-up company
Wainfell (万驮).

The one rule: no clock, no chance: the same bytes each time. Run `python samples/build_data.py`, or
with `--check` to compare with what is committed. Nothing but Python is needed.
"""

# ruff: noqa: INP001, S311 - a folder of scripts; sampling is not cryptography

from __future__ import annotations

import csv
import io
import random
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

HERE = Path(__file__).resolve().parent / "data"
Cell = str | float | None
MONTHS = [f"2025-{month:02}" for month in range(1, 7)]
COSTS = {  # function -> service -> (supplier, monthly cost in EUR)
    "IT": {
        "Cloud hosting": ("Nordlicht Cloud", 18_400.0),
        "Network": ("Maasnet", 4_150.0),
        "Laptops and phones": ("Delft Devices", 7_900.0),
        "Help desk": ("Wainfell", 11_250.0),
        "Software licences": ("several", 9_620.0),
    },
    "HR": {
        "Payroll": ("Loonwerk", 3_300.0),
        "Recruiting": ("Talentbrug", 6_800.0),
        "Training": ("several", 2_450.0),
    },
    "Finance": {"Audit": ("Van Dam & Yu", 5_200.0), "Bookkeeping": ("Wainfell", 8_700.0)},
    "Facilities": {
        "Rent": ("Havenbedrijf Zuid", 26_000.0),
        "Energy": ("Stroomwijk", 5_480.0),
        "Cleaning": ("Blink", 2_100.0),
    },
    "Marketing": {"Trade fairs": ("several", 7_300.0), "Online ads": ("several", 12_900.0)},
}
BUDGET = {
    "IT": 640_000,
    "HR": 160_000,
    "Finance": 170_000,
    "Facilities": 410_000,
    "Marketing": 260_000,
}
FEES = {  # 部门 -> 服务 -> 每月金额（元）
    "信息技术部": {
        "云主机": 86_000.0,
        "网络专线": 21_500.0,
        "软件许可": 47_300.0,
        "运维支持": 58_000.0,
    },
    "人力资源部": {"招聘": 32_000.0, "培训": 18_600.0},
    "财务部": {"审计": 41_000.0, "代理记账": 12_800.0},
    "市场部": {"展会": 66_000.0, "线上推广": 93_500.0},
}
CITIES = {
    "Rotterdam": "Europe",
    "Hamburg": "Europe",
    "Lyon": "Europe",
    "Toronto": "North America",
    "杭州": "China",
    "成都": "China",
}
PRODUCTS = {
    "Drover 2": 4_290.0,
    "Drover 2 XL": 4_990.0,
    "T300": 6_450.0,
    "Spare battery": 780.0,
    "Rain cover": 129.0,
}
STATUSES = ["delivered", "delivered", "delivered", "shipped", "returned"]

CONTENT = "application/vnd.openxmlformats-officedocument.spreadsheetml"
NS = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATED = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
STYLES = (
    f'<styleSheet xmlns="{NS}"><fonts count="2"><font><sz val="11"/><name '
    'val="Arial"/></font><font><b/><sz val="11"/><name val="Arial"/></font></fonts><fills '
    'count="1"><fill><patternFill patternType="none"/></fill></fills><borders '
    'count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs '
    'count="3"><xf/><xf fontId="1" applyFont="1"/><xf numFmtId="4" '
    'applyNumberFormat="1"/></cellXfs></styleSheet>'
)


def varied(chance: random.Random, amount: float) -> float:
    """A monthly amount within a tenth of its usual one, in whole cents."""
    return round(amount * chance.uniform(0.9, 1.1), 2)


def costs(chance: random.Random) -> list[list[Cell]]:
    rows: list[list[Cell]] = [["Wainfell Europe: operating costs, first half of 2025, in EUR"], []]
    rows.append(["Function", "Service", "Supplier", "Month", "Cost"])
    for month in MONTHS:
        for function, services in COSTS.items():
            rows += [
                [function, service, who, month, varied(chance, usual)]
                for service, (who, usual) in services.items()
            ]
    total = round(sum(row[4] for row in rows[3:] if isinstance(row[4], float)), 2)
    return [*rows, ["Total", None, None, None, total]]


def fees(chance: random.Random) -> tuple[list[list[Cell]], list[str]]:
    """Rows and merged cells: the title spans all columns, a department all its rows."""
    rows: list[list[Cell]] = [
        ["万驮中国 2025 年上半年费用明细"],
        ["部门", "服务", "月份", "金额（元）"],
    ]
    merged = ["A1:D1"]
    for department, services in FEES.items():
        first = len(rows) + 1
        for service, usual in services.items():
            for month in range(1, 7):
                name = department if len(rows) + 1 == first else None
                rows.append([name, service, f"2025年{month}月", round(varied(chance, usual))])
        merged.append(f"A{first}:A{len(rows)}")
    total = sum(row[3] for row in rows[2:] if isinstance(row[3], int))
    return [*rows, ["合计", None, None, total], [], ["注：金额不含税，数据为虚构。"]], merged


def orders(chance: random.Random) -> str:
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(
        ["Order no", "Date", "City", "Region", "Product", "Quantity", "Unit price", "Status"]
    )
    for number in range(1, 121):
        city, product = chance.choice(list(CITIES)), chance.choice(list(PRODUCTS))
        day = f"2025-{chance.randint(1, 6):02}-{chance.randint(1, 28):02}"
        quantity, price = chance.randint(1, 6), f"€{PRODUCTS[product]:,.2f}"
        writer.writerow(
            [
                f"{number:05}",
                day,
                city,
                CITIES[city],
                product,
                quantity,
                price,
                chance.choice(STATUSES),
            ]
        )
    return target.getvalue()


def sheet(rows: Sequence[Sequence[Cell]], merged: Sequence[str]) -> str:
    lines = []
    for y, row in enumerate(rows, 1):
        cells = "".join(
            cell(f"{chr(65 + x)}{y}", value) for x, value in enumerate(row) if value is not None
        )
        lines.append(f'<row r="{y}">{cells}</row>')
    spans = "".join(f'<mergeCell ref="{span}"/>' for span in merged)
    merges = f'<mergeCells count="{len(merged)}">{spans}</mergeCells>' if merged else ""
    return f'<worksheet xmlns="{NS}"><sheetData>{"".join(lines)}</sheetData>{merges}</worksheet>'


def cell(place: str, value: str | float) -> str:
    if isinstance(value, str):
        return f'<c r="{place}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'
    return f'<c r="{place}" s="2"><v>{value}</v></c>'


def workbook(sheets: dict[str, tuple[Sequence[Sequence[Cell]], Sequence[str]]]) -> bytes:
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default '
        'Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" '
        f'ContentType="{CONTENT}.sheet.main+xml"/><Override PartName="/xl/styles.xml" '
        f'ContentType="{CONTENT}.styles+xml"/>'
        + "".join(
            f'<Override PartName="/xl/worksheets/sheet{n}.xml" '
            f'ContentType="{CONTENT}.worksheet+xml"/>'
            for n in range(1, len(sheets) + 1)
        )
        + "</Types>",
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="rId1" '
        f'Type="{RELATED}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{NS}" xmlns:r="{RELATED}"><sheets>'
        + "".join(
            f'<sheet name="{escape(name)}" sheetId="{n}" r:id="rId{n}"/>'
            for n, name in enumerate(sheets, 1)
        )
        + "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships">'
        + "".join(
            f'<Relationship Id="rId{n}" Type="{RELATED}/worksheet" '
            f'Target="worksheets/sheet{n}.xml"/>'
            for n in range(1, len(sheets) + 1)
        )
        + f'<Relationship Id="rId{len(sheets) + 1}" Type="{RELATED}/styles" '
        'Target="styles.xml"/></Relationships>',
        "xl/styles.xml": STYLES,
    }
    for n, (rows, merged) in enumerate(sheets.values(), 1):
        parts[f"xl/worksheets/sheet{n}.xml"] = sheet(rows, merged)
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            entry = zipfile.ZipInfo(name, (2025, 7, 1, 9, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(
                entry, '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n' + text
            )
    return target.getvalue()


def files() -> dict[str, bytes]:
    chance = random.Random(2025)
    budget: list[list[Cell]] = [
        ["Function", "Year", "Budget"],
        *([name, 2025, amount] for name, amount in BUDGET.items()),
    ]
    return {
        "costs.xlsx": workbook({"Costs": (costs(chance), ["A1:E1"]), "Budget": (budget, [])}),
        "费用.xlsx": workbook({"费用明细": fees(chance)}),
        "orders.csv": orders(chance).encode(),
    }


def main(check: bool) -> int:
    """Write every file, or say which would change. Exit code 1 when one does."""
    changed = False
    for name, data in files().items():
        same = (HERE / name).is_file() and (HERE / name).read_bytes() == data
        changed = changed or not same
        if not check:
            (HERE / name).write_bytes(data)
        sys.stdout.write(f"{name}: {len(data):,} bytes, {'unchanged' if same else 'changed'}\n")
    return 1 if check and changed else 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
