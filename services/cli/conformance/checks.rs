//! All checks: what each is called, the sentence of the contract that it rests on, and what to do if it fails.

use std::future::Future;
use std::pin::Pin;

use super::case::{Case, Seen};
use super::{cancels, debits, others};

/// A check.
pub struct Check {
    /// What it is called.
    pub name: &'static str,
    /// The sentence of the contract.
    pub contract: &'static str,
    /// What to do if it fails.
    pub advice: &'static str,
    /// Makes it.
    pub run: for<'a> fn(&'a Case<'a>) -> Pin<Box<dyn Future<Output = Seen> + 'a>>,
}

const SAME_CONTENT: &str = "The same id again with the same content gets the first outcome and moves nothing";
const OTHER_CONTENT: &str =
    "with other content it is refused with the status ALREADY_EXISTS and moves nothing.";
const CONTENT: &str = "The content is the method and all fields of the request.";
const PARALLEL: &str = "All calls can be repeated, also at the same time over several connections.";
const TOMBSTONE: &str = "A cancel may come before its debit, or without one: the wallet notes it, and declines the debit when it comes.";
const NOT_NEGATIVE: &str = "No balance becomes negative.";
const FINAL: &str = "What an answer says is final: the wallet keeps every transaction, a declined and a cancelled one too, for 30 days at the least.";
const FOUND: &str = "Tells what became of a transaction.";

const KEEP: &str = "Keep each transaction under its id, written together with the balance that it moves, and look there first.";
const COMPARE: &str = "Keep the method and all fields of the first request with the transaction, and compare them before you answer from it.";
const UNIQUE: &str = "Let a unique key on the id, or a lock on the account, decide which delivery books; the others wait and answer from it.";

/// Makes the list below readable.
macro_rules! checks {
    ($($name:literal $function:path, $contract:expr, $advice:expr;)*) => {
        &[$(Check {
            name: $name,
            contract: $contract,
            advice: $advice,
            run: |case| Box::pin($function(case)),
        }),*]
    };
}

/// The checks in the order in which they are made.
pub const CHECKS: &[Check] = checks! {
    "balance" debits::balance,
        "What the player could be debited, in minor units.",
        "Answer with the currency that was asked for and the amount that a debit could take.";
    "names" others::names,
        "Answers that name another transaction, amount or currency than the request count as no answer.",
        "Copy id, player, amount and currency of the transaction into each answer, the id as it was sent.";
    "debit" debits::once,
        "A debit is taken whole or not at all.",
        "Take exactly the amount, and answer with what is left.";
    "debit-repeated" debits::repeated, SAME_CONTENT, KEEP;
    "debit-repeated-at-once" debits::repeated_at_once, PARALLEL, UNIQUE;
    "debit-other-amount" debits::other_amount, OTHER_CONTENT, COMPARE;
    "debit-other-player" debits::other_player, OTHER_CONTENT, COMPARE;
    "debit-other-currency" debits::other_currency, OTHER_CONTENT, COMPARE;
    "debit-other-stay" debits::other_stay, CONTENT, COMPARE;
    "other-method" debits::other_method, CONTENT, COMPARE;
    "insufficient-funds" debits::too_much, NOT_NEGATIVE,
        "Compare the amount with the balance in the same step that takes it, and answer DECLINED with INSUFFICIENT_FUNDS: not with a status, which means that nobody knows.";
    "declined-for-good" debits::declined_for_good, FINAL,
        "Keep declined debits like booked ones, and answer a repeated one from there, whatever the balance is by then.";
    "amount-at-least-1" debits::no_amount,
        "How much, in minor units; at least 1.",
        "Refuse amounts below 1 with INVALID_ARGUMENT before anything else: a negative debit is a gift.";
    "unknown-player" debits::unknown_player,
        "The wallet knows no such player.",
        "Answer DECLINED with PLAYER_UNKNOWN, and open no account. (A wallet that opens accounts for everybody cannot pass.)";
    "unknown-currency" debits::unknown_currency,
        "The wallet has no account of the player in this currency.",
        "Answer DECLINED with CURRENCY_UNKNOWN, and exchange nothing.";
    "cancel" cancels::refunds,
        "A debit that was cancelled: what had been taken was given back, or nothing was ever taken.",
        "Give back the debit's amount, and mark it as cancelled in the same step.";
    "cancel-repeated" cancels::repeated,
        "Whether money went back to the player with this cancel, or with an earlier one of the same debit.",
        "Give back once, and remember it with the debit: a repeated cancel is answered from there.";
    "cancel-before-debit" cancels::before_debit, TOMBSTONE,
        "Write down a cancel whose debit you do not know, answer CANCELLED, and decline the debit with CANCELLED when it comes.";
    "debit-after-cancel" cancels::debit_again,
        "The debit was cancelled, before it came or afterwards.",
        "Answer a cancelled debit that comes again with DECLINED and CANCELLED, and take nothing.";
    "cancel-of-declined" cancels::of_declined,
        "The transaction: CANCELLED, or DECLINED if the debit had been declined.",
        "Give back only what a debit has taken; a declined debit stays DECLINED.";
    "cancel-other-content" cancels::other_content, OTHER_CONTENT,
        "Compare player, amount and currency of a cancel with those of its debit, in whichever order they come.";
    "cancel-races-debit" cancels::race, PARALLEL,
        "Decide a debit and its cancel under the same lock: one of them is first, and the other one has to see it.";
    "credit" others::credit,
        "A credit is never declined: also if the player's session has ended, or his account is closed for play.",
        "Book it whole, and answer with what the player has now.";
    "credit-repeated" others::credit_repeated, SAME_CONTENT, UNIQUE;
    "credit-other-amount" others::credit_other_amount, OTHER_CONTENT, COMPARE;
    "credit-after-session" others::credit_without_session,
        "A credit is never declined: also if the player's session has ended, or his account is closed for play.",
        "Book credits without asking for a session or a table: they are there for your records only.";
    "find-booked" others::find_booked, FOUND, KEEP;
    "find-declined" others::find_declined, FINAL, "Keep declined debits like booked ones, with the reason.";
    "find-cancelled" others::find_cancelled, FINAL,
        "Keep cancelled debits, and cancels without a debit, and answer CANCELLED for both.";
    "find-unknown" others::find_unknown,
        "One that the wallet has never heard of: the status NOT_FOUND.",
        "Answer with NOT_FOUND, and with it only if you are sure: a debit is then cancelled.";
    "crowd" debits::crowd, NOT_NEGATIVE,
        "Compare the amount with the balance in the same step that takes it: of two debits that read the balance first, both find it enough.";
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_check_rests_on_a_sentence_of_the_contract() {
        let contract = include_str!("../../../proto/fulcrum/wallet/v1/operator_wallet_service.proto");
        let words = contract.split_whitespace().filter(|word| *word != "//");
        let contract = words.collect::<Vec<_>>().join(" ");
        for check in CHECKS {
            assert!(contract.contains(check.contract), "{}: {}", check.name, check.contract);
        }
        let mut names: Vec<_> = CHECKS.iter().map(|check| check.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), CHECKS.len(), "two checks have one name");
    }
}
