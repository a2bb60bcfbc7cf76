"""The spans that a hand must have, made from the event log alone."""

from dataclasses import dataclass, field

from .eventlog import ABSENT, PICK, PLAYER, TIME_OUT


@dataclass
class Expected:
    """A span that must be there: how it is found, what it hangs on, from when to when, and what stands at it."""

    name: str
    parent: str
    start: int
    end: int
    tags: dict = field(default_factory=dict)
    # What tells it from others of the same name.
    key: tuple = ()

    def __str__(self):
        return " ".join([self.name, *(f"{name.removeprefix('fulcrum.')}={value}" for name, value in self.key)])


def of(hand):
    """All of them but the deliveries, which come later and as often as there are consumers."""
    found = [Expected("hand", "", hand.started, hand.ended, {
        "fulcrum.operator": hand.operator, "fulcrum.table.id": hand.table, "fulcrum.hand.number": hand.number,
        "fulcrum.game": hand.game, "fulcrum.limit": hand.limit, "fulcrum.stakes": hand.stakes,
        "fulcrum.players": len(hand.seats), "fulcrum.hand.outcome": hand.outcome})]
    showdown = min((at for _, at in hand.shown), default=None)
    ends = [at for _, at in hand.streets[1:]] + [hand.ended if showdown is None else showdown]
    for (street, start), end in zip(hand.streets, ends):
        name = f"street {street}"
        found.append(Expected(name, "hand", start, end, {"fulcrum.street": street}))
    found += _turns(hand)
    if hand.outcome == "settled":
        if showdown is not None:
            found.append(Expected("showdown", "hand", showdown, hand.ended))
        found.append(Expected("settlement", "hand", hand.ended, hand.ended,
                              {"fulcrum.pot": hand.pot, "fulcrum.rake": hand.rake}))
    return found


def _turns(hand):
    found, picks = [], []
    for turn in hand.turns:
        for seat in turn.seats:
            answer = next((answer for answer in turn.answers if answer.seat == seat), None)
            end = answer.at if answer else hand.ended
            key = (("fulcrum.turn", turn.number), ("fulcrum.seat", seat))
            tags = dict(key)
            tags["fulcrum.turn.ended"] = _ended(turn, answer)
            if answer and turn.kind != PICK:
                tags["fulcrum.action"] = answer.action
            span = Expected("pick" if turn.kind == PICK else "turn", "pivots" if turn.kind == PICK else
                            f"street {turn.street}", turn.started, end, tags, key)
            (picks if turn.kind == PICK else found).append(span)
    if picks:
        found.append(Expected("pivots", "street flop", min(p.start for p in picks), max(p.end for p in picks)))
    return found + picks


def _ended(turn, answer):
    if answer is None:
        return "hand_ended"
    if turn.kind == PICK and answer.action == "pick":
        return "picked" if answer.by == PLAYER else "picked_for_him"
    return {PLAYER: "action", TIME_OUT: "time_out", ABSENT: "absent"}[answer.by]
