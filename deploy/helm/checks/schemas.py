"""Kubernetes' own schemas, made strict: a field that is in none is a fault, as at an API server that is asked to be strict."""

import copy
import json

import jsonschema
import yaml

REFERENCE = "#/definitions/"


class Strict(yaml.SafeLoader):
    """Reads YAML and refuses a key that comes twice, of which others silently drop one."""

    def construct_mapping(self, node, deep=False):
        keys = [self.construct_object(key, deep=deep) for key, _ in node.value]
        twice = {key for key in keys if keys.count(key) > 1}
        if twice:
            raise yaml.constructor.ConstructorError(None, None, f"{sorted(twice)} come twice", node.start_mark)
        return super().construct_mapping(node, deep)


def objects(text):
    """The objects of a file of YAML."""
    return [one for one in yaml.load_all(text, Loader=Strict) if one is not None]


def strict(schema):
    """The schema, closed: only the properties that it names."""
    if isinstance(schema, list):
        return [strict(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("x-kubernetes-int-or-string") or schema.get("format") == "int-or-string":
        return {"type": ["integer", "string"]}
    made = {key: strict(value) for key, value in schema.items() if key not in ("default", "description")}
    if isinstance(made.get("properties"), dict):
        # "default" and "description" may be names of properties too.
        made["properties"] = {key: strict(value) for key, value in schema["properties"].items()}
        if "additionalProperties" not in made and not schema.get("x-kubernetes-preserve-unknown-fields"):
            made["additionalProperties"] = False
    return made


class Schemas:
    """The schemas of all kinds, by their group, version and kind."""

    def __init__(self, swagger, definitions):
        """From Kubernetes' swagger.json and files with CustomResourceDefinitions."""
        whole = strict(json.loads(swagger.read_text())["definitions"])
        whole["io.k8s.apimachinery.pkg.api.resource.Quantity"] = {"type": ["string", "number"]}
        self.definitions, self.kinds = whole, {}
        for name, schema in whole.items():
            for kind in schema.get("x-kubernetes-group-version-kind", []):
                key = "/".join(filter(None, (kind["group"], kind["version"]))), kind["kind"]
                self.kinds[key] = {"$ref": REFERENCE + name}
        metadata = {"$ref": f"{REFERENCE}io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}
        for path in definitions:
            for crd in objects(path.read_text()):
                spec = crd["spec"]
                for version in spec["versions"]:
                    schema = strict(copy.deepcopy(version["schema"]["openAPIV3Schema"]))
                    schema["properties"]["metadata"] = metadata
                    self.kinds[f"{spec['group']}/{version['name']}", spec["names"]["kind"]] = schema

    def faults(self, thing):
        """What is wrong with an object, in words."""
        key = thing.get("apiVersion"), thing.get("kind")
        if key not in self.kinds:
            return [f"there is no {key[1]} in {key[0]}"]
        validator = jsonschema.Draft7Validator({**self.kinds[key], "definitions": self.definitions})
        if "$ref" in self.kinds[key]:
            validator = jsonschema.Draft7Validator({"allOf": [self.kinds[key]], "definitions": self.definitions})
        return [f"{'.'.join(map(str, error.absolute_path))}: {error.message[:300]}" for error in validator.iter_errors(thing)]
