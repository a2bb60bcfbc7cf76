"""The pictures of a run: each dashboard, and the waterfall of a hand that shows much."""

from . import check_queries
from .drawing import dashboard, waterfall
from .spans import spans

RATE = "15s"


def draw(folder, prometheus, jaeger, start, end, step, table=None):
    """Draws everything there is to be drawn of this time."""
    hand = tellable(jaeger, table)
    variables = {"table": table or "", "hand": ""}
    if hand:
        root = next(span for span in hand if span.name == "hand")
        variables = {"table": root["fulcrum.table.id"], "hand": root["fulcrum.hand.number"]}
    answers = dashboard.Answers(prometheus, jaeger, variables, start, end, RATE)
    for name, content in check_queries.dashboards().items():
        with step(f"{name}.png") as shown:
            shown.say(f"{dashboard.draw(content, answers, folder / f'{name}.png') // 1024} KiB")
    if hand:
        with step("hand.png") as shown:
            shown.say(f"{waterfall.draw(hand, folder / 'hand.png') // 1024} KiB")


def tellable(jaeger, table=None):
    """A hand of Double Hold'em with picks, a showdown and a time-out, of a length that fits on a page."""
    def merit(found):
        root = next(span for span in found if span.name == "hand")
        names = [span.name for span in found]
        late = sum(span["fulcrum.turn.ended"] in ("time_out", "picked_for_him") for span in found)
        long = any(span.name == "delivery" and span.end - root.end > 0.25 * (root.end - root.start) for span in found)
        return (not long, len(found) <= 40, "pivots" in names, "showdown" in names, min(late, 1),
                sum(name.startswith("street") for name in names), names.count("turn"))

    hands = [spans(trace) for trace in jaeger.traces("fulcrum", "hand")] if jaeger else []
    hands = [found for found in hands if any(span.name == "hand" for span in found)]
    if table:
        hands = [found for found in hands if any(span["fulcrum.table.id"] == table for span in found)]
    return max(hands, key=merit, default=None)
