"""A dashboard as a picture: its JSON says what stands where, Prometheus and Jaeger what is in it."""

import time

import matplotlib.pyplot as plt

from .. import check_queries as queries
from ..spans import spans
from . import panels
from .style import DPI, GROUND, INK, SOFT, save, value

COLUMN, UNIT, MARGIN, HEAD = 50, 29, 16, 52
POINTS = 240


class Series:
    """A series over time."""

    def __init__(self, name, labels, values):
        self.name, self.labels = name, labels
        self.times = [float(at) for at, _ in values]
        self.values = [float(number) for _, number in values]

    def known(self):
        return [number for number in self.values if number == number and abs(number) != float("inf")]

    def last(self):
        return self.known()[-1] if self.known() else float("nan")

    def largest(self):
        return max(self.known(), default=0.0)

    def at(self, time):
        return dict(zip(self.times, self.values)).get(time)


class Answers:
    """What the backends say of one time."""

    def __init__(self, prometheus, jaeger, variables, start, end, rate):
        self.prometheus, self.jaeger, self.variables, self.start, self.end, self.rate = (
            prometheus, jaeger, variables, start, end, rate)
        self.step = max(1.0, (end - start) / POINTS)

    def series(self, panel, values):
        found = []
        for target in panel.get("targets", []):
            expression = queries.fill(target["expr"], values)
            for one in self.prometheus.over(expression, self.start, self.end, f"{self.step:.3f}"):
                name = self.legend(target.get("legendFormat") or "", one["metric"])
                found.append(Series(name, one["metric"], one["values"]))
        found = [one for one in found if one.known()]
        # `or vector(0)` stands in where there is nothing: it has no name of its own.
        named = [one for one in found if "{{" not in one.name]
        for one in found:
            one.name = "none" if "{{" in one.name else one.name
        return named or found

    def legend(self, form, labels):
        for name, text in labels.items():
            form = form.replace("{{" + name + "}}", text.removeprefix("fulcrum.v1."))
        return form.strip() or ", ".join(f"{k}={v}" for k, v in labels.items() if k != "__name__") or "value"

    def exemplars(self, panel, values):
        """Exemplars of the panel's first query: their times and values."""
        target = next((target for target in panel.get("targets", []) if target.get("exemplar")), None)
        if target is None:
            return []
        told = self.prometheus.exemplars(queries.fill(target["expr"], values), self.start, self.end)
        found = [(float(one["timestamp"]), float(one["value"])) for series in told for one in series["exemplars"]]
        return found[:: max(1, len(found) // 150)]


def draw(dashboard, answers, path):
    """Draws a dashboard; returns the size of the file."""
    shown = list(queries.panels(dashboard))
    values = queries.variables(dashboard, answers.rate) | answers.variables
    values["__range"] = f"{int(answers.end - answers.start)}s"
    height = max(panel["gridPos"]["y"] + panel["gridPos"]["h"] for panel in shown)
    size = (24 * COLUMN + 2 * MARGIN, height * UNIT + HEAD + MARGIN)
    figure = plt.figure(figsize=(size[0] / 100, size[1] / 100), dpi=DPI, facecolor=GROUND)
    page = panels.Place(figure, size, 0, 0, *size)
    page.text(MARGIN, 16, dashboard["title"], size=15, weight="bold", color=INK)
    when = time.strftime("%d %B %Y, %H:%M:%S", time.gmtime(answers.start)) + " to " + time.strftime(
        "%H:%M:%S UTC", time.gmtime(answers.end))
    page.text(size[0] - MARGIN, 22, when, size=8.5, ha="right", color=SOFT)
    for panel in shown:
        grid = panel["gridPos"]
        place = panels.Place(figure, size, MARGIN + grid["x"] * COLUMN + 3, HEAD + grid["y"] * UNIT + 3,
                             grid["w"] * COLUMN - 6, grid["h"] * UNIT - 6)
        _panel(place, panel, answers, values)
    return save(figure, path)


def _panel(place, panel, answers, values):
    kind, panel = panel["type"], panel | {"title": queries.fill(panel.get("title", ""), values)}
    if kind == "text":
        panels.words(place, panel)
    elif kind == "row":
        panels.row(place, panel)
    elif kind == "stat":
        panels.number(place, panel, answers.series(panel, values))
    elif kind == "timeseries":
        panels.lines(place, panel, answers.series(panel, values), answers.start, answers.end,
                     answers.exemplars(panel, values))
    elif kind == "heatmap":
        panels.heat(place, panel, answers.series(panel, values), answers.start, answers.end)
    elif kind == "table":
        _search(place, panel, answers, values)
    else:
        panels.title(place, panel.get("title", kind), f"({kind} is not drawn)")


def _search(place, panel, answers, values):
    """A search of Jaeger, as a table of what was found."""
    target = panel["targets"][0]
    found = answers.jaeger.search(target, values) if answers.jaeger else []
    if target.get("operation") == "hand":
        headings = [("Trace", 8), ("Hand", 2), ("Began", 3), ("Took", 2.5), ("Outcome", 2.5), ("Pot", 2), ("Rake", 2),
                    ("Spans", 2)]
        rows = [_hand(trace) for trace in found]
        wide = place.w > 900
        keep = range(8) if wide else (1, 2, 3, 4, 5, 6)
    else:
        headings = [("Trace", 8), ("Call", 7), ("Began", 3), ("Took", 2.5), ("Ended", 3.5)]
        rows, keep = [_call(trace) for trace in found], (1, 2, 3, 4)
    rows.sort(key=lambda row: row[2], reverse=True)
    panels.table(place, panel, [headings[i] for i in keep], [[row[i] for i in keep] for row in rows])


def _hand(trace):
    found = spans(trace)
    root = next(span for span in found if span.name == "hand")
    settled = next((span for span in found if span.name == "settlement"), root)
    pot, rake = (settled[name] if settled[name] is not None else root[name] for name in ("fulcrum.pot", "fulcrum.rake"))
    return [trace["traceID"], root["fulcrum.hand.number"], clock(root.start), value((root.end - root.start) / 1000, "s"),
            root["fulcrum.hand.outcome"], "–" if pot is None else pot, "–" if rake is None else rake, len(found)]


def _call(trace):
    found = spans(trace)
    call = next((span for span in found if span["rpc.method"]), found[0])
    return [trace["traceID"], call.name.removeprefix("fulcrum.v1."), clock(call.start),
            value((call.end - call.start) / 1000, "s"), call["rpc.response.status_code"] or "–"]


def clock(ms):
    return time.strftime("%H:%M:%S", time.gmtime(ms / 1000))
