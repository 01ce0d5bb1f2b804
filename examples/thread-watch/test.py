#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The example shows a busy thread and a deadlock of real JVMs. usage: test.py THREAD_WATCH AGENT CLASSES; prints TAP."""
import os
import pathlib
import subprocess
import sys

CACHE = pathlib.Path(os.environ.get("HOTSTACK_CACHE") or
                     pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "hotstack")
WATCH, AGENT, CLASSES = sys.argv[1:4]
JAVAS = (CACHE / "jdk/21/bin/java", CACHE / "jdk/17/bin/java",
         pathlib.Path("/usr/lib/jvm/java-17-openjdk-amd64/bin/java"),
         pathlib.Path("/usr/lib/jvm/java-17-openjdk-arm64/bin/java"))


def watched(java, *arguments):
    child = subprocess.Popen([java, "-Xmx64m", "-cp", CLASSES, "Threads", *arguments], stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, text=True)
    try:
        child.stdout.readline()
        return subprocess.run([WATCH, str(child.pid), "1"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env=dict(os.environ, HOTSTACK_THREAD_AGENT=AGENT))
    finally:
        child.kill()
        child.wait()
        pathlib.Path(f"/tmp/.java_pid{child.pid}").unlink(missing_ok=True)


def main():
    java = next((java for java in JAVAS if java.exists()), None)
    if java is None:
        print("1..0 # SKIP no JDK: run deploy/dependencies/install test")
        return 0
    failed = 0
    print("1..2")
    for number, arguments, words in ((1, ("burn", "90"), '% "burn-90"'), (2, ("monitors", "2"), 'deadlock: "stuck-')):
        result = watched(java, *arguments)
        good = result.returncode == 0 and words in result.stdout
        failed += not good
        print(f"{'ok' if good else 'not ok'} {number} - {' '.join(arguments)}")
        if not good:
            print("# " + result.stdout.replace("\n", "\n# "))
    return 1 if failed else 0


sys.exit(main())
