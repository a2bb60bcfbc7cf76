"""The alert rules in quick motion: a copy whose times are divided, so that an alert of hours fires within seconds.

What is divided: `for`, windows and offsets (`[5m]`, `offset 1h`), and ages in seconds that rules compare with (SECONDS).
Ratios, counts and names stay. A window never gets shorter than WINDOW: a rate needs a few scrapes.
"""

import re

import yaml

FACTOR = 60
# Scrapes are a second apart.
WINDOW = 5
UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400, "y": 365 * 86400}
DURATION = r"(?:\d+(?:ms|[smhdwy]))+"

# Ages that stand in an expression as numbers of seconds: the alert, what stands there, what stands there in quick motion.
SECONDS = {
    "FulcrumSettlementsUnacknowledged": ("> 600", "> 10"),
    # Ten days would be four hours.
    "FulcrumSettlementsSoonGone": ("> 10 * 86400", "> 20"),
}


class Unknown(Exception):
    """A rule does not say what the table of ages expects of it."""


def seconds(text):
    return sum(float(n) * UNITS[unit] for n, unit in re.findall(r"(\d+)(ms|[smhdwy])", text))


def shorter(text, least=0):
    """A duration, divided."""
    ms = max(round(seconds(text) * 1000 / FACTOR), least * 1000)
    return f"{ms // 1000}s" if ms % 1000 == 0 else f"{ms}ms"


def quick(alert, expression):
    """An expression, divided."""
    if alert in SECONDS:
        said, instead = SECONDS[alert]
        if said not in expression:
            raise Unknown(f"{alert} does not say `{said}`: observe/rules.py has to be told what it says now")
        expression = expression.replace(said, instead)
    expression = re.sub(rf"\[({DURATION})\]", lambda found: f"[{shorter(found[1], WINDOW)}]", expression)
    # Subqueries: the window and its step.
    subquery = lambda found: f"[{shorter(found[1], WINDOW)}:{shorter(found[2], 1)}]"
    expression = re.sub(rf"\[({DURATION}):({DURATION})\]", subquery, expression)
    return re.sub(rf"\boffset\s+({DURATION})", lambda found: f"offset {shorter(found[1], 1)}", expression)


def quick_copies(files, folder):
    """Copies of rule files in quick motion."""
    copies = []
    for file in files:
        content = yaml.safe_load(file.read_text())
        for group in content["groups"]:
            group.pop("interval", None)
            for rule in group["rules"]:
                rule["expr"] = quick(rule.get("alert"), rule["expr"])
                for key in ("for", "keep_firing_for"):
                    if key in rule:
                        rule[key] = shorter(rule[key], 1)
        copy = folder / f"quick-{file.name}"
        copy.write_text(yaml.safe_dump(content, sort_keys=False))
        copies.append(copy)
    return copies


def labels(files):
    """What tells the rules of alerts from each other: their names and fixed labels."""
    rules = [rule for file in files for group in yaml.safe_load(file.read_text())["groups"] for rule in group["rules"]]
    return [{"alertname": rule["alert"], **rule.get("labels", {})} for rule in rules if "alert" in rule]


def names(files):
    """All alerts of rule files."""
    rules = [rule for file in files for group in yaml.safe_load(file.read_text())["groups"] for rule in group["rules"]]
    return sorted({rule["alert"] for rule in rules if "alert" in rule})
