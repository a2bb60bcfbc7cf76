"""Calls and hands know of each other: a call's span links to the hand, the hand's turns link back to the call."""

import re
import time

from .eventlog import PICK, PLAYER
from .spans import Span, spans

ANSWERS = {"fulcrum.v1.ActionService/Act", "fulcrum.v1.PivotService/SelectPivot"}
# A killed server takes along the spans of calls that it has not sent yet; it sends twice a second.
UNSENT = 3
ORDINARY = "00-{trace}-{span}-01"
# The trace and span of a caller who has traces himself, and sends them elsewhere.
CALLER = ("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331")


class Calls:
    """All spans that are of calls and not of hands."""

    def __init__(self, jaeger, service, hand_traces):
        self.traces = {}
        for trace in jaeger.traces(service):
            if trace["traceID"] not in hand_traces:
                self.traces[trace["traceID"]] = spans(trace)
        self.by_id = {(span.trace, span.id): span for found in self.traces.values() for span in found}
        self.calls = [span for span in self.by_id.values()
                      if span["rpc.system.name"] == "grpc" and span["span.kind"] == "server"]
        self.wallets = [span for span in self.by_id.values() if span["fulcrum.wallet.call"]]


def check(report, calls, told, finished, kills):
    """Both ways, and what hangs below calls."""
    roots = {(span.trace, span.id) for found in told.values() for span in found if span.name == "hand"}
    answers = [span for span in calls.calls if span["rpc.method"] in ANSWERS and span["rpc.response.status_code"] == "OK"]
    report.check("answers to turns that were accepted link to their hand", len(answers), [
        f"{span['rpc.method']} {span.trace}/{span.id} links to {span.links or 'nothing'}" for span in answers
        if not any(link in roots for link in span.links)])
    _back(report, calls, told, finished, kills)
    report.check("each span of a call hangs on one that is there", len(calls.by_id), [
        f"{span.name} {span.trace}/{span.id} hangs on {span.parent}" for span in calls.by_id.values()
        if span.parent and (span.trace, span.parent) not in calls.by_id and not unsent(span.end / 1000, kills)
        and (span.trace, span.parent) != CALLER])
    _below(report, calls, answers)
    report.check("each call has its method and how it ended", len(calls.calls), [
        f"{span.name}: {span.tags}" for span in calls.calls
        if not re.fullmatch(r"(fulcrum\.v1|grpc\.\w+\.v1\w*)\.\w+/\w+", span["rpc.method"] or "")
        or not re.fullmatch(r"[A-Z_]+", span["rpc.response.status_code"] or "")])
    report.check("each call of a wallet says what came of it", len(calls.wallets), [
        f"{span.name}: {span.tags}" for span in calls.wallets
        if span["span.kind"] != "client" or not span["fulcrum.wallet.outcome"]])


def unsent(at, kills):
    """Whether what ended at this second can have been lost with a killed server."""
    return any(0 <= kill - at < UNSENT for kill in kills)


def _back(report, calls, told, finished, kills):
    """Turns that a player answered link to the call that did it."""
    looked, faults, lost = 0, [], 0
    for trace, hand in finished.items():
        answered = {(turn.number, answer.seat): (turn, answer) for turn in hand.turns for answer in turn.answers
                    if answer.by == PLAYER}
        root = next((span for span in told.get(trace, []) if span.name == "hand"), None)
        for span in told.get(trace, []):
            key = (span["fulcrum.turn"], span["fulcrum.seat"])
            if span.name not in ("turn", "pick") or key not in answered:
                continue
            looked += 1
            turn, answer = answered[key]
            call = next((calls.by_id[link] for link in span.links if link in calls.by_id), None)
            if call is None and span.links and unsent(span.end / 1000, kills):
                lost += 1
            else:
                faults += _link(hand, span, turn, call, root)
    note = f", of those of {lost} the call's span went with a killed server" if lost else ""
    report.check(f"turns that a player answered link to the call, and it links back{note}", looked, faults)


def _link(hand, span, turn, call, root):
    if call is None:
        yield f"{hand.name} turn {turn.number}: links to {span.links or 'nothing'}, which is not there"
        return
    method = "fulcrum.v1.PivotService/SelectPivot" if turn.kind == PICK else "fulcrum.v1.ActionService/Act"
    # A pick's turn can be ended by a fold.
    if call["rpc.method"] not in ({method} | ({"fulcrum.v1.ActionService/Act"} if turn.kind == PICK else set())):
        yield f"{hand.name} turn {turn.number}: links to {call['rpc.method']}"
    if (root.trace, root.id) not in call.links:
        yield f"{hand.name} turn {turn.number}: its call {call.trace}/{call.id} does not link back"


def _below(report, calls, answers):
    """A commit is a round trip to Redis: it is a span below the call, without a statement's text."""
    below = {}
    for span in calls.by_id.values():
        if span["db.system.name"]:
            below.setdefault(span.trace, []).append(span)
    report.check("answers that were accepted have a round trip to Redis below them", len(answers), [
        f"{span['rpc.method']} {span.trace} has none" for span in answers if span.trace not in below])
    trips = [span for found in below.values() for span in found]
    report.check("round trips name the operation and the server, and no statement", len(trips), [
        f"{span.name}: {span.tags}" for span in trips
        if span["db.system.name"] != "redis" or not span["db.operation.name"] or not span["server.address"]
        or not span["server.port"] or span["db.query.text"]])


def check_caller(report, stage, jaeger):
    """A caller's trace goes on in the service: the call's span is in it, below the caller's."""
    import grpc

    from .service import Client

    operator = stage.operators[0]
    trace, span = CALLER
    code = None
    with Client(stage.replicas[1].address, operator.token) as client:
        client.metadata.append(("traceparent", ORDINARY.format(trace=trace, span=span)))
        client.tables()
        # A refusal is told, too.
        try:
            client.tables_stub.GetTable(client.pb["table_service_pb2"].GetTableRequest(table_id="nonsense"),
                                        metadata=client.metadata, timeout=10)
        except grpc.RpcError as refused:
            code = refused.code().name
    found = _await(jaeger, trace, 2)
    report.check("a caller's trace goes on in the service", len(found), _of_caller(found, span, code), least=2)


def _await(jaeger, trace, least, patience=20):
    end = time.monotonic() + patience
    while True:
        told = jaeger.trace(trace)
        found: list[Span] = spans(told) if told else []
        found = [span for span in found if span["rpc.system.name"] == "grpc"]
        if len(found) >= least or time.monotonic() > end:
            return found
        time.sleep(0.5)


def _of_caller(found, span, code):
    for call in found:
        if call.parent != span:
            yield f"{call.name} hangs on {call.parent}, not on {span}"
    refused = [call for call in found if call["rpc.method"] == "fulcrum.v1.TableService/GetTable"]
    for call in refused:
        if call["rpc.response.status_code"] != code:
            yield f"the refused call has {call['rpc.response.status_code']}, not {code}"
