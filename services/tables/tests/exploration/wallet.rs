//! The operator's wallet as its contract says (`proto/fulcrum/wallet/v1`), for one player; and wallets that break it.

use tables::wallet::Call;

use crate::table::MOST;
use crate::world::Said;

/// What a wallet has of a transaction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kept {
    Nothing,
    Booked,
    Declined,
    Cancelled,
}

/// A player's account, with every transaction that there may be.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Account {
    pub balance: u8,
    kept: [Kept; MOST],
    /// How much each is about, and whether it is a debit.
    about: [(bool, u8); MOST],
    /// What people have given him for each by other means.
    by_hand: [u8; MOST],
}

/// How a wallet behaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wallet {
    /// As the contract says. It may decline a debit.
    Right,
    /// It books a debit that comes twice twice.
    DebitsTwice,
    /// It books a credit that comes twice twice.
    CreditsTwice,
    /// A cancel before its debit leaves nothing, so that the debit is booked when it comes.
    ForgetsCancels,
}

impl Account {
    pub fn new(balance: u8) -> Account {
        let (kept, about, by_hand) = ([Kept::Nothing; MOST], [(false, 0); MOST], [0; MOST]);
        Account { balance, kept, about, by_hand }
    }

    /// A transaction that may come. Errors: the number has another meaning.
    pub fn begin(&mut self, number: u8, debit: bool, amount: u8) -> Result<(), String> {
        let place = usize::from(number) - 1;
        if self.about[place] != (false, 0) {
            return Err(format!("payment {number} began twice"));
        }
        self.about[place] = (debit, amount);
        Ok(())
    }

    pub fn kept(&self, number: u8) -> Kept {
        self.kept[usize::from(number) - 1]
    }

    pub fn by_hand(&mut self, number: u8, amount: u8) {
        self.by_hand[usize::from(number) - 1] += amount;
    }

    fn becomes(self, number: u8, kept: Kept, balance: u8, said: Said) -> (Account, Said) {
        let mut after = Account { balance, ..self };
        after.kept[usize::from(number) - 1] = kept;
        (after, said)
    }

    /// What the player has, with what he was given by hand.
    pub fn has(&self) -> u8 {
        self.balance + self.by_hand.iter().sum::<u8>()
    }

    /// What was taken from him and not given back, and what was given to him.
    pub fn books(&self) -> (u8, u8) {
        let (mut taken, mut given) = (0, 0);
        for ((kept, (debit, amount)), by_hand) in self.kept.iter().zip(self.about).zip(self.by_hand) {
            let booked = if *kept == Kept::Booked { amount } else { 0 };
            if debit {
                taken += booked - by_hand;
            } else {
                given += booked + by_hand;
            }
        }
        (taken, given)
    }
}

impl Wallet {
    /// What this request may lead to, and the reply.
    pub fn take(self, account: Account, call: Call, number: u8) -> Vec<(Account, Said)> {
        let place = usize::from(number) - 1;
        let (now, (_, amount)) = (account.kept[place], account.about[place]);
        let same = account.balance;
        match (call, now) {
            (Call::Find, Kept::Nothing) => vec![(account, Said::Missing)],
            (Call::Debit, Kept::Booked) if self == Wallet::DebitsTwice && same >= amount => {
                vec![account.becomes(number, now, same - amount, Said::Booked)]
            }
            (Call::Credit, Kept::Booked) if self == Wallet::CreditsTwice => {
                vec![account.becomes(number, now, same + amount, Said::Booked)]
            }
            (Call::Debit, Kept::Nothing) => {
                let declined = account.becomes(number, Kept::Declined, same, Said::Declined);
                if same < amount {
                    return vec![declined];
                }
                vec![declined, account.becomes(number, Kept::Booked, same - amount, Said::Booked)]
            }
            (Call::Credit, Kept::Nothing) => {
                vec![account.becomes(number, Kept::Booked, same + amount, Said::Booked)]
            }
            (Call::Cancel, Kept::Nothing) if self == Wallet::ForgetsCancels => {
                vec![(account, Said::Cancelled)]
            }
            (Call::Cancel, Kept::Nothing) => {
                vec![account.becomes(number, Kept::Cancelled, same, Said::Cancelled)]
            }
            (Call::Cancel, Kept::Booked) => {
                vec![account.becomes(number, Kept::Cancelled, same + amount, Said::Cancelled)]
            }
            // A debit that comes after its cancel is declined.
            (Call::Debit, Kept::Cancelled) => vec![(account, Said::Declined)],
            (_, Kept::Booked) => vec![(account, Said::Booked)],
            (_, Kept::Declined) => vec![(account, Said::Declined)],
            (_, Kept::Cancelled) => vec![(account, Said::Cancelled)],
        }
    }
}
