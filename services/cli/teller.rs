//! Tells the hands of a table as they end. A teller is a spectator: it is sent nothing that a spectator may not know.

use tonic::Status;

use super::client::{Client, reason, request_id, timed};
use super::failure::Failure;
use super::follow::{Follow, News};
use super::output::Output;
use super::page;
use super::paint::Paint;
use super::room::{Moves, Room};
use crate::pb::v1::table_event::Event;
use crate::pb::v1::{CloseTableRequest, ErrorReason};

/// The teller of a table.
pub struct Teller {
    client: Client,
    table_id: String,
    follow: Follow,
    room: Room,
    paint: Paint,
    output: Output,
    /// The table is closed with this hand.
    last_hand: Option<u64>,
    closing: bool,
}

impl Teller {
    /// Begins to watch a table; everything that happens after this returns is told.
    ///
    /// # Errors
    /// A refusal, or that nobody answers.
    pub async fn begin(
        client: &Client,
        table_id: &str,
        paint: Paint,
        output: &Output,
        last_hand: Option<u64>,
    ) -> Result<Teller, Status> {
        let mut follow = Follow::new(client.clone(), table_id, None);
        let mut room = Room::default();
        while let Some(news) = follow.next().await? {
            if let News::Snapshot(table) = news {
                room.reset(&table);
                break;
            }
        }
        Ok(Teller {
            client: client.clone(),
            table_id: table_id.to_owned(),
            follow,
            room,
            paint,
            output: output.clone(),
            last_hand,
            closing: false,
        })
    }

    /// Tells hand after hand until the table is closed. May be dropped and called again.
    ///
    /// # Errors
    /// If the table cannot be watched, its chips do not add up, or nobody reads.
    pub async fn tell(&mut self) -> Result<(), Failure> {
        loop {
            self.close_in_time().await.map_err(|status| self.failed("cannot close the table", &status))?;
            let news =
                self.follow.next().await.map_err(|status| self.failed("cannot watch the table", &status))?;
            match news {
                Some(News::Snapshot(table)) => self.room.reset(&table),
                Some(News::Update(update)) => {
                    for event in update.events.iter().filter_map(|event| event.event.as_ref()) {
                        self.hear(event)?;
                    }
                }
                Some(News::Resumed) => {}
                None => return Ok(()),
            }
        }
    }

    fn hear(&mut self, event: &Event) -> Result<(), Failure> {
        let Some(story) = self.room.note(event) else {
            return Ok(());
        };
        self.output.print(&format!("{}\n", page::hand(&self.room, &story, self.paint)))?;
        self.output.count();
        self.room.moves = Moves::default();
        self.check()
    }

    /// Says how it went.
    ///
    /// # Errors
    /// If nobody reads.
    pub fn end(&self) -> Result<(), Failure> {
        Ok(self.output.print(&format!("{}\n", page::ending(&self.room, self.paint)))?)
    }

    /// Closes the table when its last hand has begun: that hand is still played to its end, and everybody is paid.
    async fn close_in_time(&mut self) -> Result<(), Status> {
        let begun = self.room.story.as_ref().map(|story| story.number);
        if self.closing || self.last_hand.is_none() || begun < self.last_hand {
            return Ok(());
        }
        let request = CloseTableRequest {
            request_id: request_id(),
            table_id: self.table_id.clone(),
            reason: "the demonstration is over".to_owned(),
            etag: String::new(),
        };
        let asked = self.client.ask(|mut client| {
            let request = timed(request.clone());
            async move { client.tables.close_table(request).await }
        });
        match asked.await {
            Err(status) if reason(&status) != Some(ErrorReason::TableClosed) => Err(status),
            _ => {
                self.closing = true;
                Ok(())
            }
        }
    }

    /// Rules 10.3, as a spectator can check it.
    fn check(&self) -> Result<(), Failure> {
        let (stacks, brought, paid) = self.room.chips();
        if stacks + paid + self.room.raked == brought {
            return Ok(());
        }
        Err(Failure::Failed(format!(
            "the chips of table {} do not add up: {stacks} on it, {paid} paid out, {} raked, {brought} bought in. This \
             is a fault of the service: please report it with the hand above.",
            self.table_id, self.room.raked
        )))
    }

    fn failed(&self, what: &str, status: &Status) -> Failure {
        Failure::call(what, self.client.address(), status)
    }
}
