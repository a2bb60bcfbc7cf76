//! A recorded hand played through the service, and everything that watchers are told compared.

use std::collections::BTreeMap;
use std::sync::Arc;

use conformance::cards::faces;
use conformance::difference::Differences;
use conformance::hand::{Entry, LegalSet, RecordedPot, Word};
use fulcrum::pb::v1;
use fulcrum::pb::v1::table_event::Event;
use fulcrum::pb::v1::table_message::Content;
use rules::{Action, Ask, Card, Chips};

use super::hands::Hand;
use super::harness::{Caller, Decks, Eyes};
use super::messages::{amount, sit_down};
use super::mirror::Mirror;
use super::{records, worth};

/// What a hand differed in.
#[derive(Default)]
pub struct Found {
    /// Which hand.
    pub id: String,
    /// In what; nothing if it was as it should be.
    pub differences: Differences,
}

/// A hand at its table.
struct Replay {
    hand: Arc<Hand>,
    caller: Caller,
    table: String,
    /// A spectator.
    eyes: Eyes,
    /// So many of the messages that he has seen are compared.
    followed: usize,
    /// The rules alone: the legal sets of records that have none, and the whole settlement.
    mirror: Mirror,
    /// The next entry of the record's actions.
    next: usize,
    posted: Vec<(bool, usize, i64)>,
    returned: Vec<(usize, u64)>,
    settled: Option<v1::SettledHand>,
    differences: Differences,
}

/// Plays the hand at a table of its own and compares.
pub async fn check(mut caller: Caller, decks: Arc<Decks>, hand: Arc<Hand>) -> Found {
    let id = hand.record.id.clone();
    let mirror = match Mirror::begin(&hand.setup) {
        Ok(mirror) => mirror,
        Err(refusal) => {
            let mut differences = Differences::default();
            differences.compare("the rules", Some(refusal), None);
            return Found { id, differences };
        }
    };
    let table = sit_down(&mut caller, &hand.setup).await;
    decks.lay_out(&table, 1, hand.setup.deck.clone());
    // The button of a first hand is drawn from the seats in order: the last one gets it.
    decks.first_button(&table, hand.setup.places.len() as u64 - 1);
    let mut eyes = caller.watch(&table, "").await;
    caller.begin(&table).await;
    while eyes.hand == 0 {
        eyes.next().await.expect("the hand begins");
    }
    let replay = Replay {
        hand,
        caller,
        table,
        eyes,
        followed: 0,
        mirror,
        next: 0,
        posted: Vec::new(),
        returned: Vec::new(),
        settled: None,
        differences: Differences::default(),
    };
    Found { id, differences: replay.play().await }
}

impl Replay {
    async fn play(mut self) -> Differences {
        self.start();
        let decided = self.settled.is_none();
        if decided {
            // Nobody else acts, so this comes before the hand's end: then all are paid out, and no other hand begins.
            self.caller.close_table(&self.table).await;
        }
        while self.settled.is_none() && self.differences.0.is_empty() {
            self.decide().await;
        }
        if self.differences.0.is_empty() {
            self.compare_end(decided).await;
        }
        self.differences
    }

    /// Button, forced bets, and whatever follows before the first decision.
    fn start(&mut self) {
        let record = &self.hand.record;
        let forced = record.actions.iter().map_while(|entry| match entry {
            Entry::Forced { player, ante, amount } => Some((!ante, *player, *amount as i64)),
            _ => None,
        });
        let mut forced: Vec<_> = forced.collect();
        self.next = forced.len();
        self.follow();
        forced.sort_unstable();
        self.posted.sort_unstable();
        let posted = std::mem::take(&mut self.posted);
        self.compare("forced bets", posted, forced);
    }

    /// Answers the open turn as recorded, and follows what comes of it.
    async fn decide(&mut self) {
        let Some(turn) = self.eyes.turn.clone() else {
            return self.compare("a turn of somebody", false, true);
        };
        let at = self.next;
        let (legal, asked) = (legal_set(&turn), asked(&turn));
        let mirrored = self.mirror.legal();
        self.compare(&format!("action {at}: all that is legal"), turn.legal, mirrored);
        let (word, to) = match self.hand.record.actions.get(at) {
            // A check where nothing else is legal is not recorded.
            entry if legal == Some((0, 0, None, None)) && !checks(entry, asked) => (Word::Check, None),
            Some(Entry::Act { player, word, to, legal: recorded }) => {
                let (player, word, to, recorded) = (*player, *word, *to, *recorded);
                self.next += 1;
                self.compare(&format!("action {at}: player"), asked, Some(player));
                if recorded.is_some() {
                    self.compare(&format!("action {at}: legal"), legal, recorded);
                }
                (word, Some(to))
            }
            other => {
                let other = format!("{other:?}");
                return self.compare(&format!("action {at}"), "a turn".to_owned(), other);
            }
        };
        if let Some(player) = asked {
            self.act(&format!("action {at}"), &turn, player, word, to).await;
        }
    }

    async fn act(&mut self, name: &str, turn: &v1::Turn, player: usize, word: Word, to: Option<u64>) {
        let Some(place) = self.hand.setup.places.get(player) else {
            return self.compare(name, "no such player", "a player");
        };
        let (player, seat) = (place.player.clone(), place.seat);
        let (action, sized) = action(word);
        let wanted_to = to.map(|to| amount(Chips(to)));
        let sent = wanted_to.filter(|_| sized).unwrap_or_default();
        let answer = self.caller.act(&self.table, player.as_str(), turn, action, sent).await;
        let accepted = match answer {
            Ok(answer) => {
                self.eyes.until(answer.sequence).await;
                answer.action.unwrap_or_default()
            }
            Err(status) => return self.compare(name, Some(status.message().to_owned()), None),
        };
        let wanted = v1::AcceptedAction {
            hand_number: 1,
            turn: turn.number,
            seat: seat.number().into(),
            action: action.into(),
            // What the record does not say.
            to: wanted_to.unwrap_or(accepted.to),
            put_in: accepted.put_in,
            all_in: accepted.all_in,
        };
        self.compare(name, accepted, wanted);
        self.follow();
        let mirrored = Ask::Act {
            player,
            hand: 1,
            turn: turn.number,
            action: asked_action(word, to.unwrap_or_default()),
        };
        let refusal = self.mirror.ask(mirrored).err();
        self.compare(&format!("{name}: the rules alone"), refusal, None);
    }
}

impl Replay {
    /// Compares what has been told since the last time, and keeps what is compared at the end.
    fn follow(&mut self) {
        let told = self.eyes.seen[self.followed..].iter().filter_map(|message| match &message.content {
            Some(Content::Update(update)) => Some(update.events.clone()),
            _ => None,
        });
        let events: Vec<v1::TableEvent> = told.flatten().collect();
        self.followed = self.eyes.seen.len();
        for event in events.into_iter().filter_map(|event| event.event) {
            // At a table where nobody had to decide anything, another hand may have begun.
            if self.settled.is_none() {
                self.event(event);
            }
        }
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::HandStarted(started) => self.compare_positions(&started),
            Event::BlindPosted(post) => {
                let ante = matches!(post.kind(), v1::BlindKind::Ante | v1::BlindKind::BigBlindAnte);
                self.posted.push((!ante, player(post.seat), post.amount));
            }
            Event::StreetDealt(dealt) => {
                let recorded = match self.hand.record.actions.get(self.next) {
                    Some(Entry::Street(street, cards)) => Some((*street as i32 + 1, faces(cards))),
                    _ => None,
                };
                let ours = Some((dealt.street, words(&dealt.cards)));
                self.compare(&format!("action {}", self.next), ours, recorded);
                self.next += 1;
            }
            Event::UncalledBetReturned(back) => {
                self.returned.push((player(back.seat), back.amount.unsigned_abs()));
            }
            Event::HandShown(shown) => {
                let holes = self.hand.record.holes.get(player(shown.seat)).and_then(|holes| *holes);
                let recorded = holes.map(|holes| faces(&holes.0));
                self.compare("cards shown", Some(words(&shown.cards)), recorded);
            }
            Event::HandSettled(settled) => self.settled = settled.hand,
            _ => {}
        }
    }

    fn compare_positions(&mut self, started: &v1::HandStarted) {
        let n = self.hand.setup.places.len() as u32;
        let blinds = if n == 2 { (2, 1) } else { (1, 2) };
        let ours = (started.small_blind_seat, started.big_blind_seat);
        self.compare("button and blinds", (started.hand_number, started.button_seat, ours), (1, n, blinds));
        self.compare("dealt in", started.dealt_seats.clone(), (1..=n).collect());
    }

    /// What the hand came to. `closed`: the table closed with it.
    async fn compare_end(&mut self, closed: bool) {
        let hand = Arc::clone(&self.hand);
        let record = &hand.record;
        self.compare("entries of the record", self.next, record.actions.len());
        self.compare("returned", self.returned.clone(), record.returned.clone());
        let Some(settled) = self.settled.take() else {
            return self.compare("settled", false, true);
        };
        self.compare("pots", pots(&settled), record.pots.clone());
        let stacks = |of: fn(&v1::SettledPlayer) -> i64| -> Vec<u64> {
            settled.players.iter().map(|player| of(player).unsigned_abs()).collect()
        };
        self.compare("stacks before", stacks(|p| p.stack_before), record.starting_stacks.clone());
        self.compare("stacks", Some(stacks(|p| p.stack_after)), record.finishing_stacks.clone());
        self.compare("showdown", showdown(&settled), record.showdown.clone().unwrap_or_default());
        let untimed = v1::SettledHand { started: None, ..settled.clone() };
        let mirrored = self.mirror.settled();
        self.compare("the rules alone", Some(untimed), mirrored);
        if closed {
            let over = self.eyes.next().await.is_none();
            self.compare("the stream of a closed table ends", over, true);
        }
        let told = records::Told { table: &self.table, hand: &settled, closed };
        told.check(&mut self.caller, &hand, &mut self.differences).await;
    }

    fn compare<T: PartialEq + std::fmt::Debug>(&mut self, field: &str, ours: T, recorded: T) {
        self.differences.compare(field, ours, recorded);
    }
}

/// The pots as records write them.
fn pots(settled: &v1::SettledHand) -> Vec<RecordedPot> {
    let pot = |pot: &v1::SettledPot| {
        let eligible = pot.eligible_seats.iter().map(|seat| player(*seat)).collect();
        let winners = pot.winners.iter().map(|winner| player(winner.seat)).collect();
        (pot.amount.unsigned_abs(), eligible, winners)
    };
    settled.pots.iter().map(pot).collect()
}

/// The hands at the showdown as records write them.
fn showdown(settled: &v1::SettledHand) -> BTreeMap<usize, (usize, String)> {
    let shown = settled.players.iter().filter_map(|one| {
        let best = one.shown.as_ref()?.best.as_ref()?;
        Some((player(one.seat), worth::rank_and_class(best)))
    });
    shown.collect()
}

/// Who is asked.
fn asked(turn: &v1::Turn) -> Option<usize> {
    match turn.seats[..] {
        [seat] => Some(player(seat)),
        _ => None,
    }
}

/// What is legal, as records write it.
fn legal_set(turn: &v1::Turn) -> Option<LegalSet> {
    let legal = turn.legal?;
    let sized = |to: i64| (legal.can_bet || legal.can_raise).then_some(to.unsigned_abs());
    let call = legal.call_amount.unsigned_abs();
    Some((u8::from(!legal.can_check), call, sized(legal.min_to), sized(legal.max_to)))
}

/// Whether this entry is a check of this player.
fn checks(entry: Option<&Entry>, asked: Option<usize>) -> bool {
    matches!(entry, Some(Entry::Act { player, word: Word::Check, .. }) if Some(*player) == asked)
}

/// The action in the contract, and whether it names an amount.
fn action(word: Word) -> (v1::Action, bool) {
    match word {
        Word::Fold => (v1::Action::Fold, false),
        Word::Check => (v1::Action::Check, false),
        Word::Call => (v1::Action::Call, false),
        Word::Bet => (v1::Action::Bet, true),
        Word::Raise => (v1::Action::Raise, true),
    }
}

/// The action in the rules.
fn asked_action(word: Word, to: u64) -> Action {
    match word {
        Word::Fold => Action::Fold,
        Word::Check => Action::Check,
        Word::Call => Action::Call,
        Word::Bet => Action::Bet(Chips(to)),
        Word::Raise => Action::Raise(Chips(to)),
    }
}

/// The record's number of the player in this seat.
fn player(seat: u32) -> usize {
    (seat as usize).wrapping_sub(1)
}

/// Cards as records write them.
fn words(numbers: &[i32]) -> String {
    let card = |number: &i32| u8::try_from(*number - 1).ok().and_then(Card::from_index);
    faces(&numbers.iter().filter_map(card).collect::<Vec<_>>())
}
