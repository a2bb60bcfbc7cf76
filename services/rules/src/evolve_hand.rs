//! Folding the events of a hand into the state.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::config::{Limit, PivotOrder};
use crate::event::{Event, HandStart};
use crate::hand::{Accepted, Before, Betting, Decision, End, Hand, HandPlayer, PastHand, Prompt, Street};
use crate::result::HandResult;
use crate::table::Table;
use crate::terms::{Action, By, Play};
use crate::{Card, Chips, Millis, Pick, PostKind, SeatNo};

impl Table {
    pub(crate) fn evolve_hand(&mut self, event: &Event) {
        match event {
            Event::Posted { seat, kind, amount } => self.post(*seat, *kind, *amount),
            Event::HoleDealt { seat, cards, .. } => self.with_hand(|h| {
                h.used += cards.cards().len() as u8;
                h.with_player(*seat, |p| p.holes = Some(*cards));
            }),
            Event::Prompted { turn, seats, kind, at, act_by, bank_until } => {
                let (turn, seats, kind) = (*turn, *seats, *kind);
                let (at, act_by, bank_until) = (*at, *act_by, *bank_until);
                self.turn_begins(turn);
                let prompt = Prompt { turn, seats, kind, at, act_by, bank_until };
                self.with_hand(|h| h.prompt = Some(prompt));
            }
            Event::PivotPicked { turn, seat, pick, by, .. } => {
                self.turn_begins(*turn);
                self.picked(*turn, *seat, *pick, *by);
            }
            Event::Acted { turn, seat, play, to, added, all_in, by, asked, bank_used } => {
                self.turn_begins(*turn);
                self.act(*seat, *play, *to, *added, *by, *bank_used);
                if let Some(asked) = *asked {
                    let made = decision(asked, *play, *to, *added, *all_in);
                    self.accept(*turn, *seat, *by, made);
                }
            }
            Event::StreetDealt { street, cards } => self.deal_street(*street, cards),
            Event::UncalledReturned { seat, amount } => {
                self.with_seat(*seat, |s| s.stack += *amount);
                self.with_hand(|h| {
                    h.with_player(*seat, |p| {
                        p.live -= *amount;
                        p.returned += *amount;
                        p.bet = p.bet.saturating_sub(*amount);
                    });
                });
            }
            Event::HandShown { seat, .. } => {
                self.with_hand(|h| h.with_player(*seat, |p| p.shown = true));
            }
            Event::HandSettled(result) => self.pay(result),
            Event::HandVoided { reason, refunds, .. } => {
                for (seat, amount) in refunds {
                    self.with_seat(*seat, |s| s.stack += *amount);
                }
                let reason = reason.clone();
                self.put_back(End::Voided { reason });
            }
            // Everything else is folded elsewhere or tells only watchers.
            _ => {}
        }
    }

    fn pay(&mut self, result: &HandResult) {
        self.ledger.raked += result.rake;
        for player in &result.players {
            self.with_seat(player.seat, |s| {
                s.stack += player.won;
                s.wagered += player.contributed;
                s.won += player.won;
                s.raked += player.rake_share;
                // The wish to post is fulfilled only now: a void would have left it standing.
                s.post &= !s.established;
            });
        }
        self.with_hand(|h| {
            let live = h.live();
            let uncontested = live.iter().next().filter(|_| live.len() == 1);
            h.end = Some(End::Settled { uncontested });
            h.prompt = None;
        });
    }

    fn picked(&mut self, turn: u32, seat: SeatNo, pick: Pick, by: By) {
        self.accept(turn, seat, by, Decision::Picked(pick));
        self.count_timeout(seat, by, false);
        let in_turn = self.config.pivot_order == PivotOrder::InTurn;
        self.with_hand(|h| {
            h.answered(seat);
            if in_turn {
                h.next_from = seat;
            }
            h.with_player(seat, |p| {
                p.pick = Some(pick);
                // Picked at once by all, it was a turn of its own (rules 4.8, 8.3).
                p.pick_timed_out = in_turn && by == By::TimeOut;
            });
        });
    }

    /// A decision that the rules take at once is a turn of its own too: its number does not come again.
    fn turn_begins(&mut self, turn: u32) {
        self.with_hand(|h| h.turns = turn);
    }

    fn with_hand(&mut self, change: impl FnOnce(&mut Hand)) {
        if let Some(hand) = self.hand.as_mut() {
            change(hand);
        }
    }

    fn post(&mut self, seat: SeatNo, kind: PostKind, amount: Chips) {
        self.with_seat(seat, |s| s.stack -= amount);
        self.with_hand(|h| {
            h.with_player(seat, |p| {
                if kind.is_dead() {
                    p.dead += amount;
                } else {
                    p.live += amount;
                }
                if kind.is_live() {
                    p.bet += amount;
                }
            });
        });
    }

    fn act(&mut self, seat: SeatNo, play: Play, to: Chips, added: Chips, by: By, bank_used: Millis) {
        self.with_seat(seat, |s| {
            s.stack -= added;
            s.time_bank = s.time_bank - bank_used;
        });
        let same_turn = self.hand.as_ref().is_some_and(|h| {
            h.street == Street::Flop && h.player(seat).is_some_and(|p| p.pick_timed_out && !p.acted)
        });
        self.count_timeout(seat, by, same_turn);
        let (limit, stakes) = (self.config.limit, self.config.stakes);
        self.with_hand(|h| {
            if matches!(play, Play::Bet | Play::Raise) {
                let limit_bet = match (limit, h.street) {
                    (Limit::FixedLimit, Street::PreFlop | Street::Flop) => Some(stakes.small_bet),
                    (Limit::FixedLimit, _) => Some(stakes.big_bet),
                    _ => None,
                };
                h.betting.raise_to(to, limit_bet);
                h.aggressor = Some(seat);
            }
            h.answered(seat);
            h.next_from = seat.left();
            h.with_player(seat, |p| {
                p.bet = to;
                p.live += added;
                p.acted = true;
                p.folded |= play == Play::Fold;
            });
        });
    }

    fn accept(&mut self, turn: u32, seat: SeatNo, by: By, decision: Decision) {
        let version = self.version + 1;
        if by == By::Player {
            self.with_hand(|h| {
                h.accepted.push(Accepted { turn, seat, decision, version });
            });
        }
    }

    fn deal_street(&mut self, street: Street, cards: &[Card]) {
        let smallest = match self.config.limit {
            Limit::FixedLimit => self.config.stakes.small_bet,
            _ => self.config.stakes.big_blind,
        };
        self.with_hand(|h| {
            h.street = street;
            h.used += 1 + cards.len() as u8;
            h.board.extend_from_slice(cards);
            h.betting = Betting::new(Chips::ZERO, smallest, h.live().len());
            h.aggressor = None;
            h.prompt = None;
            h.next_from = h.positions.button.left();
            for player in h.players.iter_mut().flatten() {
                player.bet = Chips::ZERO;
                player.acted = false;
            }
        });
    }

    /// Rules 10.1: stacks, blind debts and button as before.
    fn put_back(&mut self, end: End) {
        let Some(hand) = self.hand.as_mut() else {
            return;
        };
        hand.end = Some(end);
        hand.prompt = None;
        for player in hand.players.iter_mut().flatten() {
            player.live = Chips::ZERO;
            player.dead = Chips::ZERO;
            player.bet = Chips::ZERO;
        }
        let before = hand.before.clone();
        self.positions = before.positions;
        self.interrupted = before.interrupted;
        for (seat, debt, established, newcomer) in before.seats {
            self.with_seat(seat, |s| {
                s.debt = debt;
                s.newcomer = newcomer;
                s.established = established && s.presence == crate::player::Presence::In;
            });
        }
    }
}

fn decision(asked: Action, play: Play, to: Chips, added: Chips, all_in: bool) -> Decision {
    Decision::Acted { asked, play, to, added, all_in }
}

impl Betting {
    /// The betting of a street that opens at this level.
    pub(crate) fn new(level: Chips, full_raise: Chips, live: usize) -> Betting {
        Betting { level, full_raise, base: level, raises: 0, live_at_start: live as u8 }
    }

    /// A bet or raise to this amount; `limit_bet` in fixed limit.
    fn raise_to(&mut self, to: Chips, limit_bet: Option<Chips>) {
        match limit_bet {
            // Rules 5.7: half a bet or more above the last full one counts as full.
            Some(bet) if (to - self.base).doubled() >= bet => {
                self.base = to;
                // No cap heads-up: the count must not run out before the chips do.
                self.raises = self.raises.saturating_add(1);
            }
            Some(_) => {}
            // Rules 5.1: a short all-in does not change what a full raise is.
            None => self.full_raise = self.full_raise.max(to - self.level),
        }
        self.level = to;
    }
}

impl Hand {
    pub(crate) fn begin(table: &Table, start: &HandStart) -> Hand {
        let mut players: [Option<HandPlayer>; SeatNo::MAX as usize] = Default::default();
        for seat in start.dealt.iter() {
            players[seat.index()] = table.seat(seat).map(|s| HandPlayer {
                player: s.player.clone(),
                stack_before: s.stack,
                bet: Chips::ZERO,
                live: Chips::ZERO,
                dead: Chips::ZERO,
                returned: Chips::ZERO,
                folded: false,
                acted: false,
                holes: None,
                pick: None,
                pick_timed_out: false,
                shown: false,
            });
        }
        Hand {
            number: start.number,
            started_at: start.at,
            positions: start.positions,
            dealt: start.dealt,
            deck: Box::new(start.deck.clone()),
            used: 0,
            street: Street::PreFlop,
            board: Vec::new(),
            players,
            bring_in: start.bring_in,
            next_from: start.first_after.left(),
            betting: Betting::new(start.bring_in, start.bring_in, start.dealt.len()),
            aggressor: None,
            prompt: None,
            turns: 0,
            accepted: Vec::new(),
            end: None,
            before: Before {
                positions: table.positions,
                interrupted: table.interrupted,
                seats: table.occupied().map(|(no, s)| (no, s.debt, s.established, s.newcomer)).collect(),
            },
        }
    }

    pub(crate) fn with_player(&mut self, seat: SeatNo, change: impl FnOnce(&mut HandPlayer)) {
        if let Some(player) = self.players[seat.index()].as_mut() {
            change(player);
        }
    }

    /// The seat has decided; the prompt stays for the others of a common pick.
    fn answered(&mut self, seat: SeatNo) {
        if let Some(prompt) = self.prompt.as_mut() {
            prompt.seats.remove(seat);
            if prompt.seats.is_empty() {
                self.prompt = None;
            }
        }
    }

    pub(crate) fn into_past(self) -> PastHand {
        let players = self.dealt.iter();
        PastHand {
            number: self.number,
            players: players.filter_map(|no| Some((no, self.player(no)?.player.clone()))).collect(),
            accepted: self.accepted,
        }
    }
}
