"""Spans as Jaeger's API gives them."""

import hashlib
import uuid
from dataclasses import dataclass


def hand_trace_id(hand):
    """The id of a hand's trace: whoever knows the hand knows it."""
    told = b"fulcrum hand\0" + hand.operator.encode() + b"\0" + uuid.UUID(hand.table).bytes + hand.number.to_bytes(8, "big")
    return hashlib.sha256(told).digest()[:16].hex()


@dataclass
class Span:
    """One span; times in ms since the epoch, as fractions where the service stamps finer."""

    trace: str
    id: str
    name: str
    parent: str
    links: list
    start: float
    end: float
    tags: dict
    events: list
    service: dict

    def __getitem__(self, key):
        return self.tags.get(key)


def spans(trace):
    """The spans of a trace, by start; those that came twice with the same contents once."""
    found = {}
    for raw in trace["spans"]:
        parent, links = "", []
        for reference in raw.get("references") or []:
            if reference["refType"] == "CHILD_OF" and reference["traceID"] == raw["traceID"] and not parent:
                parent = reference["spanID"]
            else:
                links.append((reference["traceID"], reference["spanID"]))
        process = trace["processes"][raw["processID"]]
        span = Span(
            raw["traceID"], raw["spanID"], raw["operationName"], parent, links, raw["startTime"] / 1000,
            (raw["startTime"] + raw["duration"]) / 1000, {tag["key"]: tag["value"] for tag in raw["tags"]},
            raw.get("logs") or [], {tag["key"]: tag["value"] for tag in process.get("tags") or []})
        span.service["service.name"] = process["serviceName"]
        found.setdefault((span.id, span.name, span.start, span.end), span)
    return sorted(found.values(), key=lambda span: (span.start, span.end))
