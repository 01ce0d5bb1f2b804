# SPDX-License-Identifier: Apache-2.0
"""JVMs in containers of runc, without an image: the root is an empty, read-only directory into which the
machine's libraries and a JDK are mounted. A container has its own pid, mount, ipc and uts namespaces, its
user has no capabilities, and its control group has the path that a kubelet gives it."""

import errno
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

CACHE = pathlib.Path(os.environ.get("HOTSTACK_CACHE") or
                     pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "hotstack")
ARCH = "linux-arm64" if os.uname().machine == "aarch64" else "linux-x64"
PROFILER = pathlib.Path(os.environ.get("HOTSTACK_ASYNC_PROFILER") or CACHE / "async-profiler" / ARCH / "libasyncProfiler.so")
POD = "8dbc5577-d0e2-4706-8787-57d52c03ddf2"
LIMIT = 512 << 20
NOBODY = 65534
FIRST_OUTER_ID = 1 << 20  # the uid outside of a user namespace of uid 0 inside
TARGET = ("-Xmx64m", "-cp", "/app", "Target")


def jdks():
    return {home.name: home for home in sorted((CACHE / "jdk").glob("*")) if (home / "bin/java").exists()}


def missing():
    """Why no JVM can be profiled in a container here, or None."""
    if os.geteuid() != 0:
        return "containers need root"
    if shutil.which("runc") is None:
        return "no runc; install it with: deploy/dependencies/install test"
    if not jdks() or not PROFILER.exists():
        return "no JDK or no libasyncProfiler.so; install them with: deploy/dependencies/install test"
    return None


def remove_groups(path):
    """Removes the control group of a pod from every hierarchy, and the groups above it that are empty then."""
    for root in pathlib.Path("/sys/fs/cgroup").glob("*/kubepods"):
        group = root.parent / path
        while group != root.parent:
            try:
                group.rmdir()
            except FileNotFoundError:
                pass
            except OSError:
                break  # other containers are below it
            group = group.parent


class Container:
    """
    A container that runs a JVM; ready once the JVM has printed `ready`.

    arguments  of java
    tmp        options of the tmpfs on /tmp; None = no tmpfs, so that /tmp is read-only
    wrapped    java is the child of a shell, not pid 1
    userns     a user namespace, in which the container's users are others than outside
    binds      further (outside, inside) mounts, read-only
    bare       there are no programs but java, as in a distroless image
    """

    def __init__(self, jdk, classes, arguments=TARGET, tmp=(), wrapped=False, userns=False, binds=(),
                 bare=False, ready="ready\n", identity=None, pod_uid=POD):  # fmt: skip
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="hotstack-container-"))
        self.directory.chmod(0o755)
        self.id = identity or os.urandom(32).hex()
        self.pod_group = f"kubepods/burstable/pod{pod_uid}"
        system = ("/lib", "/lib64") if bare else ("/usr", "/lib", "/lib64", "/bin")
        mounts = self.make_root(system, [(jdk, "/jdk"), (classes, "/app"), *binds], tmp)
        command = ["/jdk/bin/java", *arguments]
        if wrapped:
            command = ["/bin/sh", "-c", '"$@" & wait', "sh", *command]
        config = self.configuration(command, mounts, userns)
        (self.directory / "config.json").write_text(json.dumps(config), encoding="utf-8")
        self.output = open(self.directory / "output", "w", encoding="utf-8")
        self.process = subprocess.Popen(self.runc("run", "--bundle", self.directory, self.id),
                                        stdin=subprocess.DEVNULL, stdout=self.output, stderr=subprocess.STDOUT)  # fmt: skip
        while ready not in self.text():
            if not self.is_alive():
                text = self.text()
                self.end()
                raise OSError(f"runc started no JVM: {text}")
            time.sleep(0.05)
        self.pid = self.find_java()

    def runc(self, *arguments):
        return [str(word) for word in ("runc", "--root", self.directory / "state", *arguments)]

    def make_root(self, system, binds, tmp):
        """The directories that are mounted over, and the mounts."""
        root = self.directory / "rootfs"
        binds = [(path, path) for path in system if os.path.exists(path)] + binds
        for inside in ["/proc", "/tmp", "/dev", *(inside for _, inside in binds)]:
            (root / inside[1:]).mkdir(parents=True)
        (root / "tmp").chmod(0o1777)
        mounts = [{"destination": "/proc", "type": "proc", "source": "proc"},
                  {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755"]}]
        if tmp is not None:
            mounts.append({"destination": "/tmp", "type": "tmpfs", "source": "tmpfs", "options": ["mode=1777", *tmp]})
        for outside, inside in binds:
            mounts.append({"destination": inside, "type": "bind", "source": os.path.realpath(outside), "options": ["bind", "ro"]})
        return mounts

    def configuration(self, command, mounts, userns):
        linux = {
            "namespaces": [{"type": name} for name in ("pid", "mount", "ipc", "uts")],
            "cgroupsPath": f"/{self.pod_group}/{self.id}",
            "resources": {"memory": {"limit": LIMIT}},
        }
        if userns:
            ids = [{"containerID": 0, "hostID": FIRST_OUTER_ID, "size": NOBODY + 1}]
            linux["namespaces"].append({"type": "user"})
            linux.update(uidMappings=ids, gidMappings=ids)
        return {
            "ociVersion": "1.0.2",
            "root": {"path": "rootfs", "readonly": True},
            "process": {"user": {"uid": NOBODY, "gid": NOBODY}, "cwd": "/", "noNewPrivileges": True,
                        "args": command, "env": ["PATH=/usr/bin"], "capabilities": {}},
            "mounts": mounts,
            "linux": linux,
        }  # fmt: skip

    def find_java(self):
        """Its pid outside."""
        got = subprocess.run(self.runc("ps", "--format", "json", self.id), stdout=subprocess.PIPE, check=True)
        names = {pid: pathlib.Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip() for pid in json.loads(got.stdout)}
        return next(pid for pid, name in names.items() if name == "java")

    def text(self):
        return (self.directory / "output").read_text(encoding="utf-8")

    def is_alive(self):
        return self.process.poll() is None

    def tmp(self):
        """Its /tmp, seen from outside."""
        return pathlib.Path(f"/proc/{self.pid}/root/tmp")

    def files(self):
        """Names of our files in its /tmp; the attach protocol's trigger is one."""
        return [path.name for path in self.tmp().iterdir() if path.name.startswith(("hotstack-", ".attach_pid"))]

    def fill_tmp(self):
        """Leaves no room in its /tmp until filler is removed. A session goes on in the room that it gives back itself,
        until that is filled too by another call."""
        try:
            with open(self.tmp() / "filler", "ab", buffering=0) as filler:
                while True:
                    filler.write(bytes(1 << 16))
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise

    def limit_memory(self, size):
        subprocess.run(self.runc("update", "--memory", size, self.id), check=True)

    def end(self):
        if self.output.closed:
            return
        subprocess.run(self.runc("kill", self.id, "KILL"), stderr=subprocess.DEVNULL, check=False)
        self.process.wait()
        self.output.close()
        remove_groups(self.pod_group)
        shutil.rmtree(self.directory)
