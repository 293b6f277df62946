"""A small schema of a shop, as an engine would tell it."""

from __future__ import annotations

from citewell.sql.engines.engine import Column, ForeignKey, Schema, Table

SHOP = Schema(
    "sqlite",
    (
        Table(
            "customer",
            (
                Column("customer_id", "INT", "number"),
                Column("Name", "TEXT", "text", values=("Ada Brown", "李伟"), distinct=2),
                Column("City", "TEXT", "text", values=("Paris", "Beijing", "上海"), distinct=3),
                Column("BirthYear", "INT", "number", lowest=1950, highest=2000),
            ),
            rows=2,
            primary_key=("customer_id",),
        ),
        Table(
            "sale",
            (
                Column("sale_id", "INT", "number"),
                Column("customer_id", "INT", "number"),
                Column("product_id", "INT", "number"),
                Column("amount", "REAL", "number"),
                Column("status", "TEXT", "text", values=("paid", "open"), distinct=2),
            ),
            rows=10,
            primary_key=("sale_id",),
            foreign_keys=(
                ForeignKey(("customer_id",), "customer", ("customer_id",)),
                ForeignKey(("product_id",), "product", ("product_id",)),
            ),
        ),
        Table(
            "product",
            (
                Column("product_id", "INT", "number"),
                Column(
                    "title",
                    "TEXT",
                    "text",
                    comment="what it is sold as",
                    values=("Drover 2", "Lark"),
                    distinct=2,
                ),
                Column("made in", "TEXT", "text", values=("Paris", "Lyon"), distinct=2),
            ),
            rows=2,
            primary_key=("product_id",),
        ),
    ),
)
