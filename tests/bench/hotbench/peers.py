# SPDX-License-Identifier: Apache-2.0
"""The other readers of recordings, as commands. Each computes distinct stacks with totals per kind."""

import functools
import hashlib
import json

from . import measure, place
from .measure import BenchError

KINDS = ("cpu", "alloc", "lock")
JMC_JARS = ("flightrecorder", "common", "encoder", "lz4-java")


@functools.cache
def java_classes(with_jmc):
    """The compiled Java peers: of the JDK's reader alone, or with JMC's."""
    folder = place.HERE / "peers"
    sources = [folder / "Totals.java", folder / "JdkTotals.java"]
    options = ["--release", "11"]
    if with_jmc:
        sources.append(folder / "JmcTotals.java")
        options = ["--release", "17", "-cp", jmc_class_path()]
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]
    out = place.BENCH_CACHE / "classes" / f"peers-{digest}"
    return out if out.exists() else place.compile_java(out, sources, *options)


def jmc_class_path():
    jars = sorted((place.PEERS / "jmc").glob("*.jar"))
    if len(jars) != len(JMC_JARS):
        raise BenchError("JMC is missing: deploy/dependencies/install bench")
    return ":".join(map(str, jars))


def jdk_command(path, *options):
    return [place.java(17), "-cp", java_classes(False), "JdkTotals", *options, path]


def jmc_command(path):
    return [place.java(17), "-cp", f"{java_classes(True)}:{jmc_class_path()}", "JmcTotals", path]


def jfrs_command(path):
    program = place.PEERS / "jfrs-totals"
    if not program.exists():
        raise BenchError("jfrs-totals is missing: deploy/dependencies/install bench")
    return [program, path]


def jfrconv_command(path, kind, out):
    return [place.java(17), "-jar", place.CONVERTER, f"--{kind}", "-o", "collapsed", path, out]


def jdk_totals(path, threads=False):
    return json.loads(measure.run(jdk_command(path, *(["--threads"] if threads else []))).out)


def collapsed_samples(path):
    """The sum of a collapsed file's counts."""
    with open(path, "rb") as lines:
        return sum(int(line.rsplit(b" ", 1)[1]) for line in lines)
