"""The manifests in examples/ are what Kubernetes, KubeRay and Ray accept, and say what the pages say of them."""

import copy
import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
import ray.autoscaler
import yaml
from bench.grow.constants import AGENTS_PER_CORE
from ray.autoscaler._private.kuberay.autoscaling_config import _derive_autoscaling_config_from_ray_cr
from ray.autoscaler._private.util import prepare_config, validate_config
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from paddock import __version__
from paddock.config.load import load_config
from paddock.config.schema import Limits
from paddock.core.nodes.labels import labels_needed, read_needs
from paddock.fleet.nodes.slots import SLOTS
from tests.docs.markdown import ROOT

EXAMPLES = ROOT / "examples"
KUBERAY = EXAMPLES / "kuberay"
CLOUD = EXAMPLES / "cloud" / "cluster.yaml"
PAGE = ROOT / "docs" / "how-to" / "autoscaling.md"
SCHEMAS = ROOT / "tests" / "docs" / "schemas"
KUBERNETES = json.loads((SCHEMAS / "kubernetes.json").read_bytes())
RAY_CLUSTER = json.loads((SCHEMAS / "raycluster.json").read_bytes())
KINDS = {
    "Deployment": "io.k8s.api.apps.v1.Deployment",
    "Namespace": "io.k8s.api.core.v1.Namespace",
    "PersistentVolumeClaim": "io.k8s.api.core.v1.PersistentVolumeClaim",
    "Secret": "io.k8s.api.core.v1.Secret",
}
_REGISTRY = Registry().with_resource("kubernetes.json", DRAFT202012.create_resource(KUBERNETES))
Manifest = dict[str, Any]


def manifests(path: Path) -> list[Manifest]:
    return list(yaml.safe_load_all(path.read_text()))


def ray_cluster() -> Manifest:
    (found,) = manifests(KUBERAY / "raycluster.yaml")
    return found


def cloud() -> Manifest:
    (found,) = manifests(CLOUD)
    return found


def check(manifest: Manifest) -> None:
    """As the API server does with strict field validation."""
    is_ray = manifest["kind"] == "RayCluster"
    schema = RAY_CLUSTER if is_ray else {"$ref": f"kubernetes.json#/$defs/{KINDS[manifest['kind']]}"}
    jsonschema.Draft202012Validator(schema, registry=_REGISTRY).validate(manifest)


def check_cloud(config: Manifest) -> None:
    """As `ray up` does before it starts a machine, and refusing keys of a group that Ray's schema does not name."""
    schema = json.loads((Path(ray.autoscaler.__file__).parent / "ray-schema.json").read_bytes())
    (group,) = schema["properties"]["available_node_types"]["patternProperties"].values()
    group["additionalProperties"] = False
    jsonschema.validate(config, schema)
    validate_config(prepare_config(copy.deepcopy(config)))


@pytest.mark.parametrize("path", sorted(KUBERAY.glob("*.yaml")), ids=lambda path: path.name)
def test_kubernetes_accepts_the_manifests(path: Path) -> None:
    for manifest in manifests(path):
        check(manifest)


def test_ray_accepts_the_cluster_of_a_cloud() -> None:
    check_cloud(cloud())


TYPOS: dict[str, Callable[[Manifest], object]] = {
    "a word of the cluster": lambda one: one["spec"].update(enableInTreeAutoscaler=True),
    "a word of the autoscaler": lambda one: one["spec"]["autoscalerOptions"].update(idleTimeout=60),
    "a version of the autoscaler": lambda one: one["spec"]["autoscalerOptions"].update(version="v3"),
    "a word of a group": lambda one: one["spec"]["workerGroupSpecs"][0].update(maxReplica=3),
    "a group without a limit": lambda one: one["spec"]["workerGroupSpecs"][0].pop("maxReplicas"),
    "a number for a text": lambda one: one["spec"]["workerGroupSpecs"][0]["resources"].update(agent_slots=20),
    "a word of a pod": lambda one: pod(one).update(terminationGraceSeconds=5),
    "a word of a container": lambda one: pod(one)["containers"][0].update(volumeMount=[]),
    "a word of a volume": lambda one: pod(one)["volumes"][0].update(emptydir={}),
}


def pod(cluster: Manifest) -> Manifest:
    spec: Manifest = cluster["spec"]["workerGroupSpecs"][0]["template"]["spec"]
    return spec


@pytest.mark.parametrize("typo", TYPOS)
def test_a_typo_in_the_cluster_is_found(typo: str) -> None:
    cluster = copy.deepcopy(ray_cluster())
    TYPOS[typo](cluster)
    with pytest.raises(jsonschema.ValidationError):
        check(cluster)


def test_a_typo_in_the_deployment_is_found() -> None:
    daemon, _ = manifests(KUBERAY / "daemon.yaml")
    daemon["spec"]["template"]["spec"]["containers"][0]["envfrom"] = []
    with pytest.raises(jsonschema.ValidationError):
        check(daemon)


def test_a_typo_in_the_cluster_of_a_cloud_is_found() -> None:
    for change in ({"idle_timeout": 3}, {"max_workers": "ten"}):
        with pytest.raises(jsonschema.ValidationError):
            check_cloud({**cloud(), **change})
    config = cloud()
    config["available_node_types"]["agents"]["resource"] = {}
    with pytest.raises(jsonschema.ValidationError):
        check_cloud(config)


def groups() -> dict[str, Manifest]:
    """What autoscalers make of both examples."""
    kubernetes = _derive_autoscaling_config_from_ray_cr(ray_cluster())
    return {
        f"{where} {name}": group
        for where, config in (("kuberay", kubernetes), ("cloud", cloud()))
        for name, group in config["available_node_types"].items()
    }


def test_agents_run_on_every_group_but_the_heads() -> None:
    slots = {name: group["resources"].get(SLOTS, 0) for name, group in groups().items()}
    assert slots == {
        "kuberay headgroup": 0, "kuberay agents": 20, "kuberay gpu": 4,
        "cloud head": 0, "cloud agents": 40, "cloud gpu": 4,
    }  # fmt: skip


def test_no_group_has_more_slots_than_its_cores_bear() -> None:
    bears = {name: AGENTS_PER_CORE * group["resources"]["CPU"] for name, group in groups().items()}
    assert all(group["resources"].get(SLOTS, 0) <= bears[name] for name, group in groups().items())


def test_the_page_counts_slots_by_cores_and_memory() -> None:
    rows = re.findall(r"\| (\d+) cores, (\d+) GB \| (\d+) \| (\d+) \| (\d+) \|", PAGE.read_text())
    assert len(rows) == 3
    for cores, gigabytes, by_cores, by_memory, slots in (map(int, row) for row in rows):
        assert by_cores == AGENTS_PER_CORE * cores
        assert by_memory == int((gigabytes - 1) * 1000 / Limits().agent_memory_mb)
        assert slots <= min(by_cores, by_memory)


def test_groups_have_the_labels_that_tasks_ask_for() -> None:
    wanted = labels_needed(read_needs(["gpu", "os=linux"]))
    having = {name for name, group in groups().items() if wanted.items() <= group.get("labels", {}).items()}
    assert having == {"kuberay gpu", "cloud gpu"}


def test_the_daemon_finds_the_cluster_and_knows_its_settings(tmp_path: Path) -> None:
    daemon, _ = manifests(KUBERAY / "daemon.yaml")
    (container,) = daemon["spec"]["template"]["spec"]["containers"]
    environment = {one["name"]: one["value"] for one in container["env"]}
    sessions = load_config(tmp_path, environment=environment).config.sessions
    service = f"{ray_cluster()['metadata']['name']}-head-svc"
    assert (sessions.runner, sessions.address) == ("ray", f"ray://{service}:10001")


def test_git_logs_in_with_what_the_secret_says() -> None:
    _, secret = manifests(KUBERAY / "secrets.yaml")
    asked = subprocess.run(
        ("git", "credential", "fill"),
        input="protocol=https\nhost=git.example.com\n\n",
        env={"PATH": os.environ["PATH"], "HOME": "/nowhere", "GIT_CONFIG_NOSYSTEM": "1", **secret["stringData"]},
        capture_output=True,
        text=True,
        check=True,
        cwd="/",
    )
    assert {"username=paddock", "password=change-me"} <= set(asked.stdout.splitlines())


def test_the_examples_are_of_one_version() -> None:
    cluster, dockerfile = ray_cluster(), (KUBERAY / "Dockerfile").read_text()
    installed = {f"ray:{cluster['spec']['rayVersion']}", f"paddock[ray,postgres,web]=={__version__}"}
    assert all(one in dockerfile for one in installed)
    commands = " ".join(cloud()["setup_commands"])
    assert f"paddock[ray,postgres]=={__version__}" in commands
    assert f"ray[default]=={cluster['spec']['rayVersion']}" in commands
    images = {
        container["image"]
        for manifest in (*manifests(KUBERAY / "raycluster.yaml"), *manifests(KUBERAY / "daemon.yaml"))
        for template in templates(manifest)
        for container in (*template["spec"]["containers"], *template["spec"].get("initContainers", ()))
    }
    assert images == {f"registry.example.com/paddock:{__version__}"}


def templates(manifest: Manifest) -> list[Manifest]:
    spec = manifest["spec"]
    if manifest["kind"] == "RayCluster":
        return [group["template"] for group in (spec["headGroupSpec"], *spec["workerGroupSpecs"])]
    return [spec["template"]] if "template" in spec else []
