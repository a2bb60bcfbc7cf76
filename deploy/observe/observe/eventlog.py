"""The hands as the event log tells them: read over gRPC, folded here, with nothing of the tracing code.

This is what traces are held against. Times are milliseconds since the epoch, as the store stamped them.
"""

from dataclasses import dataclass, field

from .service import Client

STREETS = {1: "pre_flop", 2: "flop", 3: "turn", 4: "river"}
GAMES = {1: "double", 2: "texas"}
LIMITS = {1: "no_limit", 2: "pot_limit", 3: "fixed_limit"}
ACTIONS = {1: "fold", 2: "check", 3: "call", 4: "bet", 5: "raise", 6: "all_in"}
ACT, PICK = 1, 2
PLAYER, TIME_OUT, ABSENT = 1, 2, 3


def ms(timestamp):
    return timestamp.seconds * 1000 + timestamp.nanos // 1_000_000


def ms_of(duration):
    return duration.seconds * 1000 + duration.nanos // 1_000_000


@dataclass
class Answer:
    """What a seat did in a turn, or what the hand's end did to it."""

    seat: int
    at: int
    action: str = ""
    to: int = 0
    by: int = 0
    bank: int = 0


@dataclass
class Turn:
    """A question to one seat, or a pick asked of several."""

    number: int
    kind: int
    seats: list
    street: str
    started: int
    answers: list = field(default_factory=list)


@dataclass
class Hand:
    """A hand from its deal to its end."""

    operator: str
    table: str
    number: int
    game: str
    limit: str
    stakes: str
    started: int
    seats: list
    sequence: int
    streets: list = field(default_factory=list)
    turns: list = field(default_factory=list)
    shown: list = field(default_factory=list)
    ended: int | None = None
    outcome: str = ""
    pot: int = 0
    rake: int = 0
    players: list = field(default_factory=list)
    settlement: str = ""
    shifted: bool = False
    # Who sat there, as the operator names them: for the scan only.
    names: list = field(default_factory=list)
    cards: list = field(default_factory=list)

    @property
    def name(self):
        return f"{self.operator}/{self.table}#{self.number}"


def read(address, operator, token):
    """All hands of an operator, finished or not, in order; what all updates said besides, as text."""
    with Client(address, token) as client:
        records = {}
        for record in client.settlements(kinds=[1, 2]):
            body = record.hand if record.WhichOneof("body") == "hand" else record.void
            records[(record.table_id, body.hand_number)] = record
        hands, told = [], []
        for table in client.tables():
            updates = client.history(table.table_id, table.version)
            told += [str(update) for _, update in updates]
            hands += fold(operator, table.table_id, updates)
        for hand in hands:
            _account(hand, records.get((hand.table, hand.number)))
        return hands, told


def _account(hand, record):
    """Pot and rake from the settlement record."""
    if record is None:
        return
    hand.settlement = record.settlement_id
    if record.WhichOneof("body") == "hand":
        hand.pot, hand.rake = sum(pot.amount for pot in record.hand.pots), record.hand.rake


def fold(operator, table, updates):
    """A table's updates as hands."""
    folding, at = _Folding(operator, table), 0
    for sequence, update in updates:
        # What comes later did not happen earlier, whatever two servers reckon the store's time to be.
        at = max(at, ms(update.time))
        for event in update.events:
            kind = event.WhichOneof("event")
            told = getattr(folding, f"on_{kind}", None)
            if told:
                told(getattr(event, kind), at, sequence)
    return folding.hands


class _Folding:
    def __init__(self, operator, table):
        self.operator, self.table, self.hands, self.config, self.names = operator, table, [], None, {}

    @property
    def hand(self):
        return self.hands[-1]

    @property
    def running(self):
        return bool(self.hands) and self.hand.ended is None

    def on_table_opened(self, told, at, sequence):
        self.config = told.config

    def on_config_changed(self, told, at, sequence):
        self.config = told.config

    def on_player_seated(self, told, at, sequence):
        self.names[told.seat] = told.player_id

    def on_hand_started(self, told, at, sequence):
        stakes = f"{self.config.stakes.small_blind}/{self.config.stakes.big_blind}"
        hand = Hand(self.operator, self.table, told.hand_number, GAMES[self.config.game], LIMITS[self.config.limit], stakes,
                    ms(told.started), list(told.dealt_seats), sequence)
        hand.names = [self.names[seat] for seat in told.dealt_seats]
        hand.streets.append(("pre_flop", hand.started))
        self.hands.append(hand)

    def on_turn_started(self, told, at, sequence):
        street = self.hand.streets[-1][0]
        self.hand.turns.append(Turn(told.turn, told.kind, list(told.seats), street, ms(told.started)))

    def on_player_acted(self, told, at, sequence):
        answer = Answer(told.seat, at, ACTIONS[told.action], told.to, told.by, ms_of(told.bank_used))
        self._answer(told.turn, answer)

    def on_pivot_picked(self, told, at, sequence):
        self._answer(told.turn, Answer(told.seat, at, "pick", 0, told.by))

    def _answer(self, number, answer):
        for turn in self.hand.turns:
            if turn.number == number and answer.seat in turn.seats:
                turn.answers.append(answer)
                return
        # Nobody was asked: the service acted at once for somebody who is not there.
        kind = PICK if answer.action == "pick" else ACT
        turn = Turn(number, kind, [answer.seat], self.hand.streets[-1][0], answer.at, [answer])
        self.hand.turns.append(turn)

    def on_street_dealt(self, told, at, sequence):
        self.hand.streets.append((STREETS[told.street], at))
        self.hand.cards += list(told.cards)

    def on_hand_shown(self, told, at, sequence):
        # A winner may still show after the end: that is no part of the showdown.
        if self.running:
            self.hand.shown.append((told.seat, at))

    def on_hand_mucked(self, told, at, sequence):
        if self.running:
            self.hand.shown.append((told.seat, at))

    def on_clocks_shifted(self, told, at, sequence):
        if self.running:
            self.hand.shifted = True

    def on_hand_settled(self, told, at, sequence):
        self._end("settled", at)

    def on_hand_voided(self, told, at, sequence):
        self._end("voided", at)

    def on_history_lost(self, told, at, sequence):
        if self.running:
            self._end("lost", at)

    def _end(self, outcome, at):
        self.hand.outcome, self.hand.ended = outcome, at
