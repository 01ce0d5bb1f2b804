#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packed recordings. Prints TAP.

The environment holds PYTHONPATH (the package that was built).
"""

import gzip
import os
import pathlib
import tempfile
import unittest
import warnings

import tap
from support import EXAMPLE, unpacked

import hotstack


class Packed(unittest.TestCase):
    """A packed recording is unpacked when it is opened, and not again."""

    def all_of(self, recording):
        return [list(recording.events(name)) for name in recording.event_types()] + [recording.totals(), list(recording.samples())]

    def test_it_is_unpacked_once(self):
        there = self.all_of(hotstack.open(EXAMPLE))
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "x.jfr.gz"
            path.write_bytes(EXAMPLE.read_bytes())
            recording = hotstack.open(path)
            path.unlink()
            self.assertEqual(self.all_of(recording), there)
        data = bytearray(EXAMPLE.read_bytes())
        recording = hotstack.open(data)
        data[:] = bytes(len(data))
        self.assertEqual(self.all_of(recording), there)

    def test_what_is_kept_has_a_bound(self):
        data = EXAMPLE.read_bytes()
        size = len(unpacked(EXAMPLE))
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, name) for name in ("a", "b")]
            for path in paths:
                pathlib.Path(path).write_bytes(data)
            inputs = hotstack._native.Inputs(paths, keep_bytes=size * 2 - 1)
            inputs.check()
            both = inputs.census(True)
            self.assertEqual(len(both["chunks"]), 2)
            os.unlink(paths[0])
            self.assertEqual(inputs.census(True), both)
            os.unlink(paths[1])  # was too large to keep, so each reading unpacks it
            with self.assertRaises(hotstack.IoError):
                inputs.census(True)

    def test_members_damage_and_cuts(self):
        whole = unpacked(EXAMPLE)
        members = gzip.compress(whole[:20000]) + gzip.compress(whole[20000:])
        self.assertEqual(hotstack.open(members).totals(), hotstack.open(whole).totals())
        for packed in (members[:-30], members + b"more", gzip.compress(whole)[:-4]):
            with warnings.catch_warnings(action="ignore"):
                self.assertIn("damaged gzip", [row.reason for row in hotstack.open(packed).loss().stretches])


if __name__ == "__main__":
    tap.main(Packed)
