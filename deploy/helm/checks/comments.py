"""Whether each value is explained and has its schema, and whether the route leads to every service of the contract."""

import json
import re

import yaml

from .tools import CHART, ROOT


def unexplained():
    """Keys of values.yaml that no comment stands above."""
    lines = (CHART / "values.yaml").read_text().splitlines()
    free = None
    for number, line in enumerate(lines):
        found = re.match(r"^( *)([A-Za-z]+):", line)
        if not found:
            continue
        indent, key = len(found[1]), found[2]
        if free is not None and indent > free:
            continue
        free = None
        above = lines[number - 1].strip() if number else ""
        if not above.startswith("#") and not explained_by_parent(lines, number, indent):
            yield f"values.yaml:{number + 1}: {key} has no comment"
        if key in FREE:
            free = indent
    assert len(lines) > 100, "values.yaml is not what it was: this check has gone blind"


# What is below them is Kubernetes' own, or one probe like the other.
FREE = {"behavior", "resources", "topologySpread", "to", "labels", "annotations", "startup", "readiness", "liveness"}


def explained_by_parent(lines, number, indent):
    """Whether the key opens its parent, right below the parent's comment."""
    above = lines[number - 1]
    opens = re.match(r"^( *)[A-Za-z]+:$", above)
    return bool(opens) and len(opens[1]) < indent and lines[number - 2].strip().startswith("#")


def without_schema():
    """Values that the schema does not know, so that a wrong one would pass."""
    schema = json.loads((CHART / "values.schema.json").read_text())
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    yield from missing(values, schema, schema, "")


def missing(values, schema, root, above):
    if "$ref" in schema:
        schema = root["definitions"][schema["$ref"].rsplit("/", 1)[1]]
    known = schema.get("properties")
    if known is None or not isinstance(values, dict):
        return
    for key, value in values.items():
        if key not in known:
            yield f"values.schema.json lacks {above}{key}"
        else:
            yield from missing(value, known[key], root, f"{above}{key}.")


def services():
    """Services of the contract that the route does not let through, and others that it does."""
    protos = (ROOT / "proto" / "fulcrum" / "v1").glob("*.proto")
    names = {name for path in protos for name in re.findall(r"^service (\w+)", path.read_text(), re.MULTILINE)}
    assert len(names) >= 5, f"only {names} found: this check has gone blind"
    served = {f"fulcrum.v1.{name}" for name in names} | {"grpc.health.v1.Health"}
    routed = set(yaml.safe_load((CHART / "values.yaml").read_text())["grpcRoute"]["services"])
    for name in sorted(served ^ routed):
        yield f"grpcRoute.services: {name} is {'missing' if name in served else 'no service'}"
