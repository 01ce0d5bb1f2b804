#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tables through the Arrow C stream interface into pyarrow, polars, pandas and DuckDB. Prints TAP.

Runs in the cache's venv of Python packages; the environment holds PYTHONPATH (the package that was built).
"""

import datetime
import pathlib
import subprocess
import sys
import tempfile
import unittest

import tap
import written
from support import EXAMPLE, RECORDINGS, TREE, hotstack as hotstack_program, sums, totals_of_program, unpacked

import hotstack

ALL = list(hotstack.SAMPLE_COLUMNS)


def recordings():
    return [hotstack.open(path) for path in RECORDINGS[:5]]


class Readers(unittest.TestCase):
    """Each reader has the rows that Python sees without one."""

    def test_pyarrow(self):
        import pyarrow

        for recording in recordings():
            for table in (recording.samples(columns=ALL), recording.events("ActiveSetting")):
                there = pyarrow.table(table)
                there.validate(full=True)
                self.assertEqual(list(there.column_names), list(table.columns))
                names = [name for name in there.column_names if table.columns[name] in ("text", "int64")]
                rows = [{name: row[name] for name in names} for row in table]
                self.assertEqual(there.select(names).to_pylist(), rows)
            time = pyarrow.table(recording.samples(columns=["time"]))
            self.assertEqual(time.schema.field("time").type, pyarrow.timestamp("ns", "UTC"))
            self.assertEqual(
                time["time"].cast(pyarrow.int64()).to_pylist(),
                [row["time"] for row in recording.samples(columns=["time"])],
            )

    def test_pyarrow_reads_every_event_type(self):
        import pyarrow

        for recording in recordings():
            for name, row in recording.event_types().items():
                table = pyarrow.table(recording.events(name))
                table.validate(full=True)
                self.assertEqual(table.num_rows, row.events, name)

    def test_a_type_without_fields_keeps_its_rows(self):
        import pyarrow

        table = hotstack.open(written.chunk({"event.Bare": []}, [("event.Bare", [])] * 3)).events("event.Bare")
        self.assertEqual(table.to_pandas().shape, (3, 0))
        self.assertEqual(sum(pyarrow.record_batch(batch).num_rows for batch in table.batches()), 3)

    def test_types_are_those_that_readers_have(self):
        import pyarrow

        for table in (hotstack.open(EXAMPLE).samples(columns=ALL), hotstack.open(EXAMPLE).events("JavaMonitorEnter"), hotstack.open(RECORDINGS[-1]).events("CPULoad")):
            self.assertEqual({field.name: str(field.type) for field in pyarrow.schema(table)}, table.schema)
            frame = table.to_pandas()
            full = [name for name in table.columns if not frame[name].isna().any()]
            self.assertEqual({name: str(frame[name].dtype) for name in full}, {name: table.dtypes[name] for name in full})

    def test_pyarrow_takes_batches(self):
        import pyarrow

        table = hotstack.open(EXAMPLE).samples()
        batches = [pyarrow.record_batch(batch) for batch in table.batches()]
        self.assertEqual(pyarrow.Table.from_batches(batches), table.to_arrow())
        self.assertEqual(table.to_arrow(), pyarrow.table(table))

    def test_pandas(self):
        import pandas

        for recording in recordings():
            table = recording.samples(columns=ALL)
            frame = table.to_pandas()
            self.assertEqual(frame.groupby("type", observed=True)["value"].sum().to_dict(), sums(table))
            there = pandas.DataFrame.from_arrow(table)
            self.assertEqual(there["value"].sum(), frame["value"].sum())
            self.assertEqual(there["stack_id"].nunique(), frame["stack_id"].nunique())
            self.assertEqual(str(there["time"].dt.tz), "UTC")

    def test_the_constructor_of_pandas_names_what_keeps_the_types(self):
        """It would make integers of times: it asks for an array, or else for rows."""
        import numpy
        import pandas

        for table in (hotstack.open(EXAMPLE).samples(), hotstack.open(EXAMPLE).events("CPULoad")):
            for make in (pandas.DataFrame, pandas.Series, numpy.asarray):
                with self.assertRaisesRegex(hotstack.UsageError, r"table\.to_pandas\(\)"):
                    make(table)
            self.assertEqual(numpy.array(table[next(iter(table.columns))]).shape, (len(table),))

    def same_as_pyarrow(self, table):
        """The frame, which C's own memory holds, has what pyarrow makes of the table: values, types, the codes' widths."""
        import pandas

        frame, wanted = table.to_pandas(), table.to_arrow().to_pandas()
        for name in (name for name, kind in table.columns.items() if kind == "text"):
            if wanted[name].cat.categories.empty:  # pyarrow makes them objects; we always make text
                wanted[name] = wanted[name].cat.set_categories(pandas.Index([], dtype=str))
            self.assertEqual(frame[name].cat.codes.dtype, wanted[name].cat.codes.dtype, name)
        pandas.testing.assert_frame_equal(frame, wanted, check_exact=True)
        return frame

    def test_texts_beyond_what_a_batch_holds_come_whole(self):
        """A frame gathers all batches: its text may grow past a batch's limit of 16 MiB."""
        deep = TREE / "tests/data/jfr/cut/async-wall-jdk21.jfr.gz"
        copies = 600  # some 30 kB of distinct stacks each
        one = hotstack.open(deep).samples(columns=["stack"]).to_pandas()
        many = hotstack.open(*[deep] * copies).samples(columns=["stack"]).to_pandas()
        self.assertEqual(len(many), copies * len(one))
        self.assertEqual(
            many["stack"].value_counts().to_dict(), (one["stack"].value_counts() * copies).to_dict()
        )

    def test_pandas_has_what_pyarrow_makes_of_samples(self):
        for recording in recordings():
            self.same_as_pyarrow(recording.samples(columns=ALL))

    def test_pandas_has_what_pyarrow_makes_of_every_event_type(self):
        recording, seen = hotstack.open(*RECORDINGS[:5]), set()
        types = recording.event_types()
        empty = next(name for name, row in types.items() if row.events == 0 and len(row.fields) > 3)
        for name in (empty, *(name for name, row in types.items() if row.events > 0)):
            table = recording.events(name)
            frame = self.same_as_pyarrow(table)
            seen |= {(kind, bool(frame[name].isna().any())) for name, kind in table.columns.items()}
        kinds = ("bool", "int64", "uint64", "float64", "timestamp[ns, UTC]", "duration[ns]", "text")
        wanted = {(kind, absent) for kind in kinds for absent in (False, True)} - {("uint64", True), ("float64", True)}
        self.assertEqual(seen, wanted)

    def test_pandas_codes_grow_with_the_words(self):
        data = unpacked(EXAMPLE)
        names = {row["thread"] for row in hotstack.open(data).samples(columns=["thread"])}
        self.assertIn("burner-1", names)
        copies = [data.replace(b"burner-1", f"burn{number:04}".encode()) for number in range(127)]
        for words, width in ((126, "int8"), (127, "int16")):
            some = copies[: words - len(names) + 1]
            frame = self.same_as_pyarrow(hotstack.open(*some).samples(columns=["thread"]))
            self.assertEqual((frame["thread"].nunique(), frame["thread"].cat.codes.dtype), (words, width))

    def test_pandas_frames_can_be_written(self):
        frame = hotstack.open(EXAMPLE).samples(columns=["time", "value", "leaf"]).to_pandas()
        total = frame["value"].sum()
        frame["value"] += 1
        frame.loc[0, "leaf"] = frame["leaf"].iloc[-1]
        self.assertEqual(frame["value"].sum(), total + len(frame))
        values = frame["value"].to_numpy()
        self.assertEqual(values.sum(), total + len(frame))

    def test_pandas_tells_progress_and_can_be_stopped(self):
        data, told = unpacked(EXAMPLE) * 300, []
        hotstack.open(data, progress=lambda *now: told.append(now)).samples().to_pandas()
        self.assertGreater(len(told), 2)
        self.assertEqual((sorted(told), told[-1]), (told, (len(data), len(data))))

        def stop(done, total):
            raise KeyError("enough")

        with self.assertRaisesRegex(KeyError, "enough"):
            hotstack.open(data, progress=stop).samples().to_pandas()

    def test_pandas_without_pyarrow(self):
        code = (
            "import sys; sys.modules['pyarrow'] = None\n"
            "import hotstack; print(hotstack.open(sys.argv[1]).samples().to_pandas()['value'].sum())"
        )
        done = subprocess.run([sys.executable, "-c", code, EXAMPLE], capture_output=True, text=True, check=True)
        self.assertEqual(int(done.stdout), sum(sums(hotstack.open(EXAMPLE).samples()).values()))

    def test_pandas_durations(self):
        waits = hotstack.open(EXAMPLE).events("JavaMonitorEnter")
        total = sum(row["duration"] for row in waits)
        self.assertEqual(waits.to_pandas()["duration"].sum().value, total)

    def test_polars(self):
        import polars

        for recording in recordings():
            table = recording.samples(columns=ALL)
            frame = polars.DataFrame(table)
            there = frame.group_by(polars.col("type").cast(polars.String)).agg(polars.col("value").sum())
            self.assertEqual(dict(there.iter_rows()), sums(table))
            self.assertEqual(table.to_polars()["leaf"].cast(polars.String).to_list(), [row["leaf"] for row in table])
            self.assertEqual(frame["time"].dtype, polars.Datetime("ns", "UTC"))

    def test_duckdb(self):
        import duckdb

        for recording in recordings():
            samples = recording.samples(columns=ALL)
            rows = duckdb.sql("select type, sum(value)::bigint from samples group by type").fetchall()
            self.assertEqual(dict(rows), sums(samples))
            waits = recording.events("ThreadPark")
            count = duckdb.sql('select count(*) from waits where "eventThread" is not null').fetchall()[0][0]
            self.assertEqual(count, sum(1 for row in waits if row["eventThread"] is not None))


class Files(unittest.TestCase):
    """The Arrow IPC file of `hotstack convert` has the same totals in each reader."""

    def test_each_reader_adds_up_the_same(self):
        import duckdb
        import pandas
        import polars
        import pyarrow.ipc

        with tempfile.TemporaryDirectory() as folder:
            for path in RECORDINGS[:5]:
                file = pathlib.Path(folder) / "x.arrow"
                hotstack_program("convert", path, "-o", file)
                totals = {name: row["value"] for name, row in totals_of_program(path).items()}
                rows = pyarrow.ipc.open_file(file).read_all()
                rows.validate(full=True)
                self.assertEqual(sums(rows.select(["type", "value"]).to_pylist()), totals)
                frame = pandas.read_feather(file)
                self.assertEqual(frame.groupby("type", observed=True)["value"].sum().to_dict(), totals)
                there = polars.read_ipc(file).group_by(polars.col("type").cast(polars.String)).agg(polars.col("value").sum())
                self.assertEqual(dict(there.iter_rows()), totals)
                found = duckdb.sql("select type, sum(value)::bigint from rows group by type").fetchall()
                self.assertEqual(dict(found), totals)


class Streams(unittest.TestCase):
    def test_many_chunks_and_batches_are_one_table(self):
        import pyarrow

        data = unpacked(EXAMPLE)
        recording = hotstack.open(data * 300)
        table = recording.samples(columns=ALL)
        sizes = [len(batch) for batch in table.batches()]
        self.assertGreater(len(sizes), 2)
        self.assertLessEqual(max(sizes), 65_540)
        one = pyarrow.table(hotstack.open(data).samples(columns=ALL))
        there = pyarrow.table(table)
        self.assertEqual(there.num_rows, one.num_rows * 300)
        self.assertEqual(there.slice(one.num_rows * 299).to_pylist(), one.to_pylist())
        self.assertEqual(table.to_polars().height, there.num_rows)
        frame = table.to_pandas()
        self.assertEqual(frame["value"].sum(), 300 * sum(one["value"].to_pylist()))
        self.assertEqual(frame["stack"].tolist(), one["stack"].to_pylist() * 300)

    def test_text_ends_a_batch_too(self):
        import pyarrow

        table = hotstack.open(unpacked(EXAMPLE) * 300).events("ActiveSetting", ["name", "value"])
        self.assertEqual(pyarrow.table(table).num_rows, 300 * 30)

    def test_a_stream_outlives_its_recording(self):
        import pyarrow

        recording = hotstack.open(bytearray(unpacked(EXAMPLE)))
        reader = pyarrow.RecordBatchReader.from_stream(recording.samples())
        del recording
        self.assertEqual(reader.read_all().num_rows, 574)

    def test_an_error_on_the_way_names_the_place(self):
        import pyarrow

        good = unpacked(EXAMPLE)
        bad = bytearray(good)
        recording = hotstack.open(bytes(good), bad)
        table = recording.samples()
        bad[:4] = b"nope"
        with self.assertRaisesRegex(pyarrow.ArrowInvalid, "input 1: at byte 0"):
            pyarrow.table(table)
        with self.assertRaises(hotstack.FormatError):
            list(table)

    def test_a_batch_is_handed_over_once(self):
        batch = next(hotstack.open(EXAMPLE).samples().batches())
        batch.__arrow_c_array__()
        for again in (batch.rows, batch.__arrow_c_array__):
            with self.assertRaisesRegex(hotstack.UsageError, "handed over"):
                again()

    def test_times_are_nanoseconds(self):
        import pyarrow.compute

        recording = hotstack.open(EXAMPLE)
        first = pyarrow.compute.min(pyarrow.table(recording.samples(columns=["time"]))["time"]).as_py()
        start = datetime.datetime.fromtimestamp(recording.chunks()[0].start_ns / 1e9, datetime.UTC)
        self.assertLess(abs((first.to_pydatetime() - start).total_seconds()), 2)


if __name__ == "__main__":
    tap.main(Readers, Files, Streams)
