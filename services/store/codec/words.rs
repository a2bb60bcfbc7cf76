//! Words: enums of the rules and their numbers in records. A new word does not compile until it has a number.

use rules::PostKind;
use rules::command::Wish;
use rules::config::{Game, Limit, PivotOrder};
use rules::event::{By, LeaveReason, Play, PromptKind, SatOutReason, StopScope};
use rules::hand::Street;
use tables::SettlementKind;

use super::CodecError;
use super::field::Field;
use crate::pb::store_v1 as wire;

macro_rules! words {
    ($($ours:ident => $theirs:ident { $($word:ident),* })*) => {$(
        impl Field for $ours {
            type Wire = i32;

            fn put(&self) -> i32 {
                let word = match self {
                    $($ours::$word => wire::$theirs::$word,)*
                };
                word.into()
            }

            fn take(number: i32, at: &'static str) -> Result<$ours, CodecError> {
                match wire::$theirs::try_from(number) {
                    Ok(wire::$theirs::Unspecified) => Err(CodecError::Missing(at)),
                    $(Ok(wire::$theirs::$word) => Ok($ours::$word),)*
                    Err(_) => Err(CodecError::Invalid(at)),
                }
            }
        }

        /// Nothing is the unspecified word.
        impl Field for Option<$ours> {
            type Wire = i32;

            fn put(&self) -> i32 {
                self.as_ref().map_or(wire::$theirs::Unspecified.into(), Field::put)
            }

            fn take(number: i32, at: &'static str) -> Result<Option<$ours>, CodecError> {
                if number == i32::from(wire::$theirs::Unspecified) {
                    return Ok(None);
                }
                <$ours as Field>::take(number, at).map(Some)
            }
        }
    )*};
}

words! {
    Game => Game { DoubleHoldem, TexasHoldem }
    Limit => Limit { NoLimit, PotLimit, FixedLimit }
    PivotOrder => PivotOrder { InTurn, Simultaneous }
    PostKind => PostKind { Ante, BigBlindAnte, SmallBlind, BigBlind, Straddle, Entry, DeadSmallBlind }
    Wish => Wish { NextHand, NextBigBlind }
    SatOutReason => SatOutReason { Asked, TimedOut, NoChips }
    LeaveReason => LeaveReason { Asked, SatOutTooLong, TableClosed }
    StopScope => StopScope { Service, Operator, Game, Table, Malfunction }
    Street => Street { PreFlop, Flop, Turn, River }
    PromptKind => PromptKind { Act, Pick }
    Play => Play { Fold, Check, Call, Bet, Raise }
    By => DecidedBy { Player, TimeOut, Absence }
    SettlementKind => SettlementKind { Hand, Void, BuyIn, AddChips, CashOut, Reversal, Transaction }
}
