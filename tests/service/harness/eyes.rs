//! A pair of eyes at a table: one stream, with everything that it has told so far.

use fulcrum::pb::v1;
use fulcrum::pb::v1::table_event::Event;
use fulcrum::pb::v1::table_message::Content;
use tonic::{Status, Streaming};

use super::in_time;

/// One viewer's stream of one table.
pub struct Eyes {
    stream: Streaming<v1::WatchTableResponse>,
    /// Every message so far.
    pub seen: Vec<v1::TableMessage>,
    /// The turn that is open, as far as it has been told.
    pub turn: Option<v1::Turn>,
    /// The hand that runs or ran last; 0 before the first.
    pub hand: u64,
}

impl Eyes {
    /// The eyes that read this stream.
    pub fn new(stream: Streaming<v1::WatchTableResponse>) -> Eyes {
        Eyes { stream, seen: Vec::new(), turn: None, hand: 0 }
    }

    /// The next message; `None` at the end of the stream.
    pub async fn next(&mut self) -> Option<v1::TableMessage> {
        self.try_next().await.expect("the stream goes on")
    }

    /// The next message, or the status with which the stream ended.
    pub async fn try_next(&mut self) -> Result<Option<v1::TableMessage>, Status> {
        let Some(response) = in_time(self.stream.message()).await? else {
            return Ok(None);
        };
        let message = response.message.expect("a message");
        self.follow(&message);
        self.seen.push(message.clone());
        Ok(Some(message))
    }

    fn follow(&mut self, message: &v1::TableMessage) {
        match message.content.as_ref() {
            Some(Content::Snapshot(table)) => {
                self.hand = table.hand.as_ref().map_or(0, |hand| hand.number);
                self.turn = table.hand.as_ref().and_then(|hand| hand.turn.clone());
            }
            Some(Content::Update(update)) => {
                self.turn.clone_from(&update.turn);
                for event in &update.events {
                    if let Some(Event::HandStarted(started)) = &event.event {
                        self.hand = started.hand_number;
                    }
                }
            }
            _ => {}
        }
    }

    /// Reads until this sequence is told.
    pub async fn until(&mut self, sequence: u64) {
        while self.sequence() < sequence {
            self.next().await.expect("more to come");
        }
    }

    /// Reads until a turn is open, after the one that was open at this sequence.
    pub async fn turn_after(&mut self, sequence: u64) -> v1::Turn {
        self.until(sequence).await;
        loop {
            if let Some(turn) = self.turn.clone() {
                return turn;
            }
            self.next().await.expect("more to come");
        }
    }

    /// Reads until the hand of this number is settled, and says how.
    pub async fn settled(&mut self, number: u64) -> v1::SettledHand {
        loop {
            for event in self.events() {
                if let Event::HandSettled(v1::HandSettled { hand: Some(hand) }) = event
                    && hand.hand_number == number
                {
                    return hand.clone();
                }
            }
            self.next().await.expect("more to come");
        }
    }

    /// The sequence of the last message.
    pub fn sequence(&self) -> u64 {
        self.seen.last().map_or(0, |message| message.sequence)
    }

    /// Every event so far.
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.seen.iter().flat_map(|message| match &message.content {
            Some(Content::Update(update)) => update.events.iter().filter_map(|e| e.event.as_ref()).collect(),
            _ => Vec::new(),
        })
    }
}
