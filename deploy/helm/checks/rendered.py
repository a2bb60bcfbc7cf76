"""What the objects of one installation must be to each other: what no schema says."""

import json
import tomllib

import yaml

from .tools import ROOT

RESTRICTED_CAPABILITIES = {"NET_BIND_SERVICE"}


class Installation:
    """The objects that one set of values makes."""

    def __init__(self, objects):
        self.objects = objects
        self.deployment = self.one("Deployment")
        self.pod = self.deployment["spec"]["template"]
        self.container = self.pod["spec"]["containers"][0]
        self.labels = self.pod["metadata"]["labels"]
        self.name = self.deployment["metadata"]["name"]

    def of(self, kind):
        """All objects of a kind."""
        return [one for one in self.objects if one["kind"] == kind]

    def one(self, kind):
        """The only object of a kind, or None."""
        found = self.of(kind)
        return found[0] if len(found) == 1 else None

    def settings_text(self):
        """The program's settings file."""
        texts = [one["data"]["fulcrum.toml"] for one in self.of("ConfigMap") if "fulcrum.toml" in one["data"]]
        return texts[0]

    def settings(self):
        """The program's settings."""
        return tomllib.loads(self.settings_text())

    def ports(self):
        """The container's ports by their names."""
        return {port["name"]: port["containerPort"] for port in self.container["ports"]}


def matches(selector, labels):
    """Whether a selector chooses something with these labels."""
    return bool(selector) and all(labels.get(key) == value for key, value in selector.items())


def selections(it):
    """Every selector chooses the pods, every reference finds its object."""
    wanted = it.deployment["spec"]["selector"]["matchLabels"]
    chosen = [("Deployment", wanted)]
    chosen += [(f"Service {one['metadata']['name']}", one["spec"]["selector"]) for one in it.of("Service")]
    chosen += [("PodDisruptionBudget", one["spec"]["selector"]["matchLabels"]) for one in it.of("PodDisruptionBudget")]
    chosen += [("NetworkPolicy", one["spec"]["podSelector"]["matchLabels"]) for one in it.of("NetworkPolicy")]
    spread = it.pod["spec"].get("topologySpreadConstraints", [])
    chosen += [("topologySpreadConstraints", one["labelSelector"]["matchLabels"]) for one in spread]
    for what, selector in chosen:
        if not matches(selector, it.labels):
            yield f"{what} does not choose the pods: {selector}"
    for service in it.of("Service"):
        for port in service["spec"]["ports"]:
            if port["targetPort"] not in it.ports():
                yield f"Service {service['metadata']['name']}: no port {port['targetPort']} in the container"
    for scaler in it.of("HorizontalPodAutoscaler"):
        if scaler["spec"]["scaleTargetRef"]["name"] != it.name:
            yield "HorizontalPodAutoscaler scales something else"
        if "replicas" in it.deployment["spec"]:
            yield "the Deployment says a number of replicas beside the HorizontalPodAutoscaler"
    yield from routes(it)


def routes(it):
    """Routes and monitors lead to services that are there."""
    services = {one["metadata"]["name"]: one for one in it.of("Service")}
    for route in it.of("GRPCRoute"):
        for rule in route["spec"]["rules"]:
            for backend in rule["backendRefs"]:
                ports = [port["port"] for port in services.get(backend["name"], {}).get("spec", {}).get("ports", [])]
                if backend["port"] not in ports:
                    yield f"GRPCRoute leads to {backend['name']}:{backend['port']}, which is not there"
    for monitor in it.of("ServiceMonitor"):
        selector = monitor["spec"]["selector"]["matchLabels"]
        found = [one for one in services.values() if matches(selector, one["metadata"]["labels"])]
        ports = [[port["name"] for port in one["spec"]["ports"]] for one in found]
        if len(found) != 1 or any(end["port"] not in ports[0] for end in monitor["spec"]["endpoints"]):
            yield f"ServiceMonitor finds {len(found)} services with ports {ports}"


def secrecy(it):
    """Nothing secret in clear, and nothing of the pod is more than it needs."""
    if it.of("Secret"):
        yield "the chart makes a Secret: it would be in the release, in clear"
    if not it.pod["spec"].get("automountServiceAccountToken") is False:
        yield "the pod gets a token of its service account"
    if it.pod["spec"].get("enableServiceLinks") is not False:
        yield "services become variables FULCRUM_… of the container"
    secret = ("FULCRUM_CARD_KEY", "REDIS_PASSWORD")
    for variable in it.container["env"]:
        if variable["name"] in secret and "secretKeyRef" not in variable.get("valueFrom", {}):
            yield f"{variable['name']} is no reference to a Secret"
    urls = [one for one in it.container["env"] if one["name"] == "FULCRUM_REDIS"]
    if len(urls) != 1 or not ("valueFrom" in urls[0] or urls[0].get("value")):
        yield f"no URL of Redis, or several: {urls}"


def hardening(it):
    """The Pod Security Standard `restricted`, and a root file system that cannot be written."""
    pod, box = it.pod["spec"]["securityContext"], it.container["securityContext"]
    for holds, what in (
        (pod.get("runAsNonRoot") is True, "runAsNonRoot"),
        (pod.get("seccompProfile", {}).get("type") == "RuntimeDefault", "seccompProfile"),
        (box.get("allowPrivilegeEscalation") is False, "allowPrivilegeEscalation"),
        (box.get("capabilities", {}).get("drop") == ["ALL"], "capabilities.drop"),
        (set(box.get("capabilities", {}).get("add", [])) <= RESTRICTED_CAPABILITIES, "capabilities.add"),
        (box.get("readOnlyRootFilesystem") is True, "readOnlyRootFilesystem"),
        (all(mount.get("readOnly") for mount in it.container["volumeMounts"]), "volumeMounts[].readOnly"),
    ):
        if not holds:
            yield f"not restricted: {what}"


def files(it):
    """Every file that a setting names is mounted, every mount has its volume."""
    volumes = {volume["name"]: volume for volume in it.pod["spec"]["volumes"]}
    mounts = it.container["volumeMounts"]
    if sorted(volumes) != sorted(mount["name"] for mount in mounts):
        yield f"volumes and mounts differ: {sorted(volumes)}, {[mount['name'] for mount in mounts]}"
    for setting, path in named_files(it.settings()):
        under = [mount for mount in mounts if path.startswith(f"{mount['mountPath']}/")]
        if not under:
            yield f"setting {setting} names {path}, which is below no mount"
            continue
        items = list(mounted_items(volumes[under[0]["name"]]))
        if items and path.removeprefix(f"{under[0]['mountPath']}/") not in items:
            yield f"setting {setting} names {path}, which is not among {items}"


def mounted_items(volume):
    """The files of a volume, where the chart says them one by one."""
    sources = [volume.get("secret", {}), *(one["secret"] for one in volume.get("projected", {}).get("sources", []))]
    for source in sources:
        yield from (item["path"] for item in source.get("items", []))


def named_files(settings, above=""):
    """Each setting whose value is a path below /etc/fulcrum."""
    for key, value in settings.items():
        if isinstance(value, dict):
            yield from named_files(value, f"{above}{key}.")
        elif isinstance(value, str) and value.startswith("/"):
            yield above + key, value


def ending(it):
    """The pod may end as slowly as the program does."""
    spec = it.pod["spec"]
    sleep = it.container.get("lifecycle", {}).get("preStop", {}).get("sleep", {}).get("seconds", 0)
    needed = sleep + it.settings()["drain_seconds"] + 5
    if spec["terminationGracePeriodSeconds"] < needed:
        yield f"terminationGracePeriodSeconds is {spec['terminationGracePeriodSeconds']}, and the end may take {needed} s"
    rolling = it.deployment["spec"]["strategy"]["rollingUpdate"]
    if rolling["maxUnavailable"] != 0 or not rolling["maxSurge"]:
        yield f"a rollout takes servers away: {rolling}"


def probes(it):
    """They ask by gRPC where health is told alone, with TLS for callers or without; liveness does not depend on the store."""
    asks = {"startupProbe": "", "readinessProbe": "", "livenessProbe": "fulcrum.liveness"}
    for name, service in asks.items():
        if it.container[name].get("grpc") != {"port": it.ports()["health"], "service": service}:
            yield f"{name} does not ask for {service!r} at the port of health: {it.container[name]}"


def listeners(it):
    """The program listens where the pod says so; health, which anybody may ask for, is offered to nobody but the node."""
    said = {"grpc": "listen", "metrics": "metrics", "health": "health"}
    settings, ports = it.settings(), it.ports()
    for name, setting in said.items():
        listens = int(settings[setting].rsplit(":", 1)[1]) if setting in settings else None
        if listens != ports.get(name):
            yield f"the program listens at {listens} for {name}, the container says {ports.get(name)}"
    if len(set(ports.values())) != len(ports):
        yield f"two ports are one: {ports}"
    health = {"health", ports["health"]}
    for service in it.of("Service"):
        if any(health & {port["targetPort"], port["port"]} for port in service["spec"]["ports"]):
            yield f"Service {service['metadata']['name']} offers the port of health"
    for policy in it.of("NetworkPolicy"):
        if any(port["port"] in health for rule in policy["spec"]["ingress"] for port in rule["ports"]):
            yield "NetworkPolicy lets others than the node to the port of health"


def content(it):
    """Alerts and dashboards arrive as they are in deploy, all of them or none; pages of alerts may be elsewhere."""
    alerts = {path.stem: yaml.safe_load(path.read_text()) for path in (ROOT / "deploy" / "alerts").glob("*.yml")}
    rules = {one["metadata"]["name"].removeprefix(f"{it.name}-"): one["spec"] for one in it.of("PrometheusRule")}
    for group in (group for spec in rules.values() for group in spec["groups"]):
        for rule in group["rules"]:
            page = rule.get("annotations", {}).get("runbook_url")
            if page:
                rule["annotations"]["runbook_url"] = page[page.index("deploy/runbooks/"):]
    if rules and rules != alerts:
        yield f"PrometheusRules are not deploy/alerts: {sorted(rules)}"
    boards = {path.name: json.loads(path.read_text()) for path in (ROOT / "deploy" / "dashboards").glob("*.json")}
    data = [one["data"] for one in it.of("ConfigMap") if "fulcrum.toml" not in one["data"]]
    told = {name: json.loads(text) for one in data for name, text in one.items()}
    if told and told != boards:
        yield f"ConfigMaps are not deploy/dashboards: {sorted(told)}"


RULES = (selections, secrecy, hardening, files, ending, probes, listeners, content)


def faults(it):
    """What is wrong with an installation, in words."""
    for rule in RULES:
        for fault in rule(it):
            yield f"{rule.__name__}: {fault}"
