//! Rules 5.8 and 4.2: the same decision again gets the same answer, another one is refused.

use rules::hand::Decision;
use rules::{Action, Ask, Chips, Command, Pick, PlayerId};

use crate::play::{Play, play};

fn act(play: &Play, who: &str, hand: u64, turn: u32, action: Action) -> Command {
    let player = PlayerId::new(who).expect("a name");
    Command { at: play.now, ask: Ask::Act { player, hand, turn, action } }
}

fn pick(play: &Play, who: &str, hand: u64, turn: u32, index: u8) -> Command {
    let (player, pick) = (PlayerId::new(who).expect("a name"), Pick::new(index).expect("a place"));
    Command { at: play.now, ask: Ask::Pick { player, hand, turn, pick } }
}

fn reason(play: &Play, command: &Command) -> &'static str {
    play.table.decide(command).expect_err("refused").reason()
}

const RAISED: &str = "table texas nl 1/2
     seats 1:90 2:90 3:90
     deal button 1
     1 raises 10 · 2 calls 9";

#[test]
fn r5_8_the_same_action_of_the_same_turn_has_the_same_answer() {
    let mut hand = play(RAISED);
    let raise = act(&hand, "p1", 1, 1, Action::Raise(Chips(10)));
    let first = hand.table.repeated(&raise).expect("accepted");
    assert_eq!((first.turn, first.seat.number()), (1, 1));
    let Decision::Acted { asked, to, added, all_in, .. } = first.decision else { panic!("{first:?}") };
    assert_eq!((asked, to, added, all_in), (Action::Raise(Chips(10)), Chips(10), Chips(10), false));
    // The raise was the commit before the last.
    assert_eq!(first.version, hand.table.version - 1);
    hand.more("3 folds");
    assert_eq!(hand.table.repeated(&raise), Some(first), "whatever has happened since");
}

// Pitfall 33.
#[test]
fn r5_8_an_all_in_is_remembered_as_what_it_was() {
    let mut hand = play(RAISED);
    hand.more("3 all-in 90");
    let all_in = hand.table.repeated(&act(&hand, "p3", 1, 3, Action::AllIn)).expect("accepted");
    let Decision::Acted { play, to, added, all_in, .. } = all_in.decision else { panic!("{all_in:?}") };
    assert_eq!((play, to, added, all_in), (rules::event::Play::Raise, Chips(90), Chips(88), true));
    // The same in other words is another request.
    assert_eq!(hand.table.repeated(&act(&hand, "p3", 1, 3, Action::Raise(Chips(90)))), None);
}

#[test]
fn r5_8_another_action_for_a_past_turn_is_refused() {
    let hand = play(RAISED);
    for other in [Action::Fold, Action::Call, Action::AllIn, Action::Raise(Chips(11)), Action::Bet(Chips(10))]
    {
        let command = act(&hand, "p1", 1, 1, other);
        assert_eq!(hand.table.repeated(&command), None, "{other:?}");
        assert_eq!(reason(&hand, &command), "TURN_PASSED");
    }
    // The turn was another player's.
    let command = act(&hand, "p2", 1, 1, Action::Raise(Chips(10)));
    assert_eq!((hand.table.repeated(&command), reason(&hand, &command)), (None, "TURN_PASSED"));
    let command = act(&hand, "stranger", 1, 1, Action::Raise(Chips(10)));
    assert_eq!((hand.table.repeated(&command), reason(&hand, &command)), (None, "NOT_IN_HAND"));
}

// What the clock decided is nobody's answer: a fold that comes late is refused like everything else.
#[test]
fn r5_8_a_time_out_is_no_answer_of_the_player() {
    let hand = play("table texas nl 1/2\n seats 1:90 2:90 3:90\n deal button 1\n time-out");
    let fold = act(&hand, "p1", 1, 1, Action::Fold);
    assert_eq!((hand.table.repeated(&fold), reason(&hand, &fold)), (None, "TURN_PASSED"));
}

#[test]
fn r5_8_the_hand_before_is_remembered_and_older_ones_are_over() {
    let mut hand = play(RAISED);
    let raise = act(&hand, "p1", 1, 1, Action::Raise(Chips(10)));
    let first = hand.table.repeated(&raise);
    hand.more("3 folds · void");
    assert_eq!(hand.table.repeated(&raise), first, "of a void hand too");
    hand.more("deal\n 1 folds");
    assert_eq!(hand.table.repeated(&raise), first, "the hand before");
    let other = act(&hand, "p1", 1, 1, Action::Fold);
    assert_eq!((hand.table.repeated(&other), reason(&hand, &other)), (None, "HAND_OVER"));
    hand.more("2 folds\n deal");
    assert_eq!((hand.table.repeated(&raise), reason(&hand, &raise)), (None, "HAND_OVER"));
    let fold = act(&hand, "p1", 2, 1, Action::Fold);
    assert!(hand.table.repeated(&fold).is_some(), "the fold that began the hand before");
    let unknown = act(&hand, "p1", 4, 1, Action::Fold);
    assert_eq!((hand.table.repeated(&unknown), reason(&hand, &unknown)), (None, "HAND_UNKNOWN"));
}

// He has left, and somebody else sits in his seat: the answer is still his, and only his.
#[test]
fn r5_8_the_answer_belongs_to_the_player_not_to_the_seat() {
    let mut hand = play(RAISED);
    let raise = act(&hand, "p1", 1, 1, Action::Raise(Chips(10)));
    hand.more("3 folds · 1 leaves · 2 bets 5 · 1 is gone · new buys 1 for 90");
    assert!(hand.table.repeated(&raise).is_some());
    assert_eq!(hand.table.repeated(&act(&hand, "new", 1, 1, Action::Raise(Chips(10)))), None);
    hand.more("deal");
    assert!(hand.table.repeated(&raise).is_some());
    assert_eq!(hand.table.repeated(&act(&hand, "new", 1, 1, Action::Raise(Chips(10)))), None);
}

#[test]
fn r5_8_an_action_that_ends_the_hand_can_be_repeated() {
    let hand = play("table texas nl 1/2\n seats 1:90 2:90\n deal button 1\n 1 folds · over");
    let fold = act(&hand, "p1", 1, 1, Action::Fold);
    assert_eq!(hand.table.repeated(&fold).map(|a| a.version), Some(hand.table.version));
    assert_eq!(reason(&hand, &act(&hand, "p1", 1, 1, Action::Call)), "HAND_OVER");
}

#[test]
fn r4_2_the_same_pick_has_the_same_answer_and_another_is_refused() {
    let hand = play(
        "table double nl 1/2
         seats 1:90 2:90
         deal button 1
         1 calls 1 · 2 checks · 2 picks second · 2 bets 4",
    );
    let accepted = hand.table.repeated(&pick(&hand, "p2", 1, 3, 1)).expect("accepted");
    assert_eq!(accepted.decision, Decision::Picked(Pick::new(1).expect("a place")));
    for index in [0, 2] {
        let other = pick(&hand, "p2", 1, 3, index);
        assert_eq!((hand.table.repeated(&other), reason(&hand, &other)), (None, "TURN_PASSED"));
    }
    // A pick is no action, and an action no pick.
    assert_eq!(hand.table.repeated(&pick(&hand, "p2", 1, 4, 1)), None);
    assert_eq!(hand.table.repeated(&act(&hand, "p2", 1, 3, Action::Bet(Chips(4)))), None);
}

#[test]
fn r4_8_each_of_the_picks_at_once_can_be_repeated() {
    let hand = play(
        "table double nl 1/2 simultaneous
         seats 1:90 2:90
         deal button 1
         1 calls 1 · 2 checks · 1 picks third",
    );
    let own = pick(&hand, "p1", 1, 3, 2);
    assert_eq!(hand.table.repeated(&own).map(|a| a.seat.number()), Some(1));
    let other = pick(&hand, "p1", 1, 3, 0);
    assert_eq!((hand.table.repeated(&other), reason(&hand, &other)), (None, "PIVOT_PICKED"));
    assert_eq!(hand.table.repeated(&pick(&hand, "p2", 1, 3, 2)), None, "it is still his turn");
}
