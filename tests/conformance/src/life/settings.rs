//! Random settings of a table, all of them legal.

use rules::{
    Ante, Chips, Clocks, Game, Limit, Millis, PivotOrder, Rake, Refill, SeatNo, Stakes, TableConfig,
};

use crate::deals::Deals;

const BLINDS: [(u64, u64); 10] =
    [(1, 2), (1, 3), (2, 5), (5, 10), (10, 25), (50, 100), (5, 5), (0, 10), (75, 150), (1, 1)];

/// Any settings.
pub fn random(random: &mut Deals) -> TableConfig {
    let game = pick(random, &[Game::DoubleHoldem, Game::DoubleHoldem, Game::TexasHoldem]);
    let limit = pick(random, &[Limit::NoLimit, Limit::NoLimit, Limit::PotLimit, Limit::FixedLimit]);
    let seats = 2 + random.below(usize::from(SeatNo::MAX) - 1) as u8;
    let mut config = TableConfig {
        display_name: "random".to_owned(),
        currency: *b"EUR",
        game,
        limit,
        seats,
        stakes: stakes(random, limit),
        rake: Rake::NONE,
        clocks: Clocks::default(),
        pivot_order: PivotOrder::InTurn,
        limit_cap_heads_up: false,
        show_all: false,
        rathole: Millis::ZERO,
    };
    vary(&mut config, random);
    config
}

/// Changes what may change at a table with players.
pub fn vary(config: &mut TableConfig, random: &mut Deals) {
    config.stakes = stakes(random, config.limit);
    config.rake = rake(random);
    config.clocks = clocks(random);
    config.pivot_order = pick(random, &[PivotOrder::InTurn, PivotOrder::InTurn, PivotOrder::Simultaneous]);
    config.limit_cap_heads_up = random.below(2) == 0;
    config.show_all = random.below(4) == 0;
    config.rathole = pick(random, &[Millis::ZERO, Millis::minutes(60), Millis::minutes(60)]);
}

/// One of these.
pub fn pick<T: Copy>(random: &mut Deals, of: &[T]) -> T {
    of[random.below(of.len())]
}

fn stakes(random: &mut Deals, limit: Limit) -> Stakes {
    let (mut small, mut big) = pick(random, &BLINDS);
    let mut max_buy_in = Chips(big * 250);
    if random.below(50) == 0 {
        // As much as an amount may be.
        (small, big) = (Chips::MAX.0 / 2, Chips::MAX.0);
        max_buy_in = Chips::MAX;
    }
    let ante = match random.below(6) {
        0 => Ante::PerPlayer(Chips(1 + big / 5)),
        1 => Ante::BigBlind(Chips(big)),
        2 => Ante::PerPlayer(Chips(big)),
        _ => Ante::None,
    };
    Stakes {
        small_blind: Chips(small),
        big_blind: Chips(big),
        ante,
        straddles: if limit == Limit::FixedLimit { 0 } else { random.below(3) as u8 },
        small_bet: Chips(big),
        big_bet: Chips(big.saturating_mul(2)).min(Chips::MAX),
        min_buy_in: pick(random, &[Chips(1), Chips(1), Chips((big * 4).min(Chips::MAX.0))]).min(max_buy_in),
        max_buy_in,
    }
}

fn rake(random: &mut Deals) -> Rake {
    if random.below(2) == 0 {
        return Rake::NONE;
    }
    let mut cap = || pick(random, &[None, Some(Chips(1)), Some(Chips(7)), Some(Chips(300))]);
    let (cap_two, cap_three_or_four, cap_five_or_more) = (cap(), cap(), cap());
    let basis_points = pick(random, &[1, 250, 500, 10_000]);
    let unit = pick(random, &[Chips(1), Chips(1), Chips(5), Chips(100)]);
    Rake { basis_points, cap_two, cap_three_or_four, cap_five_or_more, unit }
}

fn clocks(random: &mut Deals) -> Clocks {
    let refill = Refill { amount: Millis::seconds(5), every_hands: 1 + random.below(4) as u32 };
    Clocks {
        action: pick(random, &[Millis(100), Millis::seconds(15), Millis::seconds(40)]),
        pivot: pick(random, &[Millis(100), Millis::seconds(15)]),
        time_bank: pick(random, &[Millis::ZERO, Millis::seconds(7), Millis::seconds(30)]),
        refill: (random.below(2) == 0).then_some(refill),
        grace: pick(random, &[Millis::ZERO, Millis(500), Millis::seconds(10)]),
        between_hands: pick(random, &[Millis::ZERO, Millis::seconds(3), Millis::minutes(2)]),
        timeouts_to_sit_out: 1 + random.below(3) as u8,
        sit_out_limit: pick(random, &[Millis::seconds(1), Millis::minutes(10), Millis::minutes(60)]),
    }
}
