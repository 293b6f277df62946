"""Files with tables become tables: names, types, headers, totals, what is left out; and files that
are not what they seem.
"""

# ruff: noqa: DTZ001 - cells of tables have no time zone

from __future__ import annotations

import datetime as dt
import itertools
import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from io import BytesIO
from pathlib import Path
from typing import Any

import duckdb
import pytest

from citewell.config import IngestSettings
from citewell.errors import UnreadableFile
from citewell.ingest.tables.import_file import import_file
from citewell.ingest.tables.table_store import Imported

SAMPLES = Path(__file__).resolve().parents[2] / "samples" / "data"


@dataclass
class Read:
    """What came of a file, and the copy to ask."""

    done: Imported
    connection: duckdb.DuckDBPyConnection

    def types(self, table: str) -> dict[str, str]:
        return {row[0]: row[1] for row in self.connection.execute(f'DESCRIBE "{table}"').fetchall()}

    def rows(self, table: str, columns: str = "*") -> list[tuple[Any, ...]]:
        return self.connection.execute(f'SELECT {columns} FROM "{table}"').fetchall()

    @property
    def tables(self) -> list[str]:
        return [table.name for table in self.done.tables]


MORNING, MIDNIGHT = dt.datetime(2024, 1, 5, 8, 30), dt.datetime(2024, 1, 6, 0, 0, 10)
Reader = Callable[..., Read]


@pytest.fixture
def read(tmp_path: Path) -> Reader:
    number = itertools.count()

    def inner(name: str, data: bytes | str, **settings: Any) -> Read:
        source, target = tmp_path / "source", tmp_path / f"copy{next(number)}.part"
        source.write_bytes(data.encode() if isinstance(data, str) else data)
        done = import_file(str(source), str(target), name, IngestSettings(**settings))
        assert not [
            each.name for each in tmp_path.iterdir() if each.name.startswith(target.name + ".")
        ]
        connection = duckdb.connect()
        connection.execute(f"ATTACH '{target}' AS copy (READ_ONLY)")
        connection.execute("USE copy")
        return Read(done, connection)

    return inner


def test_types_of_a_csv(read: Reader) -> None:
    found = read(
        "orders.csv",
        "id,name,amount,day,zip,ok,share,big\n"
        '1,Ann,"1,234.50",2024-01-05,00123,TRUE,12%,123456789012345678901\n'
        "2,Bob,￥1200,2024/1/6,12345,false,3.5%,1\n"
        '3,"李雷, x",N/A,2024年1月7日,00001,TRUE,-,2\n',
    )
    assert found.types("orders") == {
        "id": "BIGINT",
        "name": "VARCHAR",
        "amount": "DECIMAL(18,2)",
        "day": "DATE",
        "zip": "VARCHAR",
        "ok": "BOOLEAN",
        "share": "DOUBLE",
        "big": "VARCHAR",
    }
    assert found.rows("orders", "name, amount, day, zip, ok, share") == [
        ("Ann", Decimal("1234.50"), dt.date(2024, 1, 5), "00123", True, 0.12),
        ("Bob", Decimal("1200.00"), dt.date(2024, 1, 6), "12345", False, 0.035),
        ("李雷, x", None, dt.date(2024, 1, 7), "00001", True, None),
    ]
    assert 'column "share": percentages are kept as fractions: 12% is 0.12' in found.done.warnings
    assert 'column "amount": 1 cell that says "N/A" is left empty' in found.done.warnings
    assert found.connection.execute(
        "SELECT comment FROM duckdb_columns() WHERE column_name = 'amount'"
    ).fetchall() == [("in ¥",)]


@pytest.mark.parametrize(
    ("cells", "type_", "values"),
    [
        (["1", "-2", "+3"], "BIGINT", [1, -2, 3]),
        (["1.5", "2", "0.25"], "DECIMAL(18,2)",
         [Decimal("1.50"), Decimal("2.00"), Decimal("0.25")]),
        (["1e3", "2.5"], "DOUBLE", [1000.0, 2.5]),
        (["$1,000", "($250)"], "BIGINT", [1000, -250]),
        (["１２", "３"], "BIGINT", [12, 3]),
        (["1200元", "80 元"], "BIGINT", [1200, 80]),
        (["$5", "€6"], "VARCHAR", ["$5", "€6"]),
        (["5 Jan 2024", "6 February 2024"], "DATE", [dt.date(2024, 1, 5), dt.date(2024, 2, 6)]),
        (["2024-01-05 08:30", "2024-01-06 00:00:10"], "TIMESTAMP", [MORNING, MIDNIGHT]),
        (["23/04/2024", "01/02/2024"], "DATE", [dt.date(2024, 4, 23), dt.date(2024, 2, 1)]),
        (["01/02/2024", "03/04/2024"], "VARCHAR", ["01/02/2024", "03/04/2024"]),
        (["2024-02-30", "2024-02-01"], "VARCHAR", ["2024-02-30", "2024-02-01"]),
        (["2024-01", "2024-02"], "VARCHAR", ["2024-01", "2024-02"]),
        (["007", "8"], "VARCHAR", ["007", "8"]),
        (["12", "abc"], "VARCHAR", ["12", "abc"]),
        (["yes", "no"], "VARCHAR", ["yes", "no"]),
        (["0x10", "1_000"], "VARCHAR", ["0x10", "1_000"]),
        (["-", "n/a"], "VARCHAR", ["-", "n/a"]),
        (["#DIV/0!", "4"], "BIGINT", [None, 4]),
    ],
)  # fmt: skip
def test_a_column(read: Reader, cells: list[str], type_: str, values: list[Any]) -> None:
    quoted = "".join(f'x,"{cell}"\n' for cell in cells)
    found = read("t.csv", "key,what\n" + quoted)
    assert found.types("t")["what"] == type_
    assert found.rows("t", "what") == [(value,) for value in values]


def test_what_stays_text_is_said(read: Reader) -> None:
    found = read("t.csv", "key,n,d\n" + "x,1,01/02/2024\n" * 9 + "y,about 5,01/02/2024\n")
    assert found.done.warnings == [
        'column "n" is kept as text: 1 of its cells is not a number, such as "about 5"',
        'column "d" is kept as text: its dates may be read in two ways; write them as 2024-01-31',
    ]


def test_one_cell_far_down_decides(read: Reader) -> None:
    """The first guess is made on 20,000 cells; all the others have to agree."""
    rows = "".join(f"{n},{n}\n" for n in range(25_000))
    assert read("t.csv", "a,b\n" + rows).types("t") == {"a": "BIGINT", "b": "BIGINT"}
    assert read("t.csv", "a,b\n" + rows + "x,0.5\n").types("t") == {
        "a": "VARCHAR",
        "b": "DECIMAL(18,1)",
    }


def test_chinese_encodings(read: Reader) -> None:
    text = (
        "部门,服务,费用（元）,日期\n研发部,云主机,1200元,2024年1月5日\n市场部,广告,3400元,"
        "2024年2月5日\n合计,,4600元,\n"
    )
    for encoding in ("gbk", "utf-8-sig", "utf-16"):
        found = read("费用.csv", text.encode(encoding))
        assert found.rows("费用", '"部门", "费用（元）", "日期"') == [
            ("研发部", 1200, dt.date(2024, 1, 5)),
            ("市场部", 3400, dt.date(2024, 2, 5)),
        ]
        assert found.done.warnings == ['row 4 ("合计") adds up rows above it and is left out']


def test_a_report_with_lines_around_its_table(read: Reader) -> None:
    found = read(
        "report.csv",
        "IT cost report 2024\nCurrency:,EUR\n\nFunction,Service,Month,Cost\nIT,Cloud,2024-01,"
        "100.5\nIT,Network,2024-01,200\n"
        "HR,Payroll,2024-01,50\n\nHR,Training,2024-02,70\nTotal,,,420.5\n\nNote: numbers "
        "from SAP\n",
    )
    assert found.tables == ["report"]
    assert len(found.rows("report")) == 4
    assert found.rows("report", "sum(Cost)") == [(Decimal("420.5"),)]
    assert found.connection.execute("SELECT comment FROM duckdb_tables()").fetchall() == [
        ("IT cost report 2024; Currency: EUR",)
    ]
    assert any("SAP" in warning for warning in found.done.warnings)


def test_subtotals_and_a_total_that_is_none(read: Reader) -> None:
    found = read(
        "t.csv",
        "region,city,amount\nNorth,A,10\nNorth,B,20\nSubtotal,,30\nSouth,C,5\nSouth,D,"
        "6\nSubtotal,,11\nTotal,,99\n",
    )
    assert found.rows("t", "region, amount") == [
        ("North", 10),
        ("North", 20),
        ("South", 5),
        ("South", 6),
        ("Total", 99),
    ]
    assert (
        'row 8 ("Total") looks like a total, but does not add up the rows above it, and is kept'
        in found.done.warnings
    )


def test_names_of_columns(read: Reader) -> None:
    found = read("dup.csv", 'Cost,cost,,销售 额,a"b\n100,200,x,1,2\n300,400,y,2,3\n')
    assert list(found.types("dup")) == ["Cost", "cost_2", "column3", "销售 额", 'a"b']
    assert '"cost" is called "cost_2"' in found.done.warnings


def test_headers(read: Reader) -> None:
    assert read("h.csv", "a,b,c\n").types("h") == dict.fromkeys("abc", "VARCHAR")
    nameless = read("n.csv", "1,2\n3,4\n")
    assert nameless.rows("n", "column1, column2") == [(1, 2), (3, 4)]
    assert len(nameless.done.warnings) == 1
    assert read("w.csv", "name,city\nAnn,Paris\nBob,Rome\n").rows("w", "name") == [
        ("Ann",),
        ("Bob",),
    ]


def test_cells_are_data(read: Reader) -> None:
    found = read(
        "x.csv",
        '=cmd|calc,"<script>a</script>"\n1,"=HYPERLINK(""http://x"")"\n2,"two\nlines"\n3,\x02N\n',
    )
    assert found.rows("x", '"<script>a</script>"') == [
        ('=HYPERLINK("http://x")',),
        ("two\nlines",),
        ("\x02N",),
    ]


def test_separators_and_quotes(read: Reader) -> None:
    assert read("t.csv", "name;price\nA;1.234,50\nB;12,5\n").rows("t", "price") == [
        (Decimal("1234.50"),),
        (Decimal("12.50"),),
    ]
    assert read("t.tsv", "a\tb\n1\tx,y\n").rows("t") == [(1, "x,y")]
    open_quote = read("t.csv", 'a,b\n1,"x\n' + "".join(f"{n},z\n" for n in range(300)))
    assert len(open_quote.rows("t")) == 301
    assert len(open_quote.done.warnings) == 1
    ragged = read("t.csv", "a,b\n1\n2,3,4\n")
    assert ragged.rows("t") == [(1, None, None), (2, 3, 4)]


def test_a_long_file_is_read_as_a_stream_to_the_same(read: Reader) -> None:
    rows = [f'{n},"name, {n % 7}",{n / 4},2024-01-{n % 28 + 1:02}\n' for n in range(60_000)]
    found = read(
        "long.csv", "Title\n\nid,name,amount,day\n" + "".join(rows) + "\nTotal,,449992500,\n"
    )
    assert found.types("long") == {
        "id": "BIGINT",
        "name": "VARCHAR",
        "amount": "DECIMAL(18,2)",
        "day": "DATE",
    }
    assert found.rows("long", "count(*), sum(amount), min(name)") == [
        (60_000, Decimal(449992500), "name, 0")
    ]


def test_json(read: Reader) -> None:
    records = [
        {"id": 1, "code": "007", "o": {"x": 1.5, "y": [1, {"z": None}]}},
        {"id": 2, "code": "5", "o": {"x": 2}},
    ]
    found = read("a.json", json.dumps(records))
    assert found.rows("a") == [
        (1, "007", Decimal("1.5"), '[1, {"z": null}]'),
        (2, "5", Decimal("2.0"), None),
    ]
    assert found.done.warnings == ["what nests is kept as JSON text: o.y"]
    two = read("b.json", '{"users": [{"a": 1}], "orders": [{"b": true}]}')
    assert (two.tables, two.rows("orders")) == (["users", "orders"], [(True,)])
    lines = read("c.jsonl", '{"a": 1, "at": "2024-01-05"}\n\n{"a": 2.5, "at": null}\n')
    assert lines.rows("c") == [(Decimal("1.0"), dt.date(2024, 1, 5)), (Decimal("2.5"), None)]
    assert lines.done.warnings == []
    with pytest.raises(
        UnreadableFile, match=r"d.jsonl is not valid JSON: line 2 \(Expecting value\); line 4"
    ) as refused:
        read("d.jsonl", '{"a": 1}\nbroken\n{"a": 2.5}\n{"a": ')
    assert "whole or not at all" in refused.value.hint


def test_parquet(read: Reader, tmp_path: Path) -> None:
    path = tmp_path / "p [1]*.parquet"
    duckdb.execute(
        "COPY (SELECT 1 AS a, 'x' AS b, date '2024-01-05' AS c, [1, 2] AS d) TO "
        f"'{tmp_path / 'plain'}' (FORMAT parquet)"
    )
    data = (tmp_path / "plain").read_bytes()
    assert read(path.name, data).rows("p _1__") == [(1, "x", dt.date(2024, 1, 5), [1, 2])]
    with pytest.raises(UnreadableFile, match="cannot be read"):
        read("p.parquet", data[: len(data) // 2])


def test_the_samples(read: Reader) -> None:
    costs = read("costs.xlsx", (SAMPLES / "costs.xlsx").read_bytes())
    assert costs.tables == ["Costs", "Budget"]
    services = costs.connection.execute(
        "SELECT DISTINCT Service FROM Costs WHERE \"Function\" = 'IT' ORDER BY 1"
    ).fetchall()
    assert [name for (name,) in services] == [
        "Cloud hosting",
        "Help desk",
        "Laptops and phones",
        "Network",
        "Software licences",
    ]
    fees = read("费用.xlsx", (SAMPLES / "费用.xlsx").read_bytes())
    assert fees.rows("费用明细", 'count(*), count(DISTINCT "部门"), count("部门")') == [(60, 4, 60)]
    assert (
        read("orders.csv", (SAMPLES / "orders.csv").read_bytes()).types("orders")["Unit price"]
        == "DECIMAL(18,2)"
    )


def bomb() -> bytes:
    target = BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", b"<workbook/>" + b" " * 50_000_000)
    return target.getvalue()


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("e.csv", b"", "is empty"),
        ("e.csv", b" \n\n", "no text"),
        ("wide.csv", b",".join([b"a"] * 1_000_000) + b"\n", "1,000,000 columns"),
        ("b.csv", bytes(range(256)) * 50, "binary|not text"),
        ("x.pdf", b"%PDF-1.4", "no format with tables"),
        ("bomb.xlsx", bomb(), "zip bombs|too large"),
        ("no.xlsx", b"hello", "does not begin"),
        ("no.xlsx", b"PK\x03\x04rubbish", "broken"),
        ("deep.json", b"[" * 100_000, "too deep"),
        ("no.json", b"{", "not valid JSON"),
        ("plain.json", b"[]", "no records"),
        ("b.sqlite", b"SQLite format 3\0" + b"\xff" * 5000, "broken"),
        ("b.parquet", b"PAR1" + b"\xff" * 500, "cannot be read"),
    ],
)
def test_refusals(read: Reader, name: str, data: bytes, said: str, tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match=said):
        read(name, data)
    assert not [each for each in tmp_path.iterdir() if each.name.startswith("copy")]


def test_limits(read: Reader) -> None:
    with pytest.raises(UnreadableFile, match="12 bytes; 10 are allowed"):
        read("t.csv", "a,b\n1,2\n3,4\n", max_bytes=10)
