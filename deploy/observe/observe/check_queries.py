"""Every expression of every dashboard and alert has data, and no alert fires while all is well."""

import json
import re

import yaml

from . import tools
from .backends import Asked
from .check_calls import unsent

METRIC = re.compile(r"\b(fulcrum[a-z0-9_:]*|up)\b(?!\s*\()(\{[^}]*\})?")
DASHBOARDS = tools.ROOT / "deploy" / "dashboards"


def panels(dashboard):
    """All panels, those in rows too."""
    for panel in dashboard.get("panels", []):
        yield panel
        yield from panels(panel)


def dashboards():
    return {file.stem: json.loads(file.read_text()) for file in sorted(DASHBOARDS.glob("*.json"))}


def variables(dashboard, rate="15s"):
    """What stands for the variables of a dashboard; those that choose from a list choose all."""
    values = {"__rate_interval": rate, "__interval": "5s", "__range": "10m", "__range_s": "600"}
    for variable in dashboard.get("templating", {}).get("list", []):
        values.setdefault(variable["name"], ".*")
    return values


def fill(expression, values):
    """An expression with its variables filled in: $name, ${name} and ${name:format}."""
    known = lambda found: str(values.get(found[1] or found[2], found[0]))
    return re.sub(r"\$\{(\w+)(?::\w+)?\}|\$(\w+)", known, expression)


def expressions(rate="15s"):
    """Of all dashboards: where it is, the expression."""
    for name, dashboard in dashboards().items():
        values = variables(dashboard, rate)
        for panel in panels(dashboard):
            for target in panel.get("targets", []):
                if target.get("expr"):
                    yield f"{name}, {panel.get('title')!r}", fill(target["expr"], values)
        for variable in dashboard.get("templating", {}).get("list", []):
            query = variable.get("query")
            query = query.get("query", "") if isinstance(query, dict) else query or ""
            found = re.match(r"label_values\((.+),\s*(\w+)\)$", query)
            if found:
                yield f"{name}, variable {variable['name']}", fill(found[1], values)


def selectors(files):
    """Of all alerts: the rule, and each series that it looks at. By nature an alert itself has no data in health."""
    for file in files:
        for group in yaml.safe_load(file.read_text())["groups"]:
            for rule in group["rules"]:
                name = rule.get("alert") or rule["record"]
                for metric, labels in set(METRIC.findall(_bare(rule["expr"]))):
                    yield name, f"{metric}{labels}"


def _bare(expression):
    """Without the labels that are grouped by: they are no metrics."""
    return re.sub(r"\b(by|on|ignoring|group_left)\s*\([^)]*\)", "", expression)


def check_searches(report, jaeger, table, hand):
    """The searches of Jaeger that the dashboards make: those for hands find this one."""
    looked, faults = 0, []
    for name, dashboard in dashboards().items():
        for panel in panels(dashboard):
            for target in panel.get("targets", []):
                if target.get("queryType") != "search":
                    continue
                looked += 1
                found = jaeger.search(target, {"table": table, "hand": hand})
                if target.get("operation") == "hand" and "outcome" not in target["tags"] and not found:
                    faults.append(f"{name}, {panel['title']!r} finds nothing")
    report.check("the dashboards' searches find hands in Jaeger", looked, faults)


def check_dashboards(report, prometheus, start, end, faults_made):
    """Whether each expression had data at some time. What only a fault brings about has to be there only after it."""
    looked, empty, broken = 0, [], []
    for where, expression in expressions():
        looked += 1
        try:
            # `or vector(0)` is data, but no sign that the metric is there.
            names = {name for name, _ in METRIC.findall(_bare(expression))} - {"up"}
            absent = [name for name in names if not _has_data(prometheus, name, start, end)]
            if absent or not _has_data(prometheus, expression, start, end):
                empty.append(f"{where}: {expression}" + (f": there is no {' '.join(absent)}" if absent else ""))
        except Asked as why:
            broken.append(f"{where}: {why}")
    report.check("every expression of every dashboard is one", looked, broken)
    name = "every expression of every dashboard has data"
    if faults_made:
        report.check(name, looked, empty)
    else:
        report.note(f"{name}: {looked - len(empty)} of {looked} without faults", empty)


def check_alerts(report, prometheus, files, start, end, faults_made):
    """Whether each series that an alert looks at is there."""
    found, empty = list(dict.fromkeys(selectors(files))), []
    for name, selector in found:
        if not _has_data(prometheus, selector, start, end):
            empty.append(f"{name}: {selector}")
    name = "every series that an alert or a rule looks at is there"
    if faults_made:
        report.check(name, len(found), empty)
    else:
        report.note(f"{name}: {len(found) - len(empty)} of {len(found)} without faults", empty)
        bare = [f"{name}: {s}" for name, s in found
                if not _has_data(prometheus, s.split("{")[0], start, end)]
        report.check("every metric that an alert or a rule looks at is there", len(found), bare)


def _has_data(prometheus, expression, start, end):
    step = max(1, (end - start) / 300)
    series = prometheus.over(expression, start, end, f"{step:.3f}")
    return any(value != "NaN" for one in series for _, value in one["values"])


def check_silence(report, prometheus, name, rules, start, end):
    """No alert fires between these times."""
    fired = [f"{alert} fired {at - start:.0f} s after the start of the play" for alert, at in
             prometheus.fired(start, end).items()]
    report.check(f"no alert fires in the healthy play ({name})", rules, fired)


def check_exemplars(report, prometheus, hand_traces, call_traces, start, end, kills):
    """Exemplars carry the ids of traces that are there, or were to be sent by a server when it was killed."""
    looked, faults, of, lost = 0, [], {}, 0
    for series in prometheus.exemplars('{__name__=~"fulcrum_.*_bucket"}', start, end):
        metric = series["seriesLabels"]["__name__"]
        for exemplar in series["exemplars"]:
            looked += 1
            trace = exemplar["labels"].get("trace_id", "")
            of[metric] = of.get(metric, 0) + 1
            of_hand = "hand" in metric or "decision" in metric
            if trace in (hand_traces if of_hand else call_traces):
                continue
            # A hand's trace is told by another server then: only calls are lost.
            if not of_hand and unsent(float(exemplar["timestamp"]), kills):
                lost += 1
            else:
                faults.append(f"{metric}: {exemplar} is no trace in Jaeger")
    note = f", {lost} of calls whose spans went with a killed server apart" if lost else ""
    report.check(f"exemplars name traces that Jaeger has{note}", looked, faults)
    for metric in ("fulcrum_rpc_seconds", "fulcrum_hand_seconds", "fulcrum_decision_seconds", "fulcrum_commit_seconds"):
        if f"{metric}_bucket" not in of:
            report.check(f"{metric} has exemplars", 0, [])
