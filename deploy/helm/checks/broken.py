"""Faults made on purpose in an installation: each rule of checks/rendered.py has to see its own, each schema a field too many."""

import copy

from . import rendered


def _labels(it):
    it.pod["metadata"]["labels"].pop("app.kubernetes.io/instance")


def _port(it):
    it.of("Service")[0]["spec"]["ports"][0]["targetPort"] = "grcp"


def _monitor(it):
    it.one("ServiceMonitor")["spec"]["endpoints"][0]["port"] = "http"


def _route(it):
    it.one("GRPCRoute")["spec"]["rules"][0]["backendRefs"][0]["name"] = "other"


def _secret(it):
    it.objects.append({"kind": "Secret", "metadata": {"name": "a"}})


def _clear(it):
    it.container["env"].append({"name": "FULCRUM_CARD_KEY", "value": "k1 00"})


def _root(it):
    it.pod["spec"]["securityContext"]["runAsNonRoot"] = False


def _writable(it):
    it.container["securityContext"]["readOnlyRootFilesystem"] = False


def _unmounted(it):
    it.pod["spec"]["volumes"].pop()


def _item(it):
    volume = next(one for one in it.pod["spec"]["volumes"] if one["name"] == "tokens")
    volume["secret"]["items"][0]["path"] = "token"


def _grace(it):
    it.pod["spec"]["terminationGracePeriodSeconds"] = 30


def _rolling(it):
    it.deployment["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"] = 1


def _liveness(it):
    it.container["livenessProbe"]["grpc"]["service"] = ""


def _readiness(it):
    it.container["readinessProbe"] = {"tcpSocket": {"port": "health"}}


def _startup(it):
    it.container["startupProbe"]["grpc"]["port"] = it.ports()["grpc"]


def _elsewhere(it):
    next(port for port in it.container["ports"] if port["name"] == "health")["containerPort"] = 1


def _offered(it):
    it.of("Service")[1]["spec"]["ports"].append({"name": "health", "port": 1, "targetPort": "health"})


def _let_in(it):
    it.one("NetworkPolicy")["spec"]["ingress"][0]["ports"].append({"protocol": "TCP", "port": "health"})


def _alert(it):
    it.of("PrometheusRule")[0]["spec"]["groups"][0]["rules"][0]["expr"] = "vector(1)"


def _board(it):
    it.objects.remove(next(one for one in it.of("ConfigMap") if "tables.json" in one["data"]))


TABLE = (
    ("selections", _labels), ("selections", _port), ("selections", _monitor), ("selections", _route), ("secrecy", _secret),
    ("secrecy", _clear), ("hardening", _root), ("hardening", _writable), ("files", _unmounted), ("files", _item),
    ("ending", _grace), ("ending", _rolling), ("probes", _liveness), ("probes", _readiness), ("probes", _startup),
    ("listeners", _elsewhere), ("listeners", _offered), ("listeners", _let_in),
    ("content", _alert), ("content", _board),
)


def unseen(things, schemas):
    """Faults that nobody sees, in an installation with every object."""
    for rule, fault in TABLE:
        it = rendered.Installation(copy.deepcopy(things))
        fault(it)
        if not any(said.startswith(f"{rule}: ") for said in rendered.faults(it)):
            yield f"the rule {rule} does not see {fault.__name__}"
    if {rule for rule, _ in TABLE} != {rule.__name__ for rule in rendered.RULES}:
        yield "a rule has no fault made for it"
    for thing in things:
        for place in ("spec", "metadata", None):
            wrong = copy.deepcopy(thing)
            (wrong.get(place, {}) if place else wrong)["aFieldTooMany"] = 1
            if place in (None, *wrong) and not schemas.faults(wrong):
                yield f"the schema of {thing['kind']} does not see a field too many in {place}"
