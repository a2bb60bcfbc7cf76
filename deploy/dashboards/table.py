"""One table: the traces of its hands, beside what all tables of its kind do."""

from grafana_foundation_sdk.builders import dashboard as builders

from parts import (GAME, OPERATOR, RED, JaegerQuery, board, explore, from_, line, or_zero, quantiles, row, traces, words)

GAMES = 'game=~"$game"'
OF = 'operator=~"$operator", game=~"$game"'
TABLE = "fulcrum.table.id=$table"


def hands():
    yield row("Table $table")
    yield traces(
        "Hands of this table",
        "The newest hands of the time shown. Each line leads to the hand's trace: streets, turns, picks, showdown, settlement, "
        "delivery. Hands that were not sampled are not here, those with a fault always: `fulcrum trace` "
        "tells any whose commits are still kept.",
        JaegerQuery(TABLE, operation="hand"))
    yield traces(
        "Hand $hand of this table", "The trace of one hand by its number, for who has a dispute before him.",
        JaegerQuery(f"{TABLE} fulcrum.hand.number=$hand", operation="hand", limit=5), width=12, height=8)
    yield traces(
        "Voided hands of this table", "Should be none. The trace's fulcrum.void.reason says why.",
        JaegerQuery(f"{TABLE} fulcrum.hand.outcome=voided", operation="hand"), width=12, height=8)
    yield traces(
        "Slow calls for this table", "Calls of 50 ms or longer, with their commits and Redis round trips below them.",
        JaegerQuery(TABLE, operation="fulcrum.v1.ActionService/Act", slower_than="50ms"), width=12, height=8)
    yield traces(
        "Calls for this table that failed", "Calls that ended with an error of the service.",
        JaegerQuery(f"{TABLE} error=true"), width=12, height=8)


def around():
    hand = explore("Hands of this time in Jaeger", operation="hand")
    yield row("All tables of the chosen operator and game")
    yield line("How long hands take", "The dots are hands: each leads to its trace. Is this table's hand among the usual?", "s",
               *quantiles("fulcrum_hand_seconds", GAMES, of=(0.5, 0.95)), exemplars=True, link=hand)
    yield line("How long decisions take", "The dots lead to the hands of the decisions.", "s",
               *quantiles("fulcrum_decision_seconds", GAMES, "kind", of=(0.5, 0.95)), exemplars=True, link=hand)
    yield line("How long actions and picks take to answer", "The dots lead to the calls. Above 50 ms players notice.", "s",
               *quantiles("fulcrum_rpc_seconds", 'method=~".*/(Act|SelectPivot)"', "method", of=(0.5, 0.99)),
               thresholds=from_((0.05, RED)), exemplars=True)
    yield line("How long commits take", "The dots lead to the calls that made them.", "s",
               *quantiles("fulcrum_commit_seconds", of=(0.5, 0.99)), exemplars=True)
    yield line("How late time-outs are applied", "If this table waited for nobody: did all of them?", "s",
               *quantiles("fulcrum_clock_late_seconds", of=(0.5, 0.99)), thresholds=from_((1, RED)))
    yield line("Hands", "A minute: does only this table stand still, or do all?", "none",
               (f"sum by (operator) (rate(fulcrum_hands_ended_total{{{OF}}}[$__rate_interval])) * 60", "{{operator}}"),
               (or_zero(f"sum by (operator) (rate(fulcrum_hands_ended_total{{outcome=\"voided\", {OF}}}[$__rate_interval])) * 60"),
                "voided {{operator}}"))


def make():
    yield words(
        "One table",
        "Write the table's id above; `ListTables` and `fulcrum store check` know it. Metrics have no tables in them, so that they "
        "do not grow with tables: what is this table's are the traces. Beside Jaeger: `fulcrum store show OPERATOR/TABLE` shows "
        "the table as it is stored, and `fulcrum trace` a hand's course, both without a card.", height=4)
    for part in (hands, around):
        yield from part()


def dashboard():
    table = builders.TextBoxVariable("table").label("Table id").default_value("")
    hand = builders.TextBoxVariable("hand").label("Hand number").default_value("1")
    return board("fulcrum-table", "Fulcrum: one table", "The hands of one table as traces, and its surroundings.",
                 [table, hand, OPERATOR, GAME], make())
