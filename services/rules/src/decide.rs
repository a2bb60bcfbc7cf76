//! From a command to events, or to a refusal. Pure: nothing has changed until the events are committed.

use alloc::vec::Vec;

use crate::command::{Ask, Command};
use crate::draft::{Draft, Step};
use crate::event::Event;
use crate::paying::Draw;
use crate::refusal::Refusal;
use crate::table::{Life, Table};

impl Table {
    /// The events that answer a command. Errors: a [`Refusal`] with its rule and what would be legal.
    pub fn decide(&self, command: &Command) -> Result<Vec<Event>, Refusal> {
        Ok(self.step(command)?.0)
    }

    /// Decides and applies: the events of one commit, and the table after it. Errors: as [`Table::decide`].
    pub fn step(&self, command: &Command) -> Result<(Vec<Event>, Table), Refusal> {
        let mut draft = Draft::new(self, command.at);
        draft.dispatch(&command.ask)?;
        Ok(draft.finish())
    }
}

impl Draft {
    fn dispatch(&mut self, ask: &Ask) -> Step {
        // Money that is on its way comes to its end at a closed table too.
        if matches!(self.table.life, Life::Closed { .. }) && !ask.is_of_payment() {
            return Err(Refusal::TableClosed);
        }
        match ask {
            Ask::Configure { config } => self.configure(config),
            Ask::Stop { scope, reason } => self.stop(*scope, reason),
            Ask::Resume { scope } => self.resume(*scope),
            Ask::StopPlayer { player, reason } => self.stop_player(player, reason),
            Ask::ResumePlayer { player } => self.resume_player(player),
            Ask::Close { reason } => self.close(reason),
            Ask::Seat { player, seat, buy_in, post, transaction } => {
                self.seat(player, *seat, *buy_in, *post, transaction)
            }
            Ask::StandUp { player, transaction } => self.stand_up(player, transaction),
            Ask::SitOut { player, wish } => self.sit_out(player, *wish),
            Ask::SitIn { player, post } => self.sit_in(player, *post),
            Ask::Prefer { player, straddle, always_show } => self.prefer(player, *straddle, *always_show),
            Ask::AddChips { player, amount, transaction } => self.add_chips(player, *amount, transaction),
            Ask::StartHand { deck, draw } => self.start_hand(deck, *draw),
            Ask::Act { player, hand, turn, action } => self.act(player, *hand, *turn, *action),
            Ask::Pick { player, hand, turn, pick } => self.pick(player, *hand, *turn, *pick),
            Ask::Expire => self.expire(),
            Ask::Show { player, hand } => self.show(player, *hand),
            Ask::Void { hand, reason, requester } => self.void(*hand, reason, requester),
            Ask::CreditOutage { from, to } => self.credit_outage(*from, *to),
            Ask::LoseHistory { seen } => self.lose_history(*seen),
            Ask::Reserve { player, seat, buy_in, post, name, request } => {
                let (amount, request) = (*buy_in, *request);
                self.reserve(&Draw { player, amount, name, request }, *seat, *post)
            }
            Ask::DrawChips { player, amount, name, request } => {
                let (amount, request) = (*amount, *request);
                self.draw_chips(&Draw { player, amount, name, request })
            }
            Ask::Answered { number, phase, answer, again } => self.answered(*number, *phase, answer, *again),
            Ask::TakePayments { until } => self.take_payments(*until),
            Ask::RetryPayment { number, said } => self.retry_payment(*number, said),
            Ask::ProposeEnd { number, resolution, said } => self.propose_end(*number, *resolution, said),
            Ask::ConfirmEnd { number, resolution, said } => self.confirm_end(*number, *resolution, said),
        }
    }
}
