"""Tables and hands: the business view."""

from parts import (GAME, OPERATOR, RED, YELLOW, board, explore, from_, heat, line, number, or_zero, quantiles, row, words)

WHO = 'operator=~"$operator"'
OF = 'operator=~"$operator", game=~"$game"'
GAMES = 'game=~"$game"'


def now():
    yield row("Now")
    yield number("Open tables", "Tables that are not closed, of the whole installation.", "none",
                 f"sum(max by (operator, game) (fulcrum_tables_open{{{OF}}}))")
    yield number("Seated players", "Players who have a seat, sitting out or not.", "none",
                 f"sum(max by (operator, game) (fulcrum_players_seated{{{OF}}}))")
    yield number("Hands an hour", "Hands that ended, at the rate of the last minutes.", "none",
                 f"sum(rate(fulcrum_hands_ended_total{{{OF}}}[$__rate_interval])) * 3600", decimals=0)
    yield number("Voided hands", "In the time shown. Each was a malfunction, lost history or a request.", "none",
                 or_zero(f"sum(increase(fulcrum_hands_voided_total{{{WHO}}}[$__range]))"),
                 thresholds=from_((1, YELLOW), (10, RED)), decimals=0)
    yield number("Time-outs of decisions", "The share of decisions that players left to the clock.", "percentunit",
                 f'sum(rate(fulcrum_actions_total{{by="clock", {GAMES}}}[$__rate_interval]))'
                 f" / sum(rate(fulcrum_actions_total{{{GAMES}}}[$__rate_interval]))", decimals=1)
    yield number("Watchers", "Streams that watch tables, at all servers.", "none", "sum(fulcrum_watchers)")


def tables():
    yield row("Tables, players, chips")
    yield line("Open tables", "By operator and game.", "none",
               (f"max by (operator, game) (fulcrum_tables_open{{{OF}}})", "{{operator}} {{game}}"), stacked=True)
    yield line("Seated players", "By operator and game. A fall of one operator at once: his backend, or his wallet.", "none",
               (f"max by (operator, game) (fulcrum_players_seated{{{OF}}})", "{{operator}} {{game}}"), stacked=True)
    yield line("Chips in stacks", "In minor units of the currency. Moves with buy-ins and pay-outs only, and with pots.",
               "none", (f"max by (operator, currency) (fulcrum_chips_stacks{{{WHO}}})", "{{operator}} {{currency}}"))
    yield line("Chips in pots", "In minor units. Pots that stay while no hand ends: tables that stand still.", "none",
               (f"max by (operator, currency) (fulcrum_chips_pots{{{WHO}}})", "{{operator}} {{currency}}"))


def hands():
    hand = explore("Hands of this time in Jaeger", operation="hand")
    yield row("Hands")
    yield line("Hands", "A minute, by game and limit. Started and ended belong together.", "none",
               (f"sum by (game, limit) (rate(fulcrum_hands_started_total{{{OF}}}[$__rate_interval])) * 60",
                "started {{game}} {{limit}}"),
               (f"sum by (game, limit) (rate(fulcrum_hands_ended_total{{{OF}}}[$__rate_interval])) * 60",
                "ended {{game}} {{limit}}"))
    yield line("How hands ended", "By operator. Voided ones should be none.", "ops",
               (f"sum by (operator, outcome) (rate(fulcrum_hands_ended_total{{{OF}}}[$__rate_interval]))",
                "{{operator}} {{outcome}}"), stacked=True)
    yield line("Voided hands by reason",
               "malfunction: an invariant did not hold; history_lost: Redis lost "
               "commits; requested: VoidHand.", "none",
               (or_zero(f"sum by (operator, reason) (increase(fulcrum_hands_voided_total{{{WHO}}}[$__rate_interval]))"),
                "{{operator}} {{reason}}"), thresholds=from_((1, RED)))
    yield line("How long hands take", "The dots lead to the traces of hands. It is mostly players' thinking.", "s",
               *quantiles("fulcrum_hand_seconds", GAMES, "game", of=(0.5, 0.95)), exemplars=True, link=hand)


def play():
    hand = explore("Hands of this time in Jaeger", operation="hand")
    yield row("Play and clocks")
    yield line("Actions", "Actions and picks a second. One kind that vanishes: a client's fault.", "ops",
               (f"sum by (action) (rate(fulcrum_actions_total{{{GAMES}}}[$__rate_interval]))", "{{action}}"), stacked=True)
    yield line("Actions by game, and by whom",
               "player: a call came in time. clock: the time ran out. absence: decided at once for who was not there.", "ops",
               (f"sum by (game, by) (rate(fulcrum_actions_total{{{GAMES}}}[$__rate_interval]))", "{{game}} {{by}}"))
    yield line("How long decisions take", "From the prompt to the commit. The dots lead to the traces of their hands.", "s",
               *quantiles("fulcrum_decision_seconds", GAMES, "game", "kind", of=(0.5, 0.95)), exemplars=True, link=hand)
    yield heat("How long decisions take, all of them", "A band at the length of the clock: players who are gone.",
               f"sum by (le) (increase(fulcrum_decision_seconds_bucket{{{GAMES}}}[$__rate_interval]))")
    yield line("Time-outs", "By what was asked. A jump at one operator: his players have lost their connections.", "ops",
               (or_zero(f"sum by (game, kind) (rate(fulcrum_timeouts_total{{{GAMES}}}[$__rate_interval]))"),
                "{{game}} {{kind}}"))
    yield line("Time bank used", "Seconds of time bank for each hand that ended.", "s",
               (f"sum by (game) (rate(fulcrum_time_bank_seconds_total{{{GAMES}}}[$__rate_interval]))"
                f" / sum by (game) (rate(fulcrum_hands_ended_total{{{GAMES}}}[$__rate_interval]))", "{{game}}"))
    yield line("How late time-outs are applied",
               "After they were due. More than a second: tables wait for nobody, FulcrumClocksLate.", "s",
               *quantiles("fulcrum_clock_late_seconds", of=(0.5, 0.95, 0.99)), thresholds=from_((1, RED)))
    yield line("Watchers, and who was cut off",
               "slow: did not read in time. store: history could not be read. They come back with resume tokens.", "none",
               ("sum(fulcrum_watchers)", "watching"),
               (or_zero("sum by (why) (increase(fulcrum_watchers_cut_off_total[$__rate_interval]))"), "cut off: {{why}}"))


def make():
    yield words(
        "Tables and hands",
        "Who plays what, and does play go on? Tables, players and chips are of the whole installation; the rest is added up "
        "over the servers. A single table or hand: *One table*. Money: *Settlement and wallets*.", height=3)
    for part in (now, tables, hands, play):
        yield from part()


def dashboard():
    return board("fulcrum-tables", "Fulcrum: tables and hands", "Who plays what, and whether play goes on.",
                 [OPERATOR, GAME], make())
