"""What all dashboards are made of: variables, links, and the few kinds of panels."""

import json
from urllib.parse import quote

from grafana_foundation_sdk.builders import common as common_builders
from grafana_foundation_sdk.builders import dashboard, heatmap, prometheus, stat, table, text, timeseries
from grafana_foundation_sdk.cog import builder as cog_builder
from grafana_foundation_sdk.cog import variants
from grafana_foundation_sdk.models import common
from grafana_foundation_sdk.models import dashboard as model
from grafana_foundation_sdk.models import heatmap as heatmap_model
from grafana_foundation_sdk.models import prometheus as prometheus_model
from grafana_foundation_sdk.models import text as text_model

# The name that the servers' spans are exported under (service.name).
SERVICE = "fulcrum"
# Which calls wait by design, for a wallet or for a stop to hold: left out of what is promised about latency.
WAITING = ".*/(SeatPlayer|AddChips|DisableScope|EnableScope)"

PROMETHEUS = model.DataSourceRef(type_val="prometheus", uid="${prometheus}")
JAEGER = model.DataSourceRef(type_val="jaeger", uid="${jaeger}")

GREEN, YELLOW, RED, PLAIN = "green", "yellow", "red", "text"
MEAN, MAX, LAST = "mean", "max", "lastNotNull"


class JaegerQuery(variants.Dataquery, cog_builder.Builder):
    """A search of Jaeger. The SDK has no type for it; its JSON is that of Grafana's Jaeger data source."""

    def __init__(self, tags, operation=None, slower_than=None, limit=50):
        self.tags, self.operation, self.slower_than, self.limit = tags, operation, slower_than, limit

    def build(self):
        return self

    def to_json(self):
        query = {
            "datasource": JAEGER,
            "limit": self.limit,
            "queryType": "search",
            "refId": "A",
            "service": SERVICE,
            "tags": self.tags,
        }
        if self.operation:
            query["operation"] = self.operation
        if self.slower_than:
            query["minDuration"] = self.slower_than
        return query


def explore(title, operation=None, slower_than=None):
    """A data link: what Jaeger has of the time that the dashboard shows."""
    query = {"refId": "A", "queryType": "search", "service": SERVICE}
    if operation:
        query["operation"] = operation
    if slower_than:
        query["minDuration"] = slower_than
    left = {
        "datasource": "${jaeger}",
        "queries": [query],
        "range": {"from": "${__from}", "to": "${__to}"},
    }
    url = "/explore?left=" + quote(json.dumps(left, separators=(",", ":")), safe="${}")
    return dashboard.DashboardLink(title).type(model.DashboardLinkType.LINK).url(url).target_blank(True)


def steps(*pairs):
    """Thresholds: the first colour from the beginning, each other one from its value on."""
    thresholds = [model.Threshold(value=value, color=color) for value, color in pairs]
    return dashboard.ThresholdsConfig().mode(model.ThresholdsMode.ABSOLUTE).steps(thresholds)


def from_(*pairs):
    """Green, then the colours from their values on."""
    return steps((None, GREEN), *pairs)


def queries(panel, exprs, exemplars=False, instant=False):
    for ref, (expr, legend) in zip("ABCDEFGH", exprs):
        query = prometheus.Dataquery().expr(expr).legend_format(legend).ref_id(ref)
        query = query.instant() if instant else query.range()
        # Exemplars of one query are enough: all quantiles are of the same buckets.
        if exemplars and ref == "A":
            query = query.exemplar(True)
        panel = panel.with_target(query)
    return panel


def base(panel, title, description, unit, width, height):
    panel = panel.title(title).description(description).datasource(PROMETHEUS).span(width).height(height)
    return panel.unit(unit) if unit else panel


def line(title, description, unit, *exprs, thresholds=None, exemplars=False, stacked=False, floor=0, link=None,
         width=12, height=8):
    """Lines over time, or areas on top of each other."""
    panel = base(timeseries.Panel(), title, description, unit, width, height)
    legend = (
        common_builders.VizLegendOptions()
        .display_mode(common.LegendDisplayMode.TABLE)
        .placement(common.LegendPlacement.BOTTOM)
        .show_legend(True)
        .calcs([MEAN, MAX, LAST])
    )
    tooltip = (
        common_builders.VizTooltipOptions().mode(common.TooltipDisplayMode.MULTI).sort(common.SortOrder.DESCENDING)
    )
    panel = panel.legend(legend).tooltip(tooltip).line_width(1).show_points(common.VisibilityMode.NEVER)
    panel = panel.fill_opacity(30 if stacked else 5)
    if stacked:
        panel = panel.stacking(common_builders.StackingConfig().mode(common.StackingMode.NORMAL).group("A"))
    if floor is not None:
        panel = panel.min(floor)
    if thresholds is not None:
        lines = common_builders.GraphThresholdsStyleConfig().mode(common.GraphTresholdsStyleMode.DASHED)
        panel = panel.thresholds(thresholds).thresholds_style(lines)
    links = [link] if link else []
    if exemplars and not links:
        links = [explore("Slow calls of this time in Jaeger", slower_than="50ms")]
    if links:
        panel = panel.data_links(links)
    return queries(panel, exprs, exemplars)


def number(title, description, unit, expr, legend="", thresholds=None, width=4, height=4, names=False, decimals=None):
    """The last value, as a number."""
    panel = base(stat.Panel(), title, description, unit, width, height)
    reduce = common_builders.ReduceDataOptions().calcs([LAST]).values(False)
    panel = panel.reduce_options(reduce).graph_mode(common.BigValueGraphMode.AREA)
    panel = panel.color_mode(common.BigValueColorMode.VALUE).thresholds(thresholds or steps((None, PLAIN)))
    if decimals is not None:
        panel = panel.decimals(decimals)
    if names:
        panel = panel.text_mode(common.BigValueTextMode.VALUE_AND_NAME)
    return queries(panel, [(expr, legend)])


def heat(title, description, expr, width=12, height=8):
    """How many took how long, over time; `expr` gives buckets by `le`."""
    panel = base(heatmap.Panel(), title, description, None, width, height)
    panel = panel.calculate(False).y_axis(heatmap.YAxisConfig().unit("s").axis_placement(common.AxisPlacement.LEFT))
    color = (
        heatmap.HeatmapColorOptions()
        .mode(heatmap_model.HeatmapColorMode.SCHEME)
        .scheme("Oranges")
        .scale(heatmap_model.HeatmapColorScale.EXPONENTIAL)
        .exponent(0.5)
        .steps(64)
    )
    query = prometheus.Dataquery().expr(expr).legend_format("{{le}}").ref_id("A").range().exemplar(True)
    query = query.format(prometheus_model.PromQueryFormat.HEATMAP)
    return panel.color(color).cell_values(heatmap.CellValues().unit("short")).with_target(query)


def traces(title, description, query, width=24, height=10):
    """The traces that a search of Jaeger finds; each leads to its waterfall."""
    panel = table.Panel().show_header(True).title(title).description(description).datasource(JAEGER).span(width).height(height)
    return panel.with_target(query)


def words(title, content, width=24, height=4):
    """A text."""
    panel = text.Panel().title(title).mode(text_model.TextMode.MARKDOWN).content(content)
    return panel.description("What this dashboard answers, and where to look next.").span(width).height(height)


def quantiles(metric, matchers="", *by, of=(0.5, 0.95, 0.99)):
    """Queries for quantiles of a histogram."""
    labels = ", ".join(("le", *by))
    legend = "".join(f" {{{{{label}}}}}" for label in by)
    inner = f"sum by ({labels}) (rate({metric}_bucket{{{matchers}}}[$__rate_interval]))".replace("{}", "")
    return [(f"histogram_quantile({q}, {inner})", f"p{q * 100:g}{legend}") for q in of]


def or_zero(expr):
    """What counts faults is 0 while there are none, and not nothing."""
    return f"({expr}) or on () vector(0)"


def row(title):
    return dashboard.Row(title)


def source(name, label, kind):
    return dashboard.DatasourceVariable(name).label(label).type(kind)


def chosen(name, label, query):
    """A variable with the values of a label; all of them unless some are chosen."""
    variable = dashboard.QueryVariable(name).label(label).datasource(PROMETHEUS).query(query)
    variable = variable.refresh(model.VariableRefresh.ON_TIME_RANGE_CHANGED).sort(model.VariableSort.ALPHABETICAL_ASC)
    everything = model.VariableOption(selected=True, text="All", value="$__all")
    return variable.multi(True).include_all(True).all_value(".*").current(everything)


INSTANCE = ("instance", "Server", 'label_values(up{job="fulcrum"}, instance)')
OPERATOR = ("operator", "Operator", "label_values(fulcrum_hands_started_total, operator)")
GAME = ("game", "Game", "label_values(fulcrum_hands_started_total, game)")
REDIS = ("server", "Redis", "label_values(fulcrum_redis_memory_bytes, server)")


def board(uid, title, description, variables, panels, refresh="30s"):
    """A dashboard: the data sources first, then its own variables; links to all others of this folder."""
    made = (
        dashboard.Dashboard(title)
        .uid(uid)
        .description(description)
        .tags(["fulcrum"])
        .time("now-3h", "now")
        .refresh(refresh)
        .timezone("browser")
        .editable()
        .tooltip(model.DashboardCursorSync.CROSSHAIR)
        .with_variable(source("prometheus", "Prometheus", "prometheus"))
        .with_variable(source("jaeger", "Jaeger", "jaeger"))
    )
    for variable in variables:
        made = made.with_variable(chosen(*variable) if isinstance(variable, tuple) else variable)
    others = dashboard.DashboardLink("Fulcrum").type(model.DashboardLinkType.DASHBOARDS).tags(["fulcrum"])
    made = made.link(others.as_dropdown(False).include_vars(True).keep_time(True).icon("external link"))
    for panel in panels:
        made = made.with_row(panel) if isinstance(panel, dashboard.Row) else made.with_panel(panel)
    return made
