#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Damaged recordings through the whole Python API: an exception or an answer, never a crash. Prints TAP.

The environment holds PYTHONPATH (the package that was built).
"""

import json
import random
import unittest

import tap
from support import DATA, FIXTURE_FILES, unpacked

import hotstack


def use(data):
    """Everything that reads, on one recording. Returns the exceptions' codes."""
    codes = []

    def attempt(read):
        try:
            return read()
        except hotstack.HotstackError as error:
            codes.append(error.code)
            assert error.offset is None or 0 <= error.offset <= max(len(data), 1 << 32), error.offset
            return None

    recording = attempt(lambda: hotstack.open(data, unfinished=True))
    if recording is None:
        return codes
    for read in (
        recording.totals,
        recording.settings,
        recording.loss,
        recording.info,
        recording.chunks,
        recording.timeline,
        recording.top,
        recording.threads,
        lambda: list(recording.samples(columns=hotstack.SAMPLE_COLUMNS)),
        lambda: recording.flamegraph().to_json(),
        lambda: recording.diff(recording).changes(),
    ):
        attempt(read)
    for name, row in (attempt(recording.event_types) or {}).items():
        if row.events:
            attempt(lambda name=name: list(recording.events(name)))
    return codes


class Hostile(unittest.TestCase):
    def test_fixtures(self):
        self.assertGreater(len(FIXTURE_FILES), 40)
        for path in FIXTURE_FILES:
            with self.subTest(path.name):
                codes = use(path.read_bytes())
                if path.parent.name == "ok":
                    self.assertNotIn("format", codes)

    def test_bad_fixtures_raise_or_are_lost(self):
        for path in FIXTURE_FILES:
            if path.parent.name != "bad":
                continue
            with self.subTest(path.name):
                try:
                    loss = hotstack.open(path).loss()
                except hotstack.HotstackError as error:
                    self.assertIn(error.code, ("format", "limit"))
                    self.assertTrue(error.code == "limit" or error.offset is not None)
                else:
                    self.assertFalse(loss.is_whole)

    def test_changed_bytes(self):
        random.seed(17)
        for path in sorted((DATA / "cut").glob("*.jfr.gz"))[:6]:
            whole = unpacked(path)
            for _ in range(12):
                data = bytearray(whole)
                for _ in range(random.choice((1, 4, 32))):
                    data[random.randrange(len(data))] = random.randrange(256)
                use(bytes(data[: random.choice((len(data), random.randrange(len(data))))]))

    def test_names_that_are_no_text_are_text(self):
        path = next(path for path in FIXTURE_FILES if path.name == "string-encodings.jfr")
        recording = hotstack.open(path)
        json.dumps([list(recording.samples(columns=hotstack.SAMPLE_COLUMNS)), recording.settings()]).encode("utf-8")


if __name__ == "__main__":
    tap.main(Hostile)
