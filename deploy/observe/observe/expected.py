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
        "fulcrum.players": len(hand.seats), "fulcrum.hand.outcome": hand.outcome, **_money(hand)})]
    ends = [at for _, at in hand.streets[1:]] + [hand.ended]
    for (street, start), end in zip(hand.streets, ends):
        name = f"street {street}"
        found.append(Expected(name, "hand", start, end, {"fulcrum.street": street}))
    found += _turns(hand)
    # Hands that were all-in lie open before; the showdown is when they are compared and paid.
    if hand.outcome == "settled" and hand.shown:
        found.append(Expected("showdown", "hand", hand.ended, hand.ended))
    found.append(Expected("settlement", "hand", hand.ended, hand.ended, _money(hand)))
    return found


def _money(hand):
    return {"fulcrum.pot": hand.pot, "fulcrum.rake": hand.rake} if hand.outcome == "settled" else {}


def _turns(hand):
    found, picks, asked = [], [], []
    for turn in hand.turns:
        for seat in turn.seats:
            answer = next((answer for answer in turn.answers if answer.seat == seat), None)
            end = answer.at if answer else hand.ended
            # A pick is answered by a fold, too: then it was a turn like any other.
            pick = turn.kind == PICK and (answer is None or answer.action == "pick")
            asked += [turn.started] if turn.kind == PICK else []
            key = (("fulcrum.turn", turn.number), ("fulcrum.seat", seat))
            tags = dict(key) | {"fulcrum.turn.ended": _ended(answer, pick)}
            if answer and not pick:
                tags["fulcrum.action"] = answer.action
                tags |= {"fulcrum.amount": answer.to} if answer.action in ("call", "bet", "raise") else {}
                tags |= {"fulcrum.time_bank_ms": answer.bank} if answer.bank else {}
            name, parent = ("pick", "pivots") if pick else ("turn", f"street {turn.street}")
            (picks if pick else found).append(Expected(name, parent, turn.started, end, tags, key))
    if picks:
        found.append(Expected("pivots", "street flop", min(asked), max(pick.end for pick in picks)))
    return found + picks


def _ended(answer, pick):
    if answer is None:
        return "hand_ended"
    if pick:
        return "picked" if answer.by == PLAYER else "picked_for_him"
    return {PLAYER: "action", TIME_OUT: "time_out", ABSENT: "absent"}[answer.by]
