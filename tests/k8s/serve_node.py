#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A node beside a cluster for a test in another language. A line of standard input is a JSON array of a command and
its arguments; a line of standard output is {"answer": ...} or {"error": "..."}. The end of the input ends it.

usage: serve_node.py ATTACHD WORKER COLLECTOR CLASSES THREAD_AGENT HOSTILE_CLASSES
"""

import concurrent.futures
import json
import os
import signal
import sys

import node
from cluster import annotations_of
from containers import PROFILER, TARGET
from containers import missing as missing_for_containers

SIDE_BY_SIDE = 3  # containers that are started at once
LIFE = "3000"  # seconds


class Commands:
    """Pods are named; containers are those of their pods."""

    def __init__(self, on):
        self.on, self.pods, self.jvms = on, {}, {}

    def start(self, port, token, flags):
        on = self.on
        on.port, on.backend_token = port, token
        on.start_cluster()
        on.start_attachd()
        on.start_collector(*flags)

    def pod(self, name, place=node.NAME, owner=None, labels=None, annotations=None):
        self.pods[name] = self.on.cluster.make_pod("shop", name, place, owner=owner, labels=labels, annotations=annotations)

    def running(self, name):
        self.pods[name].set_running("app")

    def run(self, names, jvm=(), profiler=False, told=True, attack=None, **options):
        """Starts a JVM in a container of each pod, which the pods' status names if `told`. Returns their pids on the host."""
        program = TARGET
        if profiler:
            options["binds"] = [(str(PROFILER.parent), "/profiler")]
        if attack is not None:
            options["binds"] = [(sys.argv[6], "/hostile")]
            program = ("-Xmx64m", "-cp", "/hostile", "Hostile", attack, "/etc")

        def start(name):
            arguments = [*jvm, *program, LIFE]
            return self.on.start_container(self.pods[name], told=told, arguments=arguments, **options)

        with concurrent.futures.ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
            for name, made in zip(names, pool.map(start, names)):
                self.jvms[name] = made
        return [self.jvms[name].pid for name in names]

    def annotate(self, name, values):
        self.pods[name].annotate(**values)

    def annotate_namespace(self, values):
        self.on.cluster.patch("/api/v1/namespaces/shop", {"metadata": {"annotations": annotations_of(values)}})

    def delete(self, name):
        self.pods[name].delete()

    def end(self, name):
        self.jvms[name].end()

    def evict(self, name):
        """As a kubelet does where the pod has passed a limit: it ends the containers, and the pod stays with the reason."""
        self.jvms[name].end()
        status = {"phase": "Failed", "reason": "Evicted", "message": "Usage of EmptyDir volume \"tmp\" exceeds the limit \"16Mi\"."}
        self.on.cluster.patch(self.pods[name].path + "/status", {"status": status})

    def signal(self, name, which):
        os.kill(self.jvms[name].pid, getattr(signal, which))

    def fill_tmp(self, name):
        self.jvms[name].fill_tmp()

    def damage(self, name):
        self.on.damage(self.jvms[name])

    def restart_collector(self, flags):
        self.on.stop_collector()
        self.on.start_collector(*flags)

    def backend_token(self, token):
        (self.on.dir / "backend.token").write_text(token + "\n", encoding="utf-8")

    def metrics(self):
        return self.on.metrics()

    def log(self, name):
        return self.on.log(name)


def answer(commands, line):
    name, *arguments = json.loads(line)
    options = arguments.pop() if name == "run" and isinstance(arguments[-1], dict) else {}
    try:
        return {"answer": getattr(commands, name)(*arguments, **options)}
    except Exception as error:  # pylint: disable=broad-exception-caught  # the test is told, whatever it is
        return {"error": repr(error)}


def main():
    why = node.missing() or missing_for_containers()
    print(json.dumps({"missing": why}), flush=True)
    if why:
        return
    on = node.Node(*sys.argv[1:6])
    commands = Commands(on)
    try:
        for line in sys.stdin:
            print(json.dumps(answer(commands, line)), flush=True)
    finally:
        on.end()


main()
