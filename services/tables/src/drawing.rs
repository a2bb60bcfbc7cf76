//! Buying a seat, or chips, with money from the operator's wallet: the payment is committed, the courier asks the wallet,
//! and the caller waits a while for what comes of it. The same request again finds the same payment.

use std::sync::Arc;
use std::time::Duration;

use rules::payment::{Phase, Requested};
use rules::{Ask, Command, Millis, Table};
use tokio::time::{Instant, sleep};

use crate::committing::Draft;
use crate::courier::remembered;
use crate::ids::TableKey;
use crate::play::{Answered, PlayError, Request, Tables, Verdict};
use crate::store::RequestRecord;
use crate::wallet::debit_id;

/// A caller waits so long for the wallet; then he is told to come again.
const PATIENCE: Duration = Duration::from_secs(8);
/// How often the state that this process knows is looked at, and how often the store.
const GLANCE: Duration = Duration::from_millis(10);
const LOOK: Duration = Duration::from_millis(250);

/// Whether it is about money that comes from a wallet, where there is one.
pub(crate) fn draws(ask: &Ask) -> bool {
    matches!(ask, Ask::Seat { .. } | Ask::AddChips { .. })
}

/// The same with money from the wallet.
fn drawn(ask: Ask, name: String, request: Requested) -> Ask {
    match ask {
        Ask::Seat { player, seat, buy_in, post, .. } => {
            Ask::Reserve { player, seat, buy_in, post, name, request }
        }
        Ask::AddChips { player, amount, .. } => Ask::DrawChips { player, amount, name, request },
        other => other,
    }
}

impl Tables {
    /// Asks for a seat or chips whose money comes from the operator's wallet, and waits for what the wallet says.
    ///
    /// # Errors
    /// [`PlayError`]; [`PlayError::WalletPending`] if there is no answer yet: the same request again goes on waiting for it.
    pub(crate) async fn draw(
        &self,
        key: &TableKey,
        request: Request,
        etag: Option<u64>,
        ask: Ask,
    ) -> Result<Answered, PlayError> {
        if let Some(done) = self.done_before(key, request).await? {
            return done;
        }
        // Whoever waits holds a place among the calls of all operators, and no wallet may fill those.
        let Some(_seat) = self.core.courier().and_then(|courier| courier.seat_caller(&key.operator)) else {
            return Err(PlayError::WalletAway);
        };
        let at = self.core.store.now().await?;
        let asked = Requested { id: request.id.0.into_bytes(), payload: request.payload };
        let away = self.core.courier().is_none_or(|courier| courier.is_closed(&key.operator));
        let judge = |table: &Table, at: Millis| {
            if let Some(open) = table.payment_of(&asked.id) {
                let same = open.request == Some(asked);
                return Verdict::Settled(if same { Ok(()) } else { Err(PlayError::RequestReused) });
            }
            if let Some(wanted) = etag
                && wanted != table.version
            {
                return Verdict::Settled(Err(PlayError::EtagMismatch { current: table.version }));
            }
            let name = debit_id(key, table, &request.id).to_string();
            let command = Command { at, ask: drawn(ask.clone(), name, asked) };
            let until = match self.admission(key, &command.ask, table) {
                Ok(until) => until,
                Err(error) => return Verdict::Settled(Err(error)),
            };
            match table.step(&command) {
                Err(refusal) => Verdict::Settled(Err(PlayError::Refused { refusal, version: table.version })),
                Ok(_) if away => Verdict::Settled(Err(PlayError::WalletAway)),
                Ok((events, after)) => {
                    let after = Arc::new(after);
                    let draft = Draft { events, after, request: None, not_before: None, until };
                    Verdict::Commit(draft, ())
                }
            }
        };
        match self.run_admitted(key, at, judge).await {
            // Its payment has begun, now or before.
            Ok(_) => {}
            // A twin of this request may have come to its end meanwhile.
            Err(error) => {
                return match self.done_before(key, request).await? {
                    Some(done) => done,
                    None => Err(error),
                };
            }
        }
        self.await_wallet(key, request).await
    }

    async fn await_wallet(&self, key: &TableKey, request: Request) -> Result<Answered, PlayError> {
        let begun = Instant::now();
        let mut looked = begun;
        let id = request.id.0.into_bytes();
        let waits = |table: &Table| table.payment_of(&id).is_some_and(|p| p.phase == Phase::Debiting);
        while begun.elapsed() < PATIENCE {
            let known = self.core.recent.get(key).is_some_and(|stored| waits(&stored.table));
            if !known || looked.elapsed() > LOOK {
                looked = Instant::now();
                if !waits(&*self.read(key).await?) {
                    // The record was written with the step that ended it.
                    let done = self.done_before(key, request).await?;
                    return done.unwrap_or(Err(PlayError::WalletNotConfirmed));
                }
            }
            sleep(GLANCE).await;
        }
        Err(PlayError::WalletPending)
    }

    /// What the request came to, if it came to something.
    async fn done_before(
        &self,
        key: &TableKey,
        request: Request,
    ) -> Result<Option<Result<Answered, PlayError>>, PlayError> {
        let done = self.core.store.request(key, &request.id).await?;
        Ok(done.map(|done| answer(done, request)))
    }
}

fn answer(done: RequestRecord, request: Request) -> Result<Answered, PlayError> {
    if done.payload != request.payload {
        return Err(PlayError::RequestReused);
    }
    if done.declined {
        return Err(remembered::refusal(&done.answer));
    }
    Ok(Answered { bytes: done.answer, replayed: true })
}
