//! Who sees what, checked after every commit: his own cards, and what lies open (rules 4.4, 6.4 to 6.6).

use rules::view::{self, Seen, Viewer};
use rules::{Event, PlayerId, SeatNo};

use super::Play;

impl Play {
    /// Everybody who might look: the seated, those dealt in, somebody else's name, and a spectator.
    fn viewers(&self) -> Vec<Viewer> {
        let seated = self.table.occupied().map(|(_, seat)| seat.player.clone());
        let hand = self.table.hand.iter();
        let dealt = hand.flat_map(|h| h.players.iter().flatten().map(|p| p.player.clone()));
        let stranger = PlayerId::new("stranger").into_iter();
        let players = seated.chain(dealt).chain(stranger).map(Viewer::Player);
        players.chain([Viewer::Spectator]).collect()
    }

    pub(super) fn check_secrets(&self) {
        for viewer in self.viewers() {
            self.check_table(&viewer);
            for event in &self.commit {
                self.check_event(event, &viewer);
            }
        }
    }

    /// The seats whose hands were laid open since the deal.
    pub fn shown(&self) -> Vec<SeatNo> {
        let shown = |event: &Event| match event {
            Event::HandShown { seat, .. } => Some(*seat),
            _ => None,
        };
        self.log.iter().filter_map(shown).collect()
    }

    fn check_table(&self, viewer: &Viewer) {
        let seen = view::table(&self.table, viewer);
        let (Some(hand), Some(seen)) = (&self.table.hand, &seen.hand) else {
            return assert!(seen.hand.is_none());
        };
        let open = self.shown();
        for player in &seen.players {
            let (line, seat) = (&self.line, player.seat);
            let held = hand.player(seat).expect("dealt in");
            let may_see = open.contains(&seat) || *viewer == Viewer::Player(held.player.clone());
            assert_eq!(player.cards, held.holes.filter(|_| may_see), "{line}: {viewer:?} sees seat {seat}");
            assert_eq!(player.pick, held.pick.filter(|_| may_see), "{line}: {viewer:?} sees seat {seat}");
            assert_eq!(player.picked, held.pick.is_some(), "{line}: seat {seat} has picked");
        }
    }

    fn check_event(&self, event: &Event, viewer: &Viewer) {
        let own = |player: &PlayerId| *viewer == Viewer::Player(player.clone());
        match (event, view::event(event, viewer)) {
            (Event::HandStarted(start), Seen::HandStarted { number, dealt, .. }) => {
                assert_eq!((number, dealt), (start.number, start.dealt));
            }
            (Event::HoleDealt { player, cards, .. }, Seen::HoleDealt { cards: seen, count, .. }) => {
                assert_eq!((seen, count), (Some(*cards).filter(|_| own(player)), cards.cards().len()));
            }
            (Event::PivotPicked { player, pick, .. }, Seen::PivotPicked { pick: seen, .. }) => {
                assert_eq!(seen, Some(*pick).filter(|_| own(player)));
            }
            (
                Event::HandStarted(_) | Event::HoleDealt { .. } | Event::PivotPicked { .. },
                Seen::Public(_),
            ) => panic!("{}: {viewer:?} sees {event:?} whole", self.line),
            (event, Seen::Public(public)) => assert_eq!(public.get(), event),
            (event, seen) => panic!("{}: {event:?} seen as {seen:?}", self.line),
        }
    }
}
