"""The kinds of panels: lines, numbers, heat maps, tables and text, each drawn into its place on the page."""

import math
import re
import textwrap
import time

from matplotlib.colors import LinearSegmentedColormap
from matplotlib.patches import FancyBboxPatch, Rectangle
from matplotlib.ticker import MultipleLocator

from .style import GREEN, INK, LINE, NAMED, PANEL, RED, SERIES, SOFT, value

HEAT = LinearSegmentedColormap.from_list("heat", ["#ffffff", "#fde0c0", "#f6a25c", "#d1571b", "#7a2500"])
LEGEND = 6
ENTRY = 15


class Place:
    """A rectangle of the page, in pixels from its upper left corner."""

    def __init__(self, figure, size, x, y, w, h):
        self.figure, self.size, self.x, self.y, self.w, self.h = figure, size, x, y, w, h

    def inside(self, left, top, right, bottom):
        return Place(self.figure, self.size, self.x + left, self.y + top, self.w - left - right, self.h - top - bottom)

    def fraction(self):
        width, height = self.size
        return [self.x / width, 1 - (self.y + self.h) / height, self.w / width, self.h / height]

    def axes(self):
        return self.figure.add_axes(self.fraction())

    def text(self, x, y, text, **how):
        """Text at this place of the rectangle."""
        width, height = self.size
        how = {"va": "top", "ha": "left"} | how
        self.figure.text((self.x + x) / width, 1 - (self.y + y) / height, text, **how)

    def box(self, face=PANEL, edge=LINE):
        x, y, w, h = self.fraction()
        self.figure.patches.append(FancyBboxPatch(
            (x, y), w, h, boxstyle="square,pad=0", fc=face, ec=edge, lw=0.8, transform=self.figure.transFigure, zorder=-5))

    def swatch(self, x, y, colour):
        width, height = self.size
        self.figure.patches.append(Rectangle(
            ((self.x + x) / width, 1 - (self.y + y + 4) / height), 11 / width, 4 / height, fc=colour, ec="none",
            transform=self.figure.transFigure))


def title(place, text, detail=""):
    place.box()
    # Narrow panels have small titles rather than none.
    size = min(8.5, (place.w - 16) / (0.9 * max(1, len(text))))
    place.text(10, 9, text, weight="bold", size=size)
    if detail:
        place.text(place.w - 10, 10, detail, ha="right", color=SOFT, size=7)


def words(place, panel):
    text = panel["options"]["content"].replace("*", "").replace("`", "")
    place.box("#eef4fb", "#cfe0f2")
    lines = [line for part in text.split("\n") for line in textwrap.wrap(part, int(place.w / 6.4)) or [""]]
    place.text(12, 10, "\n".join(lines), size=8.5, linespacing=1.45)


def row(place, panel):
    place.text(2, place.h / 2 + 2, panel["title"], weight="bold", size=11, va="center")


def thresholds(panel):
    steps = panel.get("fieldConfig", {}).get("defaults", {}).get("thresholds", {}).get("steps", [])
    return [(step["value"], NAMED.get(step["color"], step["color"])) for step in steps]


def unit_of(panel):
    return panel.get("fieldConfig", {}).get("defaults", {}).get("unit", "none")


def number(place, panel, series):
    """The last value, large, with its course behind it."""
    title(place, panel["title"])
    if not series:
        place.text(place.w / 2, place.h / 2 + 8, "no data", ha="center", va="center", color=SOFT)
        return
    colour = INK
    last = series[0].last()
    for least, named in thresholds(panel):
        if least is None or last >= least:
            colour = named
    names = [one for one in series if one.name]
    text = value(last, unit_of(panel))
    if panel.get("options", {}).get("textMode") == "value_and_name" and names:
        text = names[0].name
    place.text(place.w / 2, place.h / 2 + 10, text, ha="center", va="center", size=19 if len(text) < 9 else 13, weight="bold",
               color=colour)


def lines(place, panel, series, start, end, exemplars=()):
    """Lines over time, with a legend that says the last and the largest value."""
    unit = unit_of(panel)
    title(place, panel["title"])
    series = sorted(series, key=lambda one: -one.largest())
    shown = series[:LEGEND]
    rows = math.ceil(max(1, len(shown)) / 2)
    foot = 26 + rows * ENTRY + (ENTRY if len(series) > LEGEND else 0)
    axes = place.inside(58, 30, 14, foot + 14).axes()
    stacked = panel.get("fieldConfig", {}).get("defaults", {}).get("custom", {}).get("stacking", {}).get("mode") == "normal"
    if stacked:
        _stack(axes, series)
    else:
        for index, one in enumerate(reversed(series)):
            colour = SERIES[(len(series) - 1 - index) % len(SERIES)]
            axes.plot(one.times, one.values, color=colour, lw=1.3 if len(series) < 8 else 1)
            if len(series) == 1:
                axes.fill_between(one.times, one.values, color=colour, alpha=0.08, lw=0)
    frame(axes, unit, start, end)
    _limits(axes, panel, series)
    if exemplars:
        top = axes.get_ylim()[1]
        near = [(at, size) for at, size in exemplars if size <= top and start <= at <= end]
        axes.scatter([at for at, _ in near], [size for _, size in near], marker="D", s=7, color="#8250df", alpha=0.45, lw=0)
        place.text(place.w - 10, 10, f"◆ exemplars ({len(near)}): each names a trace", ha="right", color="#8250df", size=7)
    if not series:
        axes.text(0.5, 0.5, "no data", transform=axes.transAxes, ha="center", va="center", color=SOFT)
    _legend(place, shown, len(series) - len(shown), unit, foot)


def _stack(axes, series):
    times = sorted({at for one in series for at in one.times})
    below = [0.0] * len(times)
    for index, one in enumerate(series):
        known = dict(zip(one.times, one.values))
        above = [base + (known.get(at) or 0) for base, at in zip(below, times)]
        axes.fill_between(times, below, above, color=SERIES[index % len(SERIES)], alpha=0.55, lw=0)
        below = above


def frame(axes, unit, start, end):
    """Axes for people: clock times below, values with their unit at the left."""
    axes.set_xlim(start, end)
    span = end - start
    step = next(step for step in (5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 86400) if span / step <= 8)
    ticks = [at for at in range(int(start // step * step), int(end) + 1, step) if at >= start]
    form = "%H:%M" if step >= 60 else "%H:%M:%S"
    axes.set_xticks(ticks, [time.strftime(form, time.gmtime(at)) for at in ticks])
    axes.yaxis.set_major_formatter(lambda number, _: value(number, unit))
    axes.tick_params(length=0, labelsize=7)
    axes.grid(color=LINE, lw=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)


def _limits(axes, panel, series):
    largest = max((one.largest() for one in series), default=0)
    defaults = panel.get("fieldConfig", {}).get("defaults", {})
    drawn = [(least, colour) for least, colour in thresholds(panel) if least is not None] \
        if defaults.get("custom", {}).get("thresholdsStyle", {}).get("mode", "off") != "off" else []
    low, high = axes.get_ylim()
    if defaults.get("min") is not None:
        low = defaults["min"]
    if largest <= low:
        high = low + 1
    # Thresholds that are near; far ones would press the lines flat.
    near = [(least, colour) for least, colour in drawn if least <= max(2 * largest, 1.2 * high)]
    high = max([high, *(1.1 * least for least, _ in near)])
    axes.set_ylim(low, high)
    if unit_of(panel) == "bytes" and high > 8:
        axes.yaxis.set_major_locator(MultipleLocator(2 ** math.ceil(math.log2((high - low) / 5))))
    else:
        axes.locator_params(axis="y", nbins=5)
    for least, colour in near:
        axes.axhline(least, color=colour, lw=1, ls=(0, (5, 3)))


def _legend(place, shown, more, unit, foot):
    top = place.h - foot + 12
    half = (place.w - 20) / 2
    letters = int((half - 150) / 5.9)
    for index, one in enumerate(shown):
        x, y = 10 + (index % 2) * half, top + (index // 2) * ENTRY
        place.swatch(x, y + 4, SERIES[index % len(SERIES)])
        name = one.name if len(one.name) <= letters else re.sub(r"\w+Service/", "", one.name)
        name = name if len(name) <= letters else "…" + name[-letters + 1:]
        place.text(x + 16, y, name, size=7)
        place.text(x + half - 12, y, f"{value(one.last(), unit)}, max {value(one.largest(), unit)}", size=7, ha="right",
                   color=SOFT)
    if more > 0:
        place.text(26, top + math.ceil(len(shown) / 2) * ENTRY, f"and {more} more", size=7, color=SOFT)


def heat(place, panel, series, start, end):
    """How many took how long: a column a moment, a row a bucket."""
    title(place, panel["title"])
    axes = place.inside(58, 30, 14, 36).axes()
    buckets = sorted((float(one.labels["le"]), one) for one in series if one.labels.get("le"))
    buckets = [(le, one) for le, one in buckets if le != math.inf] + [(le, one) for le, one in buckets if le == math.inf]
    if not buckets:
        axes.text(0.5, 0.5, "no data", transform=axes.transAxes, ha="center", va="center", color=SOFT)
        return
    times = sorted({at for _, one in buckets for at in one.times})
    columns = []
    for at in times:
        total, column = 0.0, []
        for _, one in buckets:
            cumulative = one.at(at) or 0.0
            column.append(max(0.0, cumulative - total))
            total = max(total, cumulative)
        columns.append(column)
    used = [index for index in range(len(buckets)) if any(column[index] > 0.01 for column in columns)]
    low, high = (used[0], used[-1]) if used else (0, len(buckets) - 1)
    picture = [[math.sqrt(column[index]) for column in columns] for index in range(low, high + 1)]
    axes.imshow(picture, aspect="auto", origin="lower", cmap=HEAT, interpolation="nearest",
                extent=[times[0], times[-1], -0.5, high - low + 0.5])
    frame(axes, "s", start, end)
    names = ["more" if le == math.inf else "≤ " + value(le, "s") for le, _ in buckets[low:high + 1]]
    every = max(1, math.ceil(len(names) / 11))
    axes.set_yticks(range(0, len(names), every), names[::every])
    axes.yaxis.set_major_formatter(lambda number, _: names[round(number)] if 0 <= round(number) < len(names) else "")
    axes.grid(False)


def table(place, panel, headings, found):
    """What a search of Jaeger found."""
    title(place, panel["title"], f"Jaeger: {len(found)} traces" if found else "")
    if not found:
        place.text(place.w / 2, place.h / 2 + 6, "none", ha="center", va="center", color=SOFT)
        return
    rows = int((place.h - 60) // 19)
    width = (place.w - 20) / sum(size for _, size in headings)
    for number, cells in enumerate([[name for name, _ in headings], *found[:rows]]):
        x = 10
        for (_, size), cell in zip(headings, cells):
            colour = SOFT if number == 0 else RED if cell == "voided" else GREEN if cell == "settled" else INK
            family = "DejaVu Sans Mono" if number and len(str(cell)) == 32 else None
            place.text(x, 34 + number * 19, str(cell), size=7.5, color=colour, weight="bold" if number == 0 else "normal",
                       **({"family": family} if family else {}))
            x += size * width
