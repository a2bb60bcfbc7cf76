"""Settlement and wallets: where the money is on its way."""

from parts import OPERATOR, RED, YELLOW, board, from_, line, number, or_zero, quantiles, row, words

WHO = 'operator=~"$operator"'
CALLS = "fulcrum_wallet_calls_total"


def trouble():
    yield row("What has to be looked into")
    yield number("Oldest unacknowledged record", "Of all consumers. Records are removed after 14 days (limits.settlement_days).",
                 "s", f"max(fulcrum_settlements_oldest_unacknowledged_seconds{{{WHO}}}) or vector(0)",
                 thresholds=from_((600, YELLOW), (864000, RED)))
    yield number("Unacknowledged records", "Of all consumers together.", "none",
                 f"sum(max by (operator, consumer) (fulcrum_settlements_unacknowledged{{{WHO}}})) or vector(0)")
    yield number("Parked payments", "In the time shown. A person has to end each: ListTransactions, state PARKED.", "none",
                 or_zero(f"sum(increase(fulcrum_payments_parked_total{{{WHO}}}[$__range]))"),
                 thresholds=from_((0.5, RED)), decimals=0)
    yield number("Conservation failures", "Tables that stopped themselves in the time shown. Must be 0.", "none",
                 or_zero(f"sum(increase(fulcrum_tables_stopped_total{{{WHO}}}[$__range]))"),
                 thresholds=from_((0.5, RED)), decimals=0)
    yield number("Lost histories", "Tables that lost commits in the time shown; reversal records tell what counts for nothing.",
                 "none", or_zero(f"sum(increase(fulcrum_history_lost_total{{{WHO}}}[$__range]))"),
                 thresholds=from_((0.5, RED)), decimals=0)
    yield number("Wallet calls without an answer", "The share, unknown or spared. Above a half: FulcrumWalletFails.",
                 "percentunit",
                 f'((sum(rate({CALLS}{{outcome=~"unknown|not_asked", {WHO}}}[$__rate_interval])) or vector(0))'
                 f" / (sum(rate({CALLS}{{{WHO}}}[$__rate_interval])) > 0)) or vector(0)",
                 thresholds=from_((0.05, YELLOW), (0.5, RED)), decimals=1)


def settlements():
    yield row("Settlement")
    yield line("Unacknowledged records by consumer", "A line that only grows: the consumer is not running, or cannot book.",
               "none", (f"max by (operator, consumer) (fulcrum_settlements_unacknowledged{{{WHO}}})",
                        "{{operator}} {{consumer}}"))
    yield line("Age of the oldest by consumer", "After 10 minutes a ticket; after 10 days a page, since records go after 14.",
               "s", (f"max by (operator, consumer) (fulcrum_settlements_oldest_unacknowledged_seconds{{{WHO}}})",
                     "{{operator}} {{consumer}}"), thresholds=from_((600, YELLOW)))
    yield line("Records written", "A minute, by kind. hand follows the hands; void and reversal should be none.", "none",
               (f"sum by (operator, kind) (rate(fulcrum_settlements_total{{{WHO}}}[$__rate_interval])) * 60",
                "{{operator}} {{kind}}"), stacked=True)
    yield line("Tables stopped, histories lost",
               "Each is a page. A table that stopped itself stays so until ResumeTable; books of what was lost go back.",
               "none",
               (or_zero(f"sum by (operator) (increase(fulcrum_tables_stopped_total{{{WHO}}}[$__rate_interval]))"),
                "stopped {{operator}}"),
               (or_zero(f"sum by (operator) (increase(fulcrum_history_lost_total{{{WHO}}}[$__rate_interval]))"),
                "lost {{operator}}"), thresholds=from_((0.5, RED)))


def wallets():
    yield row("Wallets (seamless model)")
    yield line("Calls to wallets", "By call and outcome. declined is an answer; unknown and not_asked are none.", "ops",
               (or_zero(f"sum by (call, outcome) (rate({CALLS}{{{WHO}}}[$__rate_interval]))"), "{{call}} {{outcome}}"),
               stacked=True)
    yield line("Calls without an answer by operator",
               "One operator: his wallet. All of them: our own way out. Five in a row open the breaker for a second or more.",
               "percentunit",
               (or_zero(f'sum by (operator) (rate({CALLS}{{outcome=~"unknown|not_asked", {WHO}}}[$__rate_interval]))'
                        f" / sum by (operator) (rate({CALLS}{{{WHO}}}[$__rate_interval]))"), "{{operator}}"),
               thresholds=from_((0.5, RED)))
    yield line("How long wallets take",
               "Up to wallet.deadline_ms (3 s). Players wait for a seat as long as that; play does not.", "s",
               *quantiles("fulcrum_wallet_call_seconds", WHO, "operator", of=(0.5, 0.99)), thresholds=from_((3, RED)))
    yield line("Parked payments", "Credits and cancels that no wallet has booked in wallet.park_after_seconds (a day).", "none",
               (or_zero(f"sum by (operator) (increase(fulcrum_payments_parked_total{{{WHO}}}[$__rate_interval]))"),
                "{{operator}}"), thresholds=from_((0.5, RED)))


def make():
    yield words(
        "Settlement and wallets",
        "Does every operator book what was paid, do the wallets answer, does somebody wait for money? `deploy/money.md` tells "
        "what each fault comes to. A single transaction: ListTransactions; the sums: GetTrialBalance.", height=3)
    for part in (trouble, settlements, wallets):
        yield from part()


def dashboard():
    return board("fulcrum-settlement", "Fulcrum: settlement and wallets",
                 "Whether operators book what was paid, wallets answer, and players get their money.", [OPERATOR], make())
