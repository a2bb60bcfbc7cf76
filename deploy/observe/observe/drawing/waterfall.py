"""A hand as a waterfall: each span of its trace a bar from its beginning to its end, below the one that it hangs on."""

import matplotlib.pyplot as plt

from . import panels
from .style import DPI, INK, LINE, PANEL, SERIES, SOFT, save, value

WIDE, NAMES, ROW, HEAD, FOOT, MARGIN = 1180, 320, 19, 96, 34, 18
COLOURS = {"hand": "#24292f", "street": "#0969da", "turn": "#54aeff", "pivots": "#8250df", "pick": "#c297ff",
           "showdown": "#bf8700", "settlement": "#1a7f37", "delivery": "#2da44e"}
LATE = "#cf222e"
# What happens at one moment stands in the order of its sense.
LAST = {"showdown": 1, "settlement": 2, "delivery": 3}


def draw(found, path):
    """Draws a hand's spans; returns the size of the file."""
    rows = list(_walk(found))
    root = rows[0][1]
    start, end = root.start, max(span.end for span in found)
    size = (WIDE, HEAD + FOOT + ROW * len(rows))
    figure = plt.figure(figsize=(size[0] / 100, size[1] / 100), dpi=DPI, facecolor=PANEL)
    page = panels.Place(figure, size, 0, 0, *size)
    _heading(page, root, found)
    axes = page.inside(NAMES, HEAD, MARGIN + 120, FOOT).axes()
    length = (end - start) / 1000
    axes.set_xlim(0, length)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    for index, (depth, span) in enumerate(rows):
        _bar(axes, index, span, start, length)
        page.text(MARGIN + depth * 14, HEAD + ROW * (index + 0.5), span.name, va="center", size=8,
                  weight="bold" if depth < 2 else "normal")
        page.text(NAMES - 10, HEAD + ROW * (index + 0.5), _what(span), va="center", ha="right", size=7.5, color=SOFT)
    axes.xaxis.set_major_formatter(lambda number, _: value(number, "s"))
    axes.tick_params(length=0, labelsize=7.5)
    axes.set_yticks([])
    axes.grid(axis="x", color=LINE, lw=0.7)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    return save(figure, path)


def _walk(found):
    """The spans in the order of a tree, children by their beginnings, with their depth."""
    ids = {span.id for span in found}
    below = {}
    for span in found:
        below.setdefault(span.parent if span.parent in ids else "", []).append(span)

    def descend(parent, depth):
        place = lambda span: (LAST.get(span.name, 0), span.start, span.end, span["fulcrum.turn"] or 0)
        for span in sorted(below.get(parent, []), key=place):
            yield depth, span
            yield from descend(span.id, depth + 1)

    yield from descend("", 0)


def _heading(page, root, found):
    game = {"double": "Double Hold'em", "texas": "Texas Hold'em"}.get(root["fulcrum.game"], "")
    limit = str(root["fulcrum.limit"] or "").replace("_", "-")
    settled = next((span for span in found if span.name == "settlement"), root)
    page.text(MARGIN, 14, f"Hand {root['fulcrum.hand.number']} of table {root['fulcrum.table.id']}", size=13, weight="bold")
    facts = [f"{game}, {limit} {root['fulcrum.stakes']} {root['fulcrum.currency'] or ''}".strip(),
             f"{root['fulcrum.players']} players", f"pot {settled['fulcrum.pot']}, rake {settled['fulcrum.rake']}",
             str(root["fulcrum.hand.outcome"])]
    page.text(MARGIN, 40, "  ·  ".join(facts), size=8.5)
    page.text(MARGIN, 60, f"trace {root.trace}  ·  {len(found)} spans  ·  a turn lasts from its prompt to its answer", size=8,
              color=SOFT)


def _bar(axes, index, span, start, length):
    begin, took = (span.start - start) / 1000, (span.end - span.start) / 1000
    kind = span.name.split()[0]
    colour = COLOURS.get(kind, SERIES[8])
    if span["fulcrum.turn.ended"] in ("time_out", "picked_for_him", "hand_ended"):
        colour = LATE
    # What took no time is still to be seen.
    axes.barh(index, max(took, length * 0.0025), left=begin, height=0.62 if kind not in ("turn", "pick") else 0.5,
              color=colour, lw=0)
    note = value(took, "s") + (f", {span['fulcrum.turn.ended'].replace('_', ' ')}" if colour == LATE else "")
    axes.text(min(begin + took, length) + length * 0.006, index, note, va="center", size=7.2,
              color=LATE if colour == LATE else INK)


def _what(span):
    """What stands beside a span's name."""
    if span.name in ("turn", "pick"):
        words = [f"seat {span['fulcrum.seat']}"]
        if span["fulcrum.action"]:
            amount = span["fulcrum.amount"]
            words.append(str(span["fulcrum.action"]) + (f" {amount}" if amount else ""))
        bank = span["fulcrum.time_bank_ms"]
        if bank:
            words.append(f"bank {value(bank / 1000, 's')}")
        return "  ".join(words)
    if span.name == "settlement":
        return f"pot {span['fulcrum.pot']}, rake {span['fulcrum.rake']}"
    if span.name == "delivery":
        return f"to {span['fulcrum.consumer']}"
    return ""
