# SPDX-License-Identifier: Apache-2.0
"""One node as the collector sees it: attachd, the collector, a backend that only takes in, and JVMs
in control groups named as a kubelet names them."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

import cluster
from cluster import Cluster, wait_for
from containers import PROFILER, Container, jdks
from steps import Failed, free_port, is_open_to_all, print_logs, run_steps, same

HERE = pathlib.Path(__file__).parent
INGEST = HERE.parent / "e2e" / "collector" / "fake_ingest.py"
JAVA = shutil.which("java") or "/usr/lib/jvm/java-17-openjdk-amd64/bin/java"
NAME = "node7"
BORDER_MS = 500  # of windows of some seconds: a missing one is a longer hole
OPERATION_MS = 30000  # session.operation_timeout: a JVM that waited for one that hangs has a window as long
UNKNOWN, PROFILING, WAITING, OFF, FAILED = 0, 1, 2, 3, 4  # states of a target


def cgroup_root():
    """Returns a hierarchy in which control groups can be made (v2, or any controller of v1), or None."""
    for root in ("/sys/fs/cgroup/pids", "/sys/fs/cgroup/unified", "/sys/fs/cgroup"):
        if os.access(pathlib.Path(root) / "cgroup.procs", os.W_OK):
            return pathlib.Path(root)
    return None


def missing():
    """Returns why there can be no node beside a cluster here, or None."""
    if cluster.missing():
        return cluster.missing()
    if not PROFILER.exists() or not pathlib.Path(JAVA).exists():
        return "no java, or no libasyncProfiler.so; install them with: ./dev build"
    if not is_open_to_all(pathlib.Path(__file__)):
        return "the collector's user cannot reach this tree: put it where all may enter, not below /root"
    if cgroup_root() is None:
        return "control groups cannot be made here: run as root where /sys/fs/cgroup is writable"
    return None


class Node:
    def __init__(self, attachd, worker, collector, classes, agent):
        self.programs = [pathlib.Path(one) for one in (attachd, worker, collector)]
        self.classes, self.agent = classes, agent
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="k8s-e2e-"))
        self.dir.chmod(0o755)
        self.running, self.groups, self.containers = [], [], []
        self.leave = False  # the sessions, when the collector or attachd ends
        self.namespaces = True  # are read
        self.api_server = None  # another address of the API server than its own
        self.backend_token = "e2e-token"
        self.installation = "k8s" + os.urandom(4).hex()
        self.cluster = Cluster(self.dir)
        self.token = self.dir / "token"
        self.metrics_port = free_port()

    # ---- processes ----

    def start(self, *flags):
        """Starts everything but JVMs, with these flags of the collector. Call end() also after a failure."""
        self.start_cluster()
        self.start_ingest()
        self.start_attachd()
        self.start_collector(*flags)

    def start_cluster(self):
        """Starts the API server, applies our manifest, and writes its account's token."""
        self.cluster.start()
        self.cluster.make_namespace("shop")
        self.daemon_set = self.cluster.apply("collector.yaml")["DaemonSet"]
        self.write_token(self.make_token())

    def make_token(self):
        return self.cluster.make_token("hotstack", self.daemon_set["spec"]["template"]["spec"]["serviceAccountName"])

    def container(self, name):
        """Returns a container of the manifest's DaemonSet."""
        return next(c for c in self.daemon_set["spec"]["template"]["spec"]["containers"] if c["name"] == name)

    def privileges(self, name):
        """Returns the words before a command that give it the user and the capabilities of this container."""
        context = self.container(name)["securityContext"]
        same(f"capabilities that {name} drops", context["capabilities"]["drop"], ["ALL"])
        kept = [f"+{one.lower()}" for one in context["capabilities"].get("add", [])]
        return ["setpriv", f"--reuid={context['runAsUser']}", f"--regid={context['runAsGroup']}", "--clear-groups",
                f"--bounding-set={','.join(['-all', *kept])}", "--inh-caps=-all", "--no-new-privs"]  # fmt: skip

    def spawn(self, name, *command, group=None):
        """Starts a process, inside a control group where one is given."""
        environment = {**os.environ, "HOTSTACK_ATTACH_WORKER": self.programs[1]}
        command = [str(c) for c in command]
        if group is not None:
            command = ["sh", "-c", 'echo $$ >"$0/cgroup.procs" && exec "$@"', str(group), *command]
        with open(self.dir / f"{name}.log", "a", encoding="utf-8") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
        self.running.append(process)
        return process

    def log(self, name):
        path = self.dir / f"{name}.log"
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""

    def start_ingest(self):
        self.ingest = self.spawn("ingest", sys.executable, INGEST)
        self.port = wait_for("the ingest server", lambda: self.log("ingest").split()[1:2])[0]

    def start_attachd(self):
        self.attachd = self.spawn(
            "attachd", *self.privileges("attachd"), self.programs[0], f"--allow-uids={self.user}", f"--socket={self.dir}/run/attachd.sock",
            f"--state-dir={self.dir}/attachd", f"--installation-id={self.installation}",
            f"--profiler-library={PROFILER}",
            f"--thread-agent={self.agent}", *(["--leave-sessions"] if self.leave else []))  # fmt: skip
        wait_for("attachd's socket", (self.dir / "run/attachd.sock").is_socket)

    @property
    def user(self):
        """Returns the user id of the collector."""
        return self.container("collector")["securityContext"]["runAsUser"]

    def write_token(self, text):
        """Replaces the file, as the kubelet does."""
        fresh = self.token.with_suffix(".new")
        fresh.write_text(text + "\n", encoding="utf-8")
        fresh.rename(self.token)

    def start_collector(self, *flags):
        (self.dir / "collector").mkdir(exist_ok=True)
        os.chown(self.dir / "collector", self.user, self.user)
        (self.dir / "backend.token").write_text(self.backend_token + "\n", encoding="utf-8")
        (self.dir / "collector.yaml").write_text(f"""
node: {NAME}
attachd: {{socket: {self.dir}/run/attachd.sock}}
backend:
  url: http://127.0.0.1:{self.port}
  token_file: {self.dir}/backend.token
kubernetes:
  enabled: true
  api_server: {self.api_server or self.cluster.url}
  namespaces: {str(self.namespaces).lower()}
  token_file: {self.token}
  ca_file: {self.cluster.ca_file}
  events: cpu=1ms
  startup_delay: 0s
  state_dir: {self.dir}/collector
session: {{leave: {str(self.leave).lower()}, cooldown_min: 1s}}
window: {{length: 2s, jitter: 0s}}
discovery: {{interval: 500ms}}
flush_interval: 200ms
upload: {{grace: 1s}}
queue: {{dir: {self.dir}/collector/queue}}
listen: {{port: {self.metrics_port}}}
""", encoding="utf-8")
        self.collector = self.spawn(
            "collector", *self.privileges("collector"), self.programs[2], f"--config={self.dir}/collector.yaml", *flags)  # fmt: skip
        self.started_ms = time.time() * 1000
        wait_for("whole lists", lambda: self.metrics().get("kubernetes_lists_total", 0) >= (2 if self.namespaces else 1))

    def stop_collector(self):
        self.collector.send_signal(signal.SIGTERM)
        if self.collector.wait(60) != 0:
            raise Failed("the collector did not end well")

    def stop_attachd(self):
        self.attachd.send_signal(signal.SIGTERM)
        if self.attachd.wait(60) != 0:
            raise Failed("attachd did not end well")

    def queue_length(self):
        return len(list((self.dir / "collector/queue").iterdir())) - 1  # beside its lock

    def start_jvm(self, pod, container="app", arguments=None):
        """Starts a JVM in the control group that the kubelet would have made for this container of the pod."""
        identity = pod.container_id(container)
        group = cgroup_root() / "kubepods" / "burstable" / f"pod{pod.uid}" / identity
        group.mkdir(parents=True)
        self.groups.append(group)
        arguments = arguments or ["-Xmx64m", "-cp", self.classes, "Target", "600"]
        return self.spawn(f"jvm-{pod.name}", JAVA, *arguments, group=group)

    def start_container(self, pod, container="app", told=True, **options):
        """Starts a JVM in a real container, which the pod's status names from then on (`told`)."""
        made = Container(list(jdks().values())[-1], self.classes, identity=pod.container_id(container), pod_uid=pod.uid, **options)
        self.containers.append(made)
        if told:
            pod.set_running(container)
        return made

    def session_of(self, jvm):
        """Returns the directory of a container's session, and the values of the marker in it."""
        (marker,) = jvm.tmp().glob(f"hotstack-{self.installation}-*/session")
        lines = marker.read_text(encoding="utf-8").splitlines()
        return marker.parent, dict(line.split(" ", 1) for line in lines)

    def damage(self, jvm):
        """Overwrites the beginning of the chunk that is being recorded, as writes that fail on a full disk leave it."""
        directory, marker = self.session_of(jvm)
        with open(directory / "recording.jfr", "r+b") as recording:
            recording.seek(int(marker["handed"]))
            recording.write(b"XXXX")

    def end(self):
        for process in reversed(self.running):
            if process.poll() is None:
                process.kill()
                process.wait()
        self.cluster.end()
        for container in self.containers:
            container.end()
        for group in self.groups:
            for path in (group, group.parent, group.parent.parent, group.parent.parent.parent):
                try:
                    path.rmdir()
                except OSError:
                    break  # another run's groups are below it
        shutil.rmtree(self.dir, ignore_errors=True)

    def leftovers(self):
        """Returns the names of the profiling sessions' directories in the JVMs' file system; those of the thread agent end by their lease."""
        return [p.name for p in pathlib.Path("/tmp").glob(f"hotstack-{self.installation}-*")]

    # ---- what it tells ----

    def state(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/state", timeout=30) as answer:
            state = json.loads(answer.read())
        if state["errors"]:
            raise Failed(f"the contract was broken: {state['errors']}")
        return state

    def target(self, jvm):
        """Returns the JVM of the last status report of the running collector, or {}."""
        targets = [t for t in self.state()["targets"] if t["observed"] >= self.started_ms]
        return next((t for t in targets if t["pid"] == jvm.pid), {})

    def windows(self, jvm):
        return [w for b in self.state()["batches"] for w in b["windows"] if w["pid"] == jvm.pid]

    def snapshots(self):
        return sum(b["snapshots"] for b in self.state()["batches"])

    def offers(self):
        """What each snapshot tells of its threads."""
        return [one for b in self.state()["batches"] for one in b["offers"]]

    def metrics(self):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.metrics_port}/metrics", timeout=30) as answer:
                text = answer.read().decode()
        except OSError:
            return {}
        rows = re.findall(r"^hotstack_collector_(\w+(?:\{.*\})?) (\d+)$", text, re.MULTILINE)
        return {name: int(value) for name, value in rows}

    def sum_of(self, family):
        """Returns the sum of a metric over all workloads."""
        return sum(value for name, value in self.metrics().items() if name.split("{")[0] == family)

    def wait_for_target(self, jvm, meanwhile=lambda: None, **wanted):
        def fits():
            meanwhile()
            target = self.target(jvm)
            return target if all(target.get(k) == v for k, v in wanted.items()) else None

        try:
            return wait_for(f"a status with {wanted}", fits)
        except Failed as error:
            raise Failed(f"{error}; there is {self.target(jvm)}") from error


def new_windows(on, jvm, count=2):
    have = len(on.windows(jvm))
    wait_for(f"{count} more windows", lambda: len(on.windows(jvm)) >= have + count)


def follow_one_another(windows):
    """Fails where a window of one source is missing, or there twice. The first window of an adopted session
    begins with its chunk: at the border, or the moment later at which the profiler ended the chunk before it."""
    windows = sorted(windows, key=lambda w: w["start"])
    for one, other in zip(windows, windows[1:]):
        end = one["start"] + one["length"]
        if not end <= other["start"] < end + BORDER_MS:
            raise Failed(f"the next window's start: {other['start']} is not {end}, nor within {BORDER_MS} ms after it")


def start_neighbour(on):
    """Starts a JVM in a pod of its own, beside which others get into trouble, and profiles it."""
    pod = on.cluster.make_pod("shop", "neighbour", NAME)
    jvm = on.start_container(pod)
    pod.annotate(profile="continuous", threads="1s")
    on.wait_for_target(jvm, state=PROFILING, reason=0)
    new_windows(on, jvm)
    return jvm


def check_unharmed(on, jvm):
    """Fails where the JVM has lost a window so far, or waited for an operation on another JVM."""
    new_windows(on, jvm)
    windows = [w for w in on.windows(jvm) if w["source"] == "cpu"]
    follow_one_another(windows)
    same("windows that the neighbour lost", [w for w in windows if w["reason"] != 0], [])
    lengths, covered = sum(w["length"] for w in windows[1:]), sum(w["covered"] for w in windows[1:])
    longest = max(w["length"] for w in windows)
    print(f"# the neighbour: {len(windows)} windows, {100 * covered / lengths:.2f} % covered, the longest {longest} ms")
    same("99 % of them are covered", covered >= 0.99 * lengths, True)
    same("the longest is shorter than an operation's time limit", longest < OPERATION_MS, True)


def run(steps, programs, why):
    """Runs the steps on a node beside a cluster, or skips them all because of `why`. Returns the exit code."""
    if why:
        print(f"1..0 # SKIP {why}")
        return 0
    on = Node(*programs)
    print(f"1..{len(steps)}", flush=True)
    failed = False
    try:
        on.start()
        failed = not run_steps(on, steps)
    finally:
        if failed:
            print_logs(on.log, ("collector", "attachd", "ingest"))
        on.end()
    return 1 if failed else 0
