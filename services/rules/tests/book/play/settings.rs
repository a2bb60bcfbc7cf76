//! The first line of a rule test: `double|texas nl|pl|fl small/big`, then what differs from the defaults.
//!
//! `ante N`, `big-blind-ante N`, `straddles N`, `big-bet N`, `buy-in MIN..MAX`, `rake BASIS_POINTS`,
//! `cap TWO/THREE_OR_FOUR/FIVE_OR_MORE`, `unit N`, `simultaneous`, `show-all`, `cap-heads-up`, `bank T`,
//! `refill T/HANDS`, `grace T`, `rathole T`, `timeouts N`, `max-seats N`.

use rules::{Ante, Chips, Clocks, Game, Limit, Millis, PivotOrder, Rake, Refill, Stakes, TableConfig};

use super::millis;

fn number<T: core::str::FromStr>(word: &str) -> T {
    word.parse().unwrap_or_else(|_| panic!("no number: {word}"))
}

fn two<'a>(word: &'a str, between: &str) -> (&'a str, &'a str) {
    word.split_once(between).unwrap_or_else(|| panic!("no {between} in {word}"))
}

pub fn config(text: &str) -> TableConfig {
    let mut words = text.split("--").next().unwrap_or_default().split_whitespace();
    let mut next = || words.next().unwrap_or_else(|| panic!("more is needed: {text}"));
    let game = if next() == "double" { Game::DoubleHoldem } else { Game::TexasHoldem };
    let limit = match next() {
        "nl" => Limit::NoLimit,
        "pl" => Limit::PotLimit,
        "fl" => Limit::FixedLimit,
        other => panic!("no limit: {other}"),
    };
    let (small, big) = two(next(), "/");
    let mut config = defaults(game, limit, Chips(number(small)), Chips(number(big)));
    while let Some(word) = words.next() {
        if !switch(&mut config, word) {
            let value = words.next().unwrap_or_else(|| panic!("{word} is no setting, or of what?"));
            set(&mut config, word, value);
        }
    }
    config
}

fn defaults(game: Game, limit: Limit, small_blind: Chips, big_blind: Chips) -> TableConfig {
    TableConfig {
        display_name: "Book".to_owned(),
        currency: *b"EUR",
        game,
        limit,
        seats: 10,
        stakes: Stakes {
            small_blind,
            big_blind,
            ante: Ante::None,
            straddles: 0,
            small_bet: big_blind,
            big_bet: big_blind.doubled(),
            min_buy_in: Chips(1),
            max_buy_in: Chips(1_000_000),
        },
        rake: Rake::NONE,
        clocks: Clocks::default(),
        pivot_order: PivotOrder::InTurn,
        limit_cap_heads_up: false,
        show_all: false,
        rathole: Millis::ZERO,
    }
}

fn switch(config: &mut TableConfig, word: &str) -> bool {
    match word {
        "simultaneous" => config.pivot_order = PivotOrder::Simultaneous,
        "show-all" => config.show_all = true,
        "cap-heads-up" => config.limit_cap_heads_up = true,
        _ => return false,
    }
    true
}

fn set(config: &mut TableConfig, word: &str, value: &str) {
    let (stakes, rake, clocks) = (&mut config.stakes, &mut config.rake, &mut config.clocks);
    let chips = || Chips(number(value));
    match word {
        "ante" => stakes.ante = Ante::PerPlayer(chips()),
        "big-blind-ante" => stakes.ante = Ante::BigBlind(chips()),
        "straddles" => stakes.straddles = number(value),
        "big-bet" => stakes.big_bet = chips(),
        "buy-in" => {
            let (min, max) = two(value, "..");
            (stakes.min_buy_in, stakes.max_buy_in) = (Chips(number(min)), Chips(number(max)));
        }
        "rake" => rake.basis_points = number(value),
        "cap" => {
            let (two_players, more) = two(value, "/");
            let (three, five) = two(more, "/");
            rake.cap_two = Some(Chips(number(two_players)));
            rake.cap_three_or_four = Some(Chips(number(three)));
            rake.cap_five_or_more = Some(Chips(number(five)));
        }
        "unit" => rake.unit = chips(),
        "bank" => clocks.time_bank = millis(value),
        "refill" => {
            let (amount, hands) = two(value, "/");
            clocks.refill = Some(Refill { amount: millis(amount), every_hands: number(hands) });
        }
        "grace" => clocks.grace = millis(value),
        "timeouts" => clocks.timeouts_to_sit_out = number(value),
        "rathole" => config.rathole = millis(value),
        "max-seats" => config.seats = number(value),
        other => panic!("no setting: {other}"),
    }
}
