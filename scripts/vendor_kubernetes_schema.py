"""Write tests/docs/schemas/kubernetes.json: what the manifests in examples/ are checked against.

    pip download --no-deps kubernetes-validate==1.37.0 && unzip kubernetes_validate-*.whl -d unpacked
    python scripts/vendor_kubernetes_schema.py unpacked

That package (Apache-2.0) has the schemas of Kubernetes' own API (Apache-2.0), the strict ones of which refuse fields
that they do not know. What KINDS need is taken as it is, without descriptions.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

VERSION = "v1.37.0"
KINDS = (
    "io.k8s.api.apps.v1.Deployment",
    "io.k8s.api.core.v1.Namespace",
    "io.k8s.api.core.v1.PersistentVolumeClaim",
    "io.k8s.api.core.v1.PodTemplateSpec",
    "io.k8s.api.core.v1.ResourceRequirements",
    "io.k8s.api.core.v1.Secret",
    "io.k8s.api.core.v1.ConfigMap",
)
OUT = Path(__file__).parents[1] / "tests" / "docs" / "schemas" / "kubernetes.json"


def main(unpacked: str) -> None:
    folder = Path(unpacked, "kubernetes_validate", "kubernetes-json-schema", f"{VERSION}-local-strict")
    known = json.loads((folder / "_definitions.json").read_bytes())["$defs"]
    needed: dict[str, Any] = {}
    waiting = list(KINDS)
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed[name] = without_words(known[name])
            waiting += re.findall(r"#/\$defs/([\w.]+)", json.dumps(known[name]))
    origin = f"kubernetes-validate on PyPI, {folder.name}: see scripts/{Path(__file__).name}"
    document = {"$comment": f"Kubernetes API, Apache-2.0; from {origin}", "$defs": dict(sorted(needed.items()))}
    OUT.write_text(
        json.dumps(document, separators=(",", ":")).replace('{"io.', '{\n"io.').replace('},"io.', '},\n"io.') + "\n"
    )


def without_words(schema: Any) -> Any:
    """A description is told from a property of that name by what it is: text."""
    if isinstance(schema, list):
        return [without_words(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: value for key, value in schema.items() if not (key == "description" and isinstance(value, str))}
    return {
        key: value.replace("/api/_definitions.json", "")
        if key == "$ref" and isinstance(value, str)
        else without_words(value)
        for key, value in kept.items()
        if not key.startswith("x-kubernetes-")
    }


if __name__ == "__main__":
    main(*sys.argv[1:])
