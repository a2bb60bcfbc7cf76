"""Jaeger and Prometheus as the run starts them, and their own HTTP APIs as the run asks them."""

import json
import os
import urllib.error
import urllib.parse
import urllib.request

from . import tools
from .process import Process
from .tools import free_ports

# More than any run makes: the memory store forgets the oldest beyond it.
MOST_TRACES = 1_000_000

JAEGER = """
service:
  extensions: [jaeger_storage, jaeger_query]
  pipelines:
    traces: {{receivers: [otlp], exporters: [jaeger_storage_exporter]}}
  telemetry:
    metrics: {{level: none}}
    logs: {{level: warn}}
extensions:
  jaeger_query:
    storage: {{traces: memory}}
    http: {{endpoint: "127.0.0.1:{http}"}}
    grpc: {{endpoint: "127.0.0.1:{grpc}"}}
  jaeger_storage:
    backends: {{memory: {{memory: {{max_traces: {most}}}}}}}
receivers:
  otlp: {{protocols: {{grpc: {{endpoint: "127.0.0.1:{otlp}"}}}}}}
exporters:
  jaeger_storage_exporter: {{trace_storage: memory}}
"""


class Asked(Exception):
    """A backend refused a question, or did not answer."""


def ask(url, parameters=None, patience=120):
    """A JSON answer."""
    query = f"?{urllib.parse.urlencode(parameters, doseq=True)}" if parameters else ""
    try:
        with urllib.request.urlopen(url + query, timeout=patience) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        raise Asked(f"{url}{query}: {error.read().decode(errors='replace')[:300]}") from None
    except (urllib.error.URLError, OSError) as error:
        raise Asked(f"{url}{query}: {error}") from None


class Jaeger:
    """A Jaeger's query API."""

    def __init__(self, url):
        self.url = url

    @classmethod
    def start(cls, folder, binary):
        """One that takes OTLP over gRPC and keeps all traces in memory."""
        self = cls("")
        self.otlp, self.http, grpc = free_ports(3)
        settings = folder / "jaeger.yaml"
        settings.write_text(JAEGER.format(http=self.http, grpc=grpc, otlp=self.otlp, most=MOST_TRACES))
        self.url = f"http://127.0.0.1:{self.http}"
        self.process = Process("jaeger", [binary, "--config", settings], folder)
        self.process.listens(self.otlp).answers(f"{self.url}/api/services")
        return self

    def services(self):
        return ask(f"{self.url}/api/services")["data"] or []

    def operations(self, service):
        return ask(f"{self.url}/api/v3/operations", {"service": service})["operations"]

    def trace(self, trace_id):
        """A trace by its id; None if there is none."""
        try:
            return ask(f"{self.url}/api/traces/{trace_id}")["data"][0]
        except Asked as why:
            if "trace not found" in str(why):
                return None
            raise

    def traces(self, service, operation=None, limit=MOST_TRACES):
        """All traces of a service, or those with a span of this name."""
        parameters = {"service": service, "limit": limit, "lookback": "1d"}
        if operation:
            parameters["operation"] = operation
        return ask(f"{self.url}/api/traces", parameters)["data"] or []

    def search(self, target, values):
        """A search as a dashboard's panel has it: for spans with these tags, variables filled in."""
        from .check_queries import fill

        tags = dict(pair.split("=", 1) for pair in fill(target["tags"], values).split())
        parameters = {"service": target["service"], "limit": target["limit"], "lookback": "1d", "tags": json.dumps(tags)}
        parameters |= {key: target[key] for key in ("operation", "minDuration") if key in target}
        return ask(f"{self.url}/api/traces", parameters)["data"] or []


class Prometheus:
    """A Prometheus' API."""

    def __init__(self, url):
        self.url = url

    @classmethod
    def start(cls, name, folder, targets, rules):
        """One that scrapes each second, keeps exemplars, and holds these rules."""
        self = cls("")
        self.targets, self.settings = targets, folder / f"{name}.yml"
        (self.port,) = free_ports(1)
        self.url = f"http://127.0.0.1:{self.port}"
        settings = {
            "global": {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"},
            "rule_files": [str(path) for path in rules],
            "scrape_configs": [{"job_name": "fulcrum", "static_configs": [{"targets": targets}]}],
        }
        # JSON is YAML.
        self.settings.write_text(json.dumps(settings, indent=1))
        data = folder / f"{name}.data"
        command = [
            tools.debian("prometheus", "prometheus"), f"--config.file={self.settings}", f"--storage.tsdb.path={data}",
            f"--web.listen-address=127.0.0.1:{self.port}", "--enable-feature=exemplar-storage", "--log.level=warn",
        ]
        self.process = Process(name, command, folder, {**os.environ, "GOMAXPROCS": "1"})
        self.process.answers(f"{self.url}/-/ready")
        return self

    def _get(self, call, **parameters):
        return ask(f"{self.url}/api/v1/{call}", parameters)["data"]

    def at(self, expression, time=None):
        """The series of an expression at one moment."""
        parameters = {"query": expression} | ({"time": time} if time else {})
        return self._get("query", **parameters)["result"]

    def over(self, expression, start, end, step):
        """The series of an expression over a time."""
        return self._get("query_range", query=expression, start=start, end=end, step=step)["result"]

    def exemplars(self, expression, start, end):
        return self._get("query_exemplars", query=expression, start=start, end=end)

    def labels(self, label, match):
        """The values of a label among the series of a selector."""
        return self._get(f"label/{label}/values", **{"match[]": match})

    def rules(self):
        """All rules with their groups."""
        return [rule | {"group": group["name"]} for group in self._get("rules")["groups"] for rule in group["rules"]]

    def targets_up(self):
        return sorted(t["labels"]["instance"] for t in self._get("targets")["activeTargets"] if t["health"] == "up")

    def fired(self, start, end):
        """Which alerts fired between these times, and when first."""
        first = {}
        for series in self.over('ALERTS{alertstate="firing"}', start, end, 1):
            name, at = series["metric"]["alertname"], float(series["values"][0][0])
            first[name] = min(at, first.get(name, at))
        return first
