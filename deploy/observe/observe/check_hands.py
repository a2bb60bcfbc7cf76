"""Each finished hand is one trace, with the spans, parents, order and times that the event log says."""

import collections

from . import expected
from .spans import hand_trace_id, spans

# The store stamps milliseconds.
NEAR = 0.5
# An acknowledgement's span goes with a server that is killed so soon after it.
UNSENT = 3


def check(report, jaeger, hands, service, kills):
    """Holds all traces of hands against all hands; returns each hand's spans by its trace id."""
    traces = {trace["traceID"]: trace for trace in jaeger.traces(service, "hand")}
    finished = {hand_trace_id(hand): hand for hand in hands if hand.ended}
    missing = [f"{hand.name}: no trace {trace}" + _beside(hand, kills) for trace, hand in finished.items()
               if trace not in traces]
    report.check("each finished hand has a trace", len(finished), missing)
    strangers = [f"trace {trace} is of no finished hand" for trace in traces if trace not in finished]
    report.check("each trace of a hand is of a finished hand", len(traces), strangers)
    told = {trace: spans(traces[trace]) for trace in finished if trace in traces}
    faults = collections.defaultdict(list)
    for trace, hand in finished.items():
        if trace in told:
            for kind, fault in of_hand(hand, told[trace], kills):
                faults[kind].append(f"{hand.name}: {fault}")
    looked = sum(len(found) for found in told.values())
    for kind, name in KINDS.items():
        report.check(name, looked, faults[kind])
    if faults["lost"]:
        report.note(f"{len(faults['lost'])} deliveries went with a killed server", faults["lost"])
    return finished, told


KINDS = {
    "spans": "their spans are those that the event log says, each once",
    "parents": "each span hangs on the one it belongs to",
    "times": "each span begins and ends when the event log says",
    "tags": "each span's attributes are those of the event log and the settlement record",
    "order": "streets follow each other, turns lie in their streets, everything lies in its hand",
}


def _beside(hand, kills):
    near = [f"{(hand.ended / 1000 - kill):+.2f} s" for kill in kills if abs(hand.ended / 1000 - kill) < 5]
    return f" (it ended {near[0]} beside a kill)" if near else ""


def of_hand(hand, found, kills=()):
    """What is wrong with a hand's spans: kind and fault."""
    by_id = {span.id: span for span in found}
    if len(by_id) < len(found):
        same = sorted(span.name for span in found if by_id[span.id] is not span)
        yield "spans", f"{len(found) - len(by_id)} spans have the id of another one: {same}"
    left = list(found)
    alike = collections.defaultdict(list)
    for wanted in expected.of(hand):
        alike[(wanted.name, wanted.key)].append(wanted)
    for (name, key), wanted in alike.items():
        # One, but for players who are not there: they act on several streets under the number of the same turn.
        same = [span for span in left if span.name == name and all(span[k] == v for k, v in key)]
        if len(same) != len(wanted):
            yield "spans", f"{wanted[0]} is there {len(same)} times, not {len(wanted)}"
        for span in same:
            left.remove(span)
        wanted.sort(key=lambda one: (one.start, one.end, one.parent))
        same.sort(key=lambda span: (span.start, span.end, by_id[span.parent].name if span.parent in by_id else ""))
        for one, span in zip(wanted, same):
            yield from _compare(one, span, by_id)
    deliveries = [span for span in left if span.name == "delivery"]
    yield from _deliveries(hand, deliveries, by_id, kills)
    for span in left:
        if span.name != "delivery":
            yield "spans", f"{span.name} {span.tags} is not in the event log"
    yield from _order(hand, found, by_id)


def _compare(wanted, span, by_id):
    parent = by_id.get(span.parent)
    if (parent.name if parent else span.parent) != wanted.parent:
        yield "parents", f"{wanted} hangs on {parent.name if parent else span.parent or 'nothing'}, not on {wanted.parent}"
    if abs(span.start - wanted.start) > NEAR or abs(span.end - wanted.end) > NEAR:
        yield "times", (f"{wanted} is {span.start:.0f}..{span.end:.0f}, not {wanted.start}..{wanted.end} "
                        f"({span.start - wanted.start:+.0f}, {span.end - wanted.end:+.0f} ms)")
    for name, value in wanted.tags.items():
        if span[name] != value:
            yield "tags", f"{wanted} has {name}={span[name]!r}, not {value!r}"


def _deliveries(hand, found, by_id, kills):
    """One a consumer, from the settlement on. It is told once, by the server that was told of the acknowledgement."""
    consumers = collections.Counter(span["fulcrum.consumer"] for span in found)
    if not consumers and any(0 <= kill - hand.ended / 1000 < UNSENT for kill in kills):
        yield "lost", f"it ended {min(abs(kill - hand.ended / 1000) for kill in kills):.1f} s before a kill"
    elif consumers != {"books": 1}:
        yield "spans", f"deliveries are {dict(consumers)}, not one to `books`"
    for span in found:
        if span.parent not in by_id or by_id[span.parent].name != "hand":
            yield "parents", "delivery does not hang on its hand"
        if abs(span.start - hand.ended) > NEAR or span.end < span.start:
            yield "times", f"delivery is {span.start:.0f}..{span.end:.0f}, the record is of {hand.ended}"


def _order(hand, found, by_id):
    streets = [span for span in found if span.name.startswith("street ")]
    for one, other in zip(streets, streets[1:]):
        if abs(one.end - other.start) > NEAR:
            yield "order", f"{one.name} ends {other.start - one.end:+.0f} ms before {other.name} begins"
    for span in found:
        parent = by_id.get(span.parent)
        late = span.name == "delivery"
        if parent and (span.start < parent.start - NEAR or (span.end > parent.end + NEAR and not late)):
            yield "order", f"{span.name} sticks out of {parent.name}"
