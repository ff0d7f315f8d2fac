#!/usr/bin/env python3
"""Makes kinds.parquet and lists.parquet of this folder with pyarrow, the writer that most people's
files come from: python3 make_parquet.py"""

import datetime
import decimal
import pathlib

import pyarrow as pa
import pyarrow.parquet as pq

HERE = pathlib.Path(__file__).parent
noon = datetime.datetime(2024, 2, 29, 12, 30)


def column(values, kind):
    return pa.array(values, type=kind)


kinds = pa.table({
    "f64": column([0.5, None, -2.0], pa.float64()),
    "f32": column([0.5, None, -2.0], pa.float32()),
    "f16": column([0.5, None, -2.0], pa.float16()),
    "i8": column([-7, None, 3], pa.int8()),
    "i64": column([1, None, -(2**53)], pa.int64()),
    "big": column([2**53 + 1, None, 1], pa.int64()),
    "u32": column([2**32 - 1, None, 0], pa.uint32()),
    "u64": column([2**64 - 1, None, 0], pa.uint64()),
    "bool": column([True, None, False], pa.bool_()),
    "decimal": column([decimal.Decimal("12.34"), None, decimal.Decimal("-0.05")], pa.decimal128(9, 2)),
    "text": column(["Kyōto", None, ""], pa.string()),
    "category": pa.array(["a", None, "a"]).dictionary_encode(),
    "date": column([datetime.date(2024, 2, 29), None, datetime.date(1969, 12, 31)], pa.date32()),
    "milli": column([noon, None, noon], pa.timestamp("ms")),
    "nano": column([1_709_209_800_000_000_001, None, 0], pa.timestamp("ns")),
    "point": pa.array([{"x": 1.5, "y": 2.0}, None, {"x": None, "y": 0.0}]),
})
pq.write_table(kinds, HERE / "kinds.parquet", compression="snappy")
pq.write_table(pa.table({"tags": [["a"], [], ["b", "c"]]}), HERE / "lists.parquet")
