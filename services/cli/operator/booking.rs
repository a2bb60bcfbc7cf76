//! What a wallet decides: a movement, what is known of its id, and the account give the answer and the new books. No
//! I/O, so that every case can be read and tested in one place.

use serde::{Deserialize, Serialize};

/// What a caller wants.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Money from the player.
    Debit,
    /// Money to the player.
    Credit,
    /// No debit of this id; kept as an entry of its own if the debit has not come.
    Cancel,
}

/// A movement as it was asked for: its content, which is the same whenever the id is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Order {
    pub kind: Kind,
    pub player: String,
    /// ISO 4217.
    pub currency: String,
    /// Minor units, at least 1.
    pub amount: i64,
    /// As the contract counts them; 0 of a cancel.
    pub purpose: i32,
    /// Empty of a cancel.
    pub table: String,
    /// 0 of a cancel.
    pub session: u64,
}

/// Why a debit was declined.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    InsufficientFunds,
    PlayerUnknown,
    CurrencyUnknown,
}

/// What became of a movement.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    Booked,
    Declined(Reason),
    Cancelled {
        /// Whether something had been taken and was given back.
        refunded: bool,
    },
}

/// A transaction in the books. It is there for ever.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Entry {
    /// The wallet's own number of it.
    pub number: u64,
    pub order: Order,
    pub state: State,
    /// When it came first, ms since the epoch.
    pub at: u64,
}

/// A player's account in one currency. The balance is the opening less debits plus credits plus what was cancelled.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Account {
    /// Minor units, as all amounts here; never negative.
    pub balance: i64,
    pub opening: i64,
    /// All debits that were ever booked, cancelled ones too.
    pub debited: u64,
    pub credited: u64,
    /// What went back by cancels.
    pub cancelled: u64,
    /// How many movements concern it, declined ones too.
    pub transactions: u64,
}

/// What is known before the decision.
pub struct Known {
    /// Of this id.
    pub entry: Option<Entry>,
    /// Of this player and currency, opened now if that is the wallet's way; without one, why there is none.
    pub account: Result<Account, Reason>,
    /// The number for a new entry.
    pub number: u64,
    /// Now, ms since the epoch.
    pub now: u64,
}

/// What is answered and, where it differs from what was known, written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Decision {
    pub entry: Entry,
    /// What the player has now; nothing of a player without an account.
    pub account: Option<Account>,
    pub write: bool,
}

/// Why nothing is decided. Nothing is written then.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// The id is known with other content.
    Reused,
    /// A sum would be larger than the books can hold.
    Overflow,
    /// A credit for which there is no account. A credit is never declined, so the caller comes again.
    NoAccount(Reason),
}

impl Account {
    /// A new account.
    #[must_use]
    pub fn open(opening: i64) -> Account {
        Account { balance: opening, opening, ..Account::default() }
    }

    /// Whether the balance is what the sums say.
    #[must_use]
    pub fn adds_up(&self) -> bool {
        let sum = i128::from(self.opening) - i128::from(self.debited)
            + i128::from(self.credited)
            + i128::from(self.cancelled);
        self.balance >= 0 && sum == i128::from(self.balance)
    }

    fn debit(mut self, amount: i64) -> Option<Account> {
        self.balance = self.balance.checked_sub(amount)?;
        self.debited = self.debited.checked_add(amount.unsigned_abs())?;
        Some(self)
    }

    fn credit(mut self, amount: i64) -> Option<Account> {
        self.balance = self.balance.checked_add(amount)?;
        self.credited = self.credited.checked_add(amount.unsigned_abs())?;
        Some(self)
    }

    fn refund(mut self, amount: i64) -> Option<Account> {
        self.balance = self.balance.checked_add(amount)?;
        self.cancelled = self.cancelled.checked_add(amount.unsigned_abs())?;
        Some(self)
    }
}

impl Order {
    /// Whether a cancel and a debit are about the same money.
    fn same_money(&self, other: &Order) -> bool {
        self.player == other.player && self.currency == other.currency && self.amount == other.amount
    }
}

/// Decides. The same id with the same content always has the same outcome.
///
/// # Errors
/// [`Refusal`]
pub fn decide(order: &Order, known: Known) -> Result<Decision, Refusal> {
    match (order.kind, known.entry.as_ref().map(|entry| entry.order.kind)) {
        (_, None) => first(order, known),
        (Kind::Debit, Some(Kind::Cancel)) => debit_after_cancel(order, known),
        (Kind::Cancel, Some(Kind::Debit)) => cancel_of_debit(order, known),
        _ => repeated(order, known),
    }
}

/// An id that nobody has heard of.
fn first(order: &Order, known: Known) -> Result<Decision, Refusal> {
    let (state, account) = match (order.kind, known.account) {
        (Kind::Cancel, account) => (State::Cancelled { refunded: false }, account.ok()),
        (Kind::Credit, account) => {
            let account = account.map_err(Refusal::NoAccount)?;
            (State::Booked, Some(account.credit(order.amount).ok_or(Refusal::Overflow)?))
        }
        (Kind::Debit, Err(reason)) => (State::Declined(reason), None),
        (Kind::Debit, Ok(account)) if account.balance < order.amount => {
            (State::Declined(Reason::InsufficientFunds), Some(account))
        }
        (Kind::Debit, Ok(account)) => {
            (State::Booked, Some(account.debit(order.amount).ok_or(Refusal::Overflow)?))
        }
    };
    let account = account.map(|account| Account { transactions: account.transactions + 1, ..account });
    let entry = Entry { number: known.number, order: order.clone(), state, at: known.now };
    Ok(Decision { entry, account, write: true })
}

/// The debit that a cancel has been waiting for. From now on the entry has the debit's whole content.
fn debit_after_cancel(order: &Order, known: Known) -> Result<Decision, Refusal> {
    match known.entry {
        Some(entry) if entry.order.same_money(order) => {
            let entry = Entry { order: order.clone(), ..entry };
            Ok(Decision { entry, account: known.account.ok(), write: true })
        }
        _ => Err(Refusal::Reused),
    }
}

fn cancel_of_debit(order: &Order, known: Known) -> Result<Decision, Refusal> {
    let Some(entry) = known.entry.filter(|entry| entry.order.same_money(order)) else {
        return Err(Refusal::Reused);
    };
    if entry.state != State::Booked {
        return Ok(Decision { entry, account: known.account.ok(), write: false });
    }
    let account = known.account.map_err(Refusal::NoAccount)?;
    let account = account.refund(order.amount).ok_or(Refusal::Overflow)?;
    let entry = Entry { state: State::Cancelled { refunded: true }, ..entry };
    Ok(Decision { entry, account: Some(account), write: true })
}

fn repeated(order: &Order, known: Known) -> Result<Decision, Refusal> {
    match known.entry {
        Some(entry) if entry.order == *order => {
            Ok(Decision { entry, account: known.account.ok(), write: false })
        }
        _ => Err(Refusal::Reused),
    }
}

/// The name that people of the wallet look for.
#[must_use]
pub fn reference(number: u64) -> String {
    format!("booking-{number}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(kind: Kind, amount: i64) -> Order {
        let (purpose, table, session) = match kind {
            Kind::Debit => (1, "t".to_owned(), 1),
            Kind::Credit => (3, "t".to_owned(), 1),
            Kind::Cancel => (0, String::new(), 0),
        };
        Order { kind, player: "ada".into(), currency: "EUR".into(), amount, purpose, table, session }
    }

    /// Books of one account and one id.
    struct Books {
        entry: Option<Entry>,
        account: Account,
    }

    impl Books {
        fn new(opening: i64) -> Books {
            Books { entry: None, account: Account::open(opening) }
        }

        fn ask(&mut self, order: &Order) -> Result<State, Refusal> {
            let known = Known { entry: self.entry.clone(), account: Ok(self.account), number: 1, now: 0 };
            let decision = decide(order, known)?;
            if decision.write {
                self.account = decision.account.unwrap();
                self.entry = Some(decision.entry.clone());
            }
            assert!(self.account.adds_up(), "{:?}", self.account);
            Ok(decision.entry.state)
        }
    }

    #[test]
    fn orders_of_one_id_have_one_outcome_in_every_order() {
        let (debit, cancel) = (order(Kind::Debit, 40), order(Kind::Cancel, 40));
        // Every course of five deliveries of a debit and its cancel.
        for course in 0..32_u32 {
            for opening in [100, 39] {
                let mut books = Books::new(opening);
                let mut cancelled = false;
                for step in 0..5 {
                    let cancels = course >> step & 1 == 1;
                    let state = books.ask(if cancels { &cancel } else { &debit }).unwrap();
                    cancelled |= cancels && !matches!(state, State::Declined(_));
                    match state {
                        State::Booked => assert!(!cancelled && opening == 100),
                        State::Declined(_) => assert!(!cancelled && opening == 39),
                        State::Cancelled { .. } => assert!(cancelled),
                    }
                }
                let taken = if cancelled || opening == 39 { 0 } else { 40 };
                assert_eq!(books.account.balance, opening - taken, "course {course:05b}");
            }
        }
    }

    #[test]
    fn the_same_id_with_other_content_moves_nothing() {
        let debit = order(Kind::Debit, 40);
        let others = [
            order(Kind::Debit, 41),
            order(Kind::Cancel, 41),
            order(Kind::Credit, 40),
            Order { player: "bob".into(), ..debit.clone() },
            Order { currency: "USD".into(), ..debit.clone() },
            Order { purpose: 2, ..debit.clone() },
            Order { table: "u".into(), ..debit.clone() },
            Order { session: 2, ..debit.clone() },
        ];
        for first in [debit.clone(), order(Kind::Cancel, 40)] {
            for other in &others {
                let mut books = Books::new(100);
                books.ask(&first).unwrap();
                // A cancel does not know what a debit was for.
                if first.kind == Kind::Cancel && other.kind == Kind::Debit && other.same_money(&first) {
                    assert_eq!(books.ask(other), Ok(State::Cancelled { refunded: false }));
                    assert_eq!(books.ask(&debit), Err(Refusal::Reused));
                    continue;
                }
                let before = books.account;
                assert_eq!(books.ask(other), Err(Refusal::Reused), "{first:?} {other:?}");
                assert_eq!(books.account, before);
            }
        }
    }

    #[test]
    fn a_declined_debit_stays_declined() {
        let mut books = Books::new(39);
        let declined = Ok(State::Declined(Reason::InsufficientFunds));
        assert_eq!(books.ask(&order(Kind::Debit, 40)), declined);
        books.account = books.account.credit(1000).unwrap();
        assert_eq!(books.ask(&order(Kind::Debit, 40)), declined);
        assert_eq!(books.ask(&order(Kind::Cancel, 40)), declined);
    }

    #[test]
    fn no_sum_overflows() {
        let full = || Books::new(i64::MAX);
        assert_eq!(full().ask(&order(Kind::Credit, 1)), Err(Refusal::Overflow));
        assert_eq!(full().ask(&order(Kind::Debit, i64::MAX)), Ok(State::Booked));
        let mut books = full();
        books.account.debited = u64::MAX - 1;
        assert_eq!(books.ask(&order(Kind::Debit, 2)), Err(Refusal::Overflow));
    }

    #[test]
    fn a_credit_without_an_account_is_not_decided() {
        let known = Known { entry: None, account: Err(Reason::PlayerUnknown), number: 1, now: 0 };
        let refusal = decide(&order(Kind::Credit, 1), known).unwrap_err();
        assert_eq!(refusal, Refusal::NoAccount(Reason::PlayerUnknown));
    }
}
