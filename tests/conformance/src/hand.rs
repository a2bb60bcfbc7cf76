//! A recorded hold'em hand: its players, its forced bets, what they did, and what it came to.
//!
//! Players are numbered in the order of play after the flop: 0 is the first left of the button, the last one has the
//! button. Heads-up 0 is the big blind.

use std::collections::BTreeMap;

use rules::{Card, Street};
use serde::{Deserialize, Deserializer, de::Error};
use serde_json::Value;

use crate::cards::{Cards, parse};

/// What was legal before an action: 1 if a bet is faced, the chips to call, the least and the most to bet or raise to.
pub type LegalSet = (u8, u64, Option<u64>, Option<u64>);

/// A pot: how much, who could win it, who won it.
pub type RecordedPot = (u64, Vec<usize>, Vec<usize>);

/// The game of a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
pub enum Variant {
    /// No-limit.
    #[serde(rename = "NLHE")]
    NoLimit,
    /// Pot-limit.
    #[serde(rename = "PLHE")]
    PotLimit,
    /// Fixed limit.
    #[serde(rename = "FLHE")]
    FixedLimit,
}

/// A betting action, as records call it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Word {
    Fold,
    Check,
    Call,
    Bet,
    Raise,
}

/// One entry of a record's actions.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(try_from = "Vec<Value>")]
pub enum Entry {
    /// An ante or a blind.
    Forced {
        /// Who.
        player: usize,
        /// An ante.
        ante: bool,
        /// How much.
        amount: u64,
    },
    /// A decision.
    Act {
        /// Who.
        player: usize,
        /// What.
        word: Word,
        /// What lies before him on this street afterwards.
        to: u64,
        /// What was legal before, where the record says so.
        legal: Option<LegalSet>,
    },
    /// Community cards.
    Street(Street, Vec<Card>),
}

/// A record with `variant`.
#[derive(Clone, Debug, Deserialize)]
pub struct HandRecord {
    /// Its name.
    #[serde(default)]
    pub id: String,
    /// The betting limit.
    pub variant: Variant,
    /// How many players.
    pub n: usize,
    /// What each owes before the blinds.
    pub antes: Vec<u64>,
    /// The ante is one for the table, paid by the big blind: dead chips.
    pub ante_dead: bool,
    /// What each owes as blind or straddle.
    pub blinds_or_straddles: Vec<u64>,
    /// The smallest bet from the flop on.
    pub min_bet: u64,
    /// The smallest first raise before the flop, without a limit on bets.
    pub pf_min_raise: Option<u64>,
    /// Fixed limit: before and on the flop.
    pub small_bet: Option<u64>,
    /// Fixed limit: on turn and river.
    pub big_bet: Option<u64>,
    /// The stacks before the forced bets.
    pub starting_stacks: Vec<u64>,
    /// The cards of each, where they are known.
    pub holes: Vec<Option<Cards<2>>>,
    /// As much of the board as is known.
    #[serde(deserialize_with = "board")]
    pub board: Vec<Card>,
    /// Everything that happened, in order.
    pub actions: Vec<Entry>,
    /// Bets and antes that went back: whose and how much.
    #[serde(default)]
    pub returned: Vec<(usize, u64)>,
    /// The pots before rake.
    #[serde(default)]
    pub pots: Vec<RecordedPot>,
    /// The hands of those who reached the showdown, by player: rank and class. Rule texts say nothing of them.
    pub showdown: Option<BTreeMap<usize, (usize, String)>>,
    /// The stacks afterwards, without rake; nothing where the record ends in the middle of the hand.
    pub finishing_stacks: Option<Vec<u64>>,
    /// What is special about the record.
    #[serde(default)]
    pub flags: Vec<String>,
    /// Legal sets that a rule text asks for: at which entry, whose, which.
    #[serde(default)]
    pub expect_legal: Vec<(usize, usize, LegalSet)>,
}

impl HandRecord {
    /// Whether the record has this flag.
    #[must_use]
    pub fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|other| other == flag)
    }

    /// What the replay of this record does not compare, or not by commands alone.
    #[must_use]
    pub fn exemptions(&self) -> Vec<&'static str> {
        let reasons = [
            (self.finishing_stacks.is_none(), "end in the middle of the hand, nothing is paid"),
            (self.has("unknown_holes"), "unknown_holes, losing cards for the hands nobody saw"),
            (self.straddles_without_chips(), "straddle of a player without chips, begun by events"),
            (self.big_blind_is_first(), "heads-up the big blind acts first, begun by events"),
        ];
        reasons.into_iter().filter(|(holds, _)| *holds).map(|(_, reason)| reason).collect()
    }

    /// A straddler has no chips left after his ante. The record asks for his whole straddle all the same; at our
    /// tables he cannot straddle (rules 2.6), so such a hand begins by events and not by a command.
    #[must_use]
    pub fn straddles_without_chips(&self) -> bool {
        let broke = |player: usize| self.starting_stacks.get(player) <= self.antes.get(player);
        !self.ante_dead && self.straddles().any(|(player, _)| broke(player))
    }

    /// Heads-up with equal blinds, the records have the big blind act first. At our tables that is always the button
    /// (rules 2.2), so such a hand begins by events too.
    #[must_use]
    pub fn big_blind_is_first(&self) -> bool {
        let (small, big) = self.blinds();
        self.n == 2 && small == big
    }

    /// Whether commands alone bring the hand about: what a service can be asked to play.
    #[must_use]
    pub fn begins_by_command(&self) -> bool {
        !self.straddles_without_chips() && !self.big_blind_is_first()
    }

    /// The bring-in, and the last who owes it: the player after him acts first.
    #[must_use]
    pub fn bring_in(&self) -> (u64, usize) {
        let owed = self.blinds_or_straddles.iter().copied().zip(0..);
        owed.max().unwrap_or_default()
    }

    /// Small and big blind. A zero for the small one where nobody was there to post it.
    #[must_use]
    pub fn blinds(&self) -> (u64, u64) {
        match *self.blinds_or_straddles {
            [big, small] => (small, big),
            [big, 0, ..] => (0, big),
            [small, big, ..] => (small, big),
            _ => (0, 0),
        }
    }

    /// Who posts the big blind.
    #[must_use]
    pub fn big_blind_player(&self) -> usize {
        usize::from(self.n > 2 && !self.small_blind_absent())
    }

    /// The first player left of the button is the big blind although they are more than two (rules 2.1).
    #[must_use]
    pub fn small_blind_absent(&self) -> bool {
        self.n > 2 && self.blinds_or_straddles.get(1) == Some(&0)
    }

    /// The straddlers and what they owe, in order.
    pub fn straddles(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let owed = self.blinds_or_straddles.iter().copied().enumerate().skip(2);
        owed.filter(|(_, amount)| *amount > 0)
    }
}

impl TryFrom<Vec<Value>> for Entry {
    type Error = String;

    fn try_from(entry: Vec<Value>) -> Result<Entry, String> {
        read_entry(&entry).ok_or_else(|| format!("not an action: {}", Value::from(entry)))
    }
}

fn read_entry(entry: &[Value]) -> Option<Entry> {
    let (head, legal) = entry.split_at_checked(3)?;
    let [player, word, last] = head else {
        return None;
    };
    let word = word.as_str()?;
    if let Some(street) = street(word) {
        return Some(Entry::Street(street, parse(last.as_str()?)?));
    }
    let player = usize::try_from(player.as_u64()?).ok()?;
    let amount = last.as_u64()?;
    let word = match word {
        "ante" | "post" => return Some(Entry::Forced { player, ante: word == "ante", amount }),
        "fold" => Word::Fold,
        "check" => Word::Check,
        "call" => Word::Call,
        "bet" => Word::Bet,
        "raise" => Word::Raise,
        _ => return None,
    };
    let legal = match legal {
        [] => None,
        [legal] => Some(serde_json::from_value(legal.clone()).ok()?),
        _ => return None,
    };
    Some(Entry::Act { player, word, to: amount, legal })
}

fn street(word: &str) -> Option<Street> {
    match word {
        "flop" => Some(Street::Flop),
        "turn" => Some(Street::Turn),
        "river" => Some(Street::River),
        _ => None,
    }
}

fn board<'de, D: Deserializer<'de>>(source: D) -> Result<Vec<Card>, D::Error> {
    let text = String::deserialize(source)?;
    parse(&text).ok_or_else(|| D::Error::custom(format!("{text:?} is no board")))
}
