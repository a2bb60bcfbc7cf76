"""The byte scan: no card, no player's name and no token in anything that the service exports."""

import json
import re
import urllib.request

# As the service writes cards for those who may see them, as people write them, and as the contract names them.
CARDS = {
    # "As" is a word, too: it counts before another card.
    "a card like Ah": re.compile(r"(?<![\w.-])(?:[2-9TJQK][cdhs]|A[cdh]|As(?=[\"',;\]) ]*(?:[2-9TJQKA][cdhs])))"
                                 r"(?![\w/+=-])"),
    "a card with a suit's sign": re.compile(r"(?:10|[2-9TJQKA])\s?[♠♥♦♣♤♡♢♧]|\\u26(?:6[0-7])|[\U0001F0A1-\U0001F0DE]"),
    "a card's name": re.compile(r"(?i)(?<![a-z])(?:two|three|four|five|six|seven|eight|nine|ten|jack|queen|king|ace)[ _]of[ _]"
                                r"(?:clubs|diamonds|hearts|spades)"),
    "the words of a deck or hole cards with contents": re.compile(r"(?i)\b(?:deck|hole_cards|holes|pivot_index|card_index)"
                                                                  r"\"?\s?[:=(]\s?[\[(\"]?\d"),
}
# As `fulcrum load` names its players.
NAMES = {"a player's name": re.compile(r"load-[0-9a-f]{8}-\d+-\d+")}
AROUND = 60


def hits(text, patterns):
    """What was found, with what stands around it."""
    for name, pattern in patterns.items():
        for found in pattern.finditer(text):
            around = text[max(0, found.start() - AROUND):found.end() + AROUND].replace("\n", "⏎")
            yield f"{name}: …{around}…"


def check(report, stage, told, traces):
    """Scans everything; `told` is what the contract's streams said, where both are: who finds nothing there is blind."""
    tokens = {"a token": re.compile("|".join(re.escape(secret) for o in stage.operators for secret in
                                             (o.token, f"{o.name}-wallet-0123456789abcdef")) + "|" + "5a" * 32)}
    patterns = CARDS | NAMES | tokens
    shown = "\n".join(told)
    faces = sum(1 for _ in hits(shown, CARDS))
    names = sum(1 for _ in hits(shown, NAMES))
    control = "Ah Kd" + "\nTable: As 2c" + '\n["Td","9s"]' + "\n7♥"
    blind = [f"the scan finds only {n} {what} in the event log" for n, what in ((faces, "cards"), (names, "names")) if n < 100]
    blind += [f"the scan does not find `{line}`" for line in control.split("\n") if not any(hits(line, CARDS))]
    report.check("the scan sees cards and names where they are allowed: in the event log", faces + names, blind)
    for what, text in exports(stage, traces):
        report.check(f"no card, name or token in {what}", len(text), hits(text, patterns), least=100)


def exports(stage, traces):
    """Everything that leaves the service besides its answers."""
    yield "Jaeger's traces (bytes)", json.dumps(traces, ensure_ascii=False)
    for replica in stage.replicas:
        request = urllib.request.Request(f"http://{replica.target}/metrics", headers={
            "Accept": "application/openmetrics-text;version=1.0.0"})
        with urllib.request.urlopen(request, timeout=10) as answer:
            yield f"the metrics of server {replica.number} (bytes)", answer.read().decode()
    # Those of the rules are Prometheus' own.
    series = [name for name in stage.prometheus.labels("__name__", '{job="fulcrum"}') if name.startswith("fulcrum_")]
    labels = [stage.prometheus.at(f'{{__name__="{name}"}}') for name in series]
    yield "Prometheus' series (bytes)", json.dumps(labels)
    for replica in stage.replicas:
        yield f"the log of server {replica.number} (bytes)", replica.process.log.read_text(errors="replace")


def check_players(report, told, finished):
    """Players are told apart by a keyed hash: 16 hexadecimal digits, the same for the same player, others for others."""
    hashes, names, looked, faults = {}, {}, 0, []
    for trace, hand in finished.items():
        seats = dict(zip(hand.seats, hand.names))
        for span in told.get(trace, []):
            player = span["fulcrum.player"]
            if span.name not in ("turn", "pick"):
                continue
            looked += 1
            if not re.fullmatch(r"[0-9a-f]{16}", str(player)):
                faults.append(f"{hand.name} {span.name}: fulcrum.player is {player!r}")
                continue
            who = (hand.operator, seats[span["fulcrum.seat"]])
            if hashes.setdefault(who, player) != player or names.setdefault(player, who) != who:
                faults.append(f"{hand.name}: {player} is {who} and {names[player]}")
    report.check("players are keyed hashes, one each", looked, faults)
