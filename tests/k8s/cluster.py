# SPDX-License-Identifier: Apache-2.0
"""A real kube-apiserver with its etcd on loopback, for tests: started, asked and ended here.

No kubelet runs: pods are made through the API, and their status is patched as a kubelet would.
"""

import base64
import functools
import hashlib
import json
import os
import pathlib
import re
import ssl
import subprocess
import sys
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))

import steps
from steps import Failed, free_port

CACHE = pathlib.Path(os.environ.get("HOTSTACK_CACHE", pathlib.Path.home() / ".cache/hotstack"))
PROGRAMS = CACHE / "kubernetes"
ADMIN = "admin-token"
MANIFESTS = pathlib.Path(__file__).parents[2] / "deploy" / "manifests"
RESOURCES = {  # of kinds in our manifests
    "Namespace": "/api/v1/namespaces",
    "ServiceAccount": "/api/v1/namespaces/hotstack/serviceaccounts",
    "Service": "/api/v1/namespaces/hotstack/services",
    "ClusterRole": "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    "ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    "DaemonSet": "/apis/apps/v1/namespaces/hotstack/daemonsets",
    "StatefulSet": "/apis/apps/v1/namespaces/hotstack/statefulsets",
}
PATIENCE = 120  # seconds until something that must come is given up
wait_for = functools.partial(steps.wait_for, seconds=PATIENCE)


def missing():
    """Returns why there can be no cluster here, or None."""
    for name in ("kube-apiserver", "etcd"):
        if not os.access(PROGRAMS / name, os.X_OK):
            return f"no {name}; install it with: deploy/dependencies/install kubernetes"
    return None


class Cluster:
    """Runs etcd and kube-apiserver below one directory."""

    def __init__(self, directory):
        self.dir = pathlib.Path(directory)
        self.port, self.etcd_port = free_port(), free_port()
        self.url = f"https://127.0.0.1:{self.port}"
        self.ca_file = self.dir / "certificates" / "apiserver.crt"
        self.etcd = self.api = None
        (self.dir / "tokens.csv").write_text(f'{ADMIN},admin,1,"system:masters"\n', encoding="utf-8")
        subprocess.run(
            ["openssl", "genrsa", "-out", self.dir / "accounts.key", "2048"], check=True, capture_output=True
        )

    def spawn(self, name, *arguments):
        with open(self.dir / f"{name}.log", "a", encoding="utf-8") as log:
            return subprocess.Popen([PROGRAMS / name, *arguments], stdout=log, stderr=log)

    def start(self):
        peer, client = f"http://127.0.0.1:{free_port()}", f"http://127.0.0.1:{self.etcd_port}"
        self.etcd = self.spawn(
            "etcd", f"--data-dir={self.dir}/etcd", f"--listen-client-urls={client}",
            f"--advertise-client-urls={client}", f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}", f"--initial-cluster=default={peer}",
            "--unsafe-no-fsync", "--log-level=error")  # fmt: skip
        self.start_api()

    def start_api(self):
        key = self.dir / "accounts.key"
        self.api = self.spawn(
            "kube-apiserver", f"--etcd-servers=http://127.0.0.1:{self.etcd_port}",
            "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", f"--secure-port={self.port}",
            f"--cert-dir={self.dir}/certificates", f"--token-auth-file={self.dir}/tokens.csv",
            "--authorization-mode=Node,RBAC", "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={key}", f"--service-account-signing-key-file={key}",
            "--service-cluster-ip-range=10.0.0.0/24", "--disable-admission-plugins=ServiceAccount",
            "--endpoint-reconciler-type=none", "--watch-cache=true")  # fmt: skip
        wait_for("the API server", self.is_ready)

    def is_ready(self):
        if self.api.poll() is not None:
            raise Failed(f"kube-apiserver ended: {self.log('kube-apiserver')[-2000:]}")
        try:
            return self.request("GET", "/readyz", raw=True) == b"ok"
        except OSError:
            return False

    def kill_api(self):
        self.api.kill()
        self.api.wait()

    def end(self):
        for process in (self.api, self.etcd):
            if process is not None and process.poll() is None:
                process.kill()
                process.wait()

    def log(self, name):
        path = self.dir / f"{name}.log"
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""

    # ---- requests ----

    def request(self, method, path, body=None, token=ADMIN, kind="application/json", raw=False):
        context = ssl.create_default_context(cafile=str(self.ca_file))
        data = json.dumps(body).encode() if body is not None and not isinstance(body, bytes) else body
        headers = {"Authorization": f"Bearer {token}", "Content-Type": kind}
        asked = urllib.request.Request(self.url + path, data=data, method=method, headers=headers)
        with urllib.request.urlopen(asked, timeout=30, context=context) as answer:
            got = answer.read()
        return got if raw else json.loads(got)

    def status_of(self, path, token):
        """Returns the HTTP status of a GET."""
        try:
            self.request("GET", path, token=token, raw=True)
            return 200
        except urllib.error.HTTPError as error:
            return error.code

    def patch(self, path, body):
        return self.request("PATCH", path, body, kind="application/merge-patch+json")

    def compact(self):
        """Makes etcd forget all versions but the newest: older ones are answered with 410."""
        url = f"http://127.0.0.1:{self.etcd_port}/v3/kv/"

        def post(path, body):
            request = urllib.request.Request(url + path, data=json.dumps(body).encode(), method="POST")
            with urllib.request.urlopen(request, timeout=30) as answer:
                return json.loads(answer.read())

        nothing = base64.b64encode(b"nothing").decode()
        revision = post("range", {"key": nothing})["header"]["revision"]
        post("compaction", {"revision": revision, "physical": True})

    # ---- objects ----

    def apply(self, name):
        """Makes the objects of one of our manifests, of which the API server must know every field. Returns {kind: the object made}."""
        made = {}
        for text in (MANIFESTS / name).read_text(encoding="utf-8").split("\n---\n"):
            kind = re.search("^kind: (.*)$", text, re.MULTILINE)[1]
            path = RESOURCES[kind] + "?fieldValidation=Strict"
            made[kind] = self.request("POST", path, text.encode(), kind="application/yaml")
        return made

    def make_namespace(self, name):
        self.request("POST", "/api/v1/namespaces", {"metadata": {"name": name}})

    def make_account(self, namespace, name, resources):
        """Makes a service account that may get, list and watch these resources, and nothing else."""
        self.request("POST", f"/api/v1/namespaces/{namespace}/serviceaccounts", {"metadata": {"name": name}})
        base = "/apis/rbac.authorization.k8s.io/v1/"
        rule = {"apiGroups": [""], "resources": resources, "verbs": ["get", "list", "watch"]}
        self.request("POST", base + "clusterroles", {"metadata": {"name": name}, "rules": [rule]})
        self.request("POST", base + "clusterrolebindings", {
            "metadata": {"name": name},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
            "subjects": [{"kind": "ServiceAccount", "namespace": namespace, "name": name}]})  # fmt: skip

    def make_token(self, namespace, account):
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token"
        body = {"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1", "spec": {"expirationSeconds": 3600}}
        return self.request("POST", path, body)["status"]["token"]

    def make_pod(self, namespace, name, node, containers=("app",), image="registry:5000/shop:7.1", owner=None,
                 labels=None, annotations=None):  # fmt: skip
        metadata = {"name": name, "labels": labels or {}, "annotations": annotations or {}}
        if owner is not None:
            kind, of, group = owner
            metadata["ownerReferences"] = [
                {"apiVersion": group, "kind": kind, "name": of, "uid": "0", "controller": True}
            ]
        body = {"metadata": metadata, "spec": {
            "nodeName": node, "containers": [{"name": c, "image": image} for c in containers]}}  # fmt: skip
        made = self.request("POST", f"/api/v1/namespaces/{namespace}/pods", body)
        return Pod(self, namespace, name, made["metadata"]["uid"])


class Pod:
    def __init__(self, cluster, namespace, name, uid):
        self.cluster, self.namespace, self.name, self.uid = cluster, namespace, name, uid
        self.path = f"/api/v1/namespaces/{namespace}/pods/{name}"

    def container_id(self, container):
        """Returns an id like that of a container runtime."""
        return hashlib.sha256(f"{self.uid}/{container}".encode()).hexdigest()

    def set_running(self, *containers):
        """Reports the containers' ids, as a kubelet does once they run."""
        statuses = [{
            "name": c, "containerID": f"containerd://{self.container_id(c)}", "image": "x", "imageID": "x",
            "ready": True, "restartCount": 0, "state": {"running": {}}} for c in containers]  # fmt: skip
        self.cluster.patch(self.path + "/status", {"status": {"phase": "Running", "containerStatuses": statuses}})

    def annotate(self, **values):
        """Sets hotstack.dev/KEY to the value, or removes it for None; _ stands for -, and app__key for app.hotstack.dev/key."""
        self.cluster.patch(self.path, {"metadata": {"annotations": annotations_of(values)}})

    def delete(self):
        """Deletes the pod at once, as a kubelet does once the containers have ended."""
        self.cluster.request("DELETE", self.path, {"gracePeriodSeconds": 0})


def annotations_of(values):
    names = {}
    for key, value in values.items():
        container, _, rest = key.rpartition("__")
        prefix = f"{container}." if container else ""
        names[f"{prefix}hotstack.dev/{rest.replace('_', '-')}"] = value
    return names
