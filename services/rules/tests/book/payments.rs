//! Rules 9.1, 9.2, 9.4 and 10 where the operator's wallet pays: a seat is never taken without its debit nor left without
//! its credit, whatever the wallet answers, and when.

use rules::payment::{Deed, FIRST_TERM, MOST_OPEN, Phase, Purpose};
use rules::{Chips, Due, Event, Millis, PlayerId, Refusal, SeatNo};

use crate::play::{Play, check, play};
use crate::seats::paid;

/// What is owed to whom since the last commit: `1 cash-out 870`.
fn owed(play: &Play) -> Vec<String> {
    let begun = play.commit.iter().filter_map(|event| match event {
        Event::PaymentBegun { payment } if payment.is_owed() => Some((**payment).clone()),
        _ => None,
    });
    begun.map(|p| format!("{} {:?} {}", p.seat, p.purpose, p.amount)).collect()
}

/// Seats 1 and 2 with money from the wallet, and a hand that can begin.
const TWO: &str = "buy-in 40..200
     p1 reserves 1 for 100 · payment 1 done · p2 reserves 2 for 100 · payment 2 done · nothing open";

/// A hand of two players of the wallet and one who brought his chips otherwise.
fn hand_of_three() -> Play {
    play(&format!("table texas nl 1/2 {TWO}\n p3 buys 3 for 100\n deal button 1"))
}

/// Rules 10.3: the wallet has to confirm a buy-in before the chips are there, and meanwhile nobody takes the seat.
#[test]
fn r10_3_a_reservation_holds_the_seat_until_the_wallet_answers() {
    let mut table = play(
        "table texas nl 1/2 max-seats 3
         p1 reserves 2 for 100 · payment 1 is debiting · payment 1 of 100 for buy-in from p1 · 2 is gone
         p2 buys 2 for 90 -> SEAT_TAKEN · p2 reserves 2 for 90 -> SEAT_TAKEN
         p1 buys 1 for 90 -> ALREADY_SEATED · p1 reserves any for 90 -> ALREADY_SEATED
         p1 reserves 2 for 90 -> ALREADY_SEATED · p1 leaves -> NOT_SEATED · p1 draws 5 -> NOT_SEATED
         p2 reserves any for 90 · p3 buys any for 90 · stacks 3:90
         p4 buys any for 90 -> TABLE_FULL · p4 reserves any for 90 -> TABLE_FULL",
    );
    let refusal = table.refusal.clone();
    assert_eq!(refusal, Some(Refusal::TableFull));
    let reserved: Vec<u8> = table.table.reserved().map(|payment| payment.seat.number()).collect();
    assert_eq!(reserved, [2, 1], "any seat is the lowest that nobody waits for either");
    assert_eq!(table.table.ledger.bought_in, Chips(90), "nothing is there before the wallet says so");
    table.more(
        "payment 1 done · payment 1 ended used · 2 is in · stacks 2:100 · next hand 3s
         payment 2 declined · payment 2 ended declined · 1 is gone · nothing open · p4 buys any for 90 · stacks 1:90",
    );
    let seat = |no| table.table.seat(SeatNo::new(no).unwrap()).unwrap();
    assert_eq!((seat(2).wallet, seat(2).session, seat(3).wallet), (true, 1, false));
    assert_eq!(seat(3).session, 3, "the session of the debit that was declined is not used again");
}

/// Rules 10.3: what somebody posts and how much he may bring is as for any other buy-in.
#[test]
fn r10_3_a_reservation_is_judged_like_a_buy_in() {
    check(
        "table texas nl 1/2 buy-in 40..200 rathole 60m
         p1 reserves 1 for 39 -> BUY_IN_OUT_OF_RANGE · p1 reserves 1 for 201 -> BUY_IN_OUT_OF_RANGE",
    );
    check(
        "table texas nl 1/2 max-seats 6 rathole 60m
         p7 reserves 7 for 90 -> NO_SUCH_SEAT
         p1 reserves 1 for 90 · payment 1 done · 1 leaves · payment 2 done
         p1 reserves 1 for 89 -> BUY_IN_BELOW_LEFT · p1 reserves 1 for 90",
    );
    check(
        "table texas nl 10/25
         seats 1:500 2:500 3:500
         deal button 1
         1 folds · 2 folds
         p6 reserves 6 for 500 posting · payment 1 done
         deal
         dealt 1 2 3 6 · bets 6:25",
    );
    let closing = "table texas nl 1/2\n seats 1:90 2:90\n deal\n close";
    play(closing).more("p3 reserves 3 for 90 -> TABLE_CLOSED · p1 draws 5 -> TABLE_CLOSED");
}

/// Rules 10.3: a time-out leaves the seat to others at once; the debit is cancelled as long as it takes.
#[test]
fn r10_3_an_unknown_debit_frees_the_seat_and_is_cancelled() {
    let mut table = play(
        "table texas nl 1/2
         p1 reserves 2 for 100 · wallet due 15s · wait 5s · payment 1 unknown · payment 1 is cancelling
         wallet due 15s · p2 buys 2 for 90 · p1 reserves 3 for 100 · payment 2 is debiting
         payment 1 unknown · payment 1 is cancelling · payment 1 unknown",
    );
    let payment = table.table.payment(1).expect("open");
    assert_eq!((payment.attempts, payment.error.as_str()), (2, "no answer"));
    assert_eq!(payment.next_at, table.now + Millis(10_000));
    table.more("payment 1 done · payment 1 ended cancelled · payment 2 done · 3 is in · stacks 2:90 3:100");
    assert_eq!(table.table.ledger.bought_in, Chips(190), "the cancelled debit has brought nothing");
    // A wallet that had declined it has nothing to give back either.
    check(
        "table texas nl 1/2\n p1 reserves 2 for 100 · payment 1 unknown · payment 1 declined · payment 1 ended cancelled",
    );
}

/// Rules 10.3: answers that come after the payment has gone on change nothing.
#[test]
fn r10_3_a_late_answer_changes_nothing() {
    check(
        "table texas nl 1/2
         p1 reserves 1 for 100 · payment 1 unknown
         payment 1 done to debiting -> PAYMENT_UNKNOWN · payment 1 declined to debiting -> PAYMENT_UNKNOWN
         payment 1 unknown to debiting -> PAYMENT_UNKNOWN · payment 1 done to crediting -> PAYMENT_UNKNOWN
         payment 1 is cancelling · 1 is gone
         payment 1 done · payment 1 is over · payment 1 done to cancelling -> PAYMENT_UNKNOWN
         payment 1 done to debiting -> PAYMENT_UNKNOWN · 1 is gone · payment 9 done -> PAYMENT_UNKNOWN
         p1 reserves 1 for 100 · payment 2 done · payment 2 done -> PAYMENT_UNKNOWN · stacks 1:100
         1 leaves · payment 3 given-up · payment 3 is parked · payment 3 done -> PAYMENT_UNKNOWN
         payment 3 done to crediting -> PAYMENT_UNKNOWN · payment 3 is parked",
    );
}

/// Rules 9.4: a table that closes seats nobody, also if his money is on its way; it goes back. `Rules 10.3`.
#[test]
fn r9_4_a_debit_that_is_booked_after_the_table_closed_goes_back() {
    check(
        "table texas nl 1/2
         p1 reserves 1 for 100 · close · payment 1 is debiting
         payment 1 done · payment 1 is cancelling · 1 is gone · payment 1 done · payment 1 ended cancelled
         nothing open",
    );
    let mut closing = hand_of_three();
    closing.more(
        "2 draws 50 · p4 reserves 4 for 90 · close
         payment 3 done · payment 3 is cancelling · payment 4 done · payment 4 is cancelling · 4 is gone",
    );
}

/// Rules 9.4: a stop keeps hands from beginning; money that is on its way arrives.
#[test]
fn r9_4_a_stopped_table_takes_in_what_is_on_its_way() {
    check(
        "table texas nl 1/2
         p1 reserves 1 for 100 · p2 reserves 2 for 100 · stop table · payment 1 done · payment 2 done
         stacks 1:100 2:100 · no next hand · 1 leaves · payment 3 done · payment 3 ended paid",
    );
}

/// Rules 9.2: chips are added by the wallet too, between hands at once and in a hand after it.
#[test]
fn r9_2_chips_from_the_wallet() {
    let mut table = play(&format!("table texas nl 1/2 {TWO}"));
    table.more(
        "1 draws 101 -> BUY_IN_OUT_OF_RANGE · 1 draws 50 · payment 3 of 50 for add-chips from p1 · stacks 1:100
         1 draws 50 -> CHIPS_PENDING · payment 3 done · payment 3 ended used · stacks 1:150 · nothing open
         1 adds 5 -> OTHER_FUNDS · p3 buys 3 for 90 · 3 draws 5 -> OTHER_FUNDS",
    );
    assert_eq!(table.table.ledger.bought_in, Chips(340));
    let mut hand = hand_of_three();
    hand.more("1 folds · 2 draws 60 · payment 3 done · payment 3 ended used · stacks 2:99 · 2 draws 5 -> CHIPS_PENDING");
    hand.more("2 folds · over · stacks 2:159 · nothing open");
    // Declined, or not known: he plays on with what he has.
    let mut hand = hand_of_three();
    hand.more("2 draws 60 · payment 3 declined · 2 draws 60 · payment 4 unknown · payment 4 is cancelling");
    hand.more("1 folds · 2 folds · stacks 2:99 · 2 draws 10 · payment 4 done · payment 4 ended cancelled");
}

/// Rules 9.2: what does not fit under the maximum after the hand goes back where it came from. `Rules 10.3`.
#[test]
fn r9_2_chips_that_do_not_fit_go_back_to_the_wallet() {
    let mut hand = play(&format!(
        "table texas nl 1/2 {TWO}
         p3 buys 3 for 100
         cards 1:AcAd 2:KcKd board:9s8h7s3c2d
         deal button 1
         1 draws 50 · payment 3 done · 1 all-in 100 · 2 all-in 100 · 3 folds · over · stacks 1:202"
    ));
    assert_eq!(owed(&hand), ["1 Returned 50"], "he has more than the maximum already");
    hand.more("payment 4 of 50 for returned to p1 · owed 50 delivered 0 written-off 0");
    hand.more("payment 4 done · payment 4 ended paid · owed 50 delivered 50 written-off 0 · nothing open");
    let mut hand = play(&format!(
        "table texas nl 1/2 {TWO}
         deal button 1
         1 draws 150 · payment 3 done · 1 folds · over · stacks 1:200"
    ));
    assert_eq!(owed(&hand), ["1 Returned 49"], "99 and 150: 101 fit");
    assert_eq!(hand.table.ledger.bought_in, Chips(301));
    hand.more("1 leaves · open 4 5 · owed 249 delivered 0 written-off 0");
}

/// Rules 9.2: who has left, or has come anew, gets no chips of a debit of before.
#[test]
fn r9_2_a_debit_for_a_player_who_has_left_is_cancelled() {
    let mut table = play(&format!("table texas nl 1/2 {TWO}"));
    table.more("1 draws 50 · 1 leaves · payment 3 done · payment 3 is cancelling · open 3 4");
    table.more(
        "p1 reserves 1 for 100 · payment 5 done · payment 3 done · payment 3 ended cancelled · stacks 1:100",
    );
    let mut table = play(&format!("table texas nl 1/2 {TWO}"));
    table.more("1 draws 50 · 1 leaves · p1 reserves 1 for 100 · payment 5 done · stacks 1:100");
    table.more("payment 3 done · payment 3 is cancelling · stacks 1:100");
    let mut hand = hand_of_three();
    hand.more("2 draws 50 · 2 leaves · 2 is leaving · payment 3 done · payment 3 is cancelling");
    hand.more("1 folds · 2 is gone · payment 4 of 99 for cash-out to p2");
}

/// Rules 9.1: who leaves in a hand is paid after its settlement, exactly what he has then. `Rules 10.3`.
#[test]
fn r9_1_who_leaves_in_a_hand_is_credited_after_it() {
    let mut hand = hand_of_three();
    hand.more("1 raises 10 · 1 leaves · 2 folds · nothing open · 3 calls 8 · nothing open");
    hand.more("3 checks · did 1 fold absence · over · 1 is gone · payment 3 of 90 for cash-out to p1");
    assert_eq!((owed(&hand), paid(&hand)), (vec!["1 CashOut 90".to_owned()], vec!["1 90 Asked".to_owned()]));
    hand.more("owed 90 delivered 0 written-off 0 · p4 reserves 1 for 90 · payment 3 done · payment 4 done");
}

/// Rules 9.1: a player who waits with nothing gets nothing; one who has chips gets them once.
#[test]
fn r9_1_a_cash_out_is_owed_once_and_exactly() {
    let mut table = play(&format!(
        "table texas nl 1/2 {TWO}
         cards 1:AcAd 2:KcKd board:9s8h7s3c2d
         deal button 1
         1 all-in 100 · 2 all-in 100 · over · stacks 1:200 2:0 · 2 leaves · 2 is gone · nothing open"
    ));
    assert_eq!(paid(&table), ["2 0 Asked"]);
    table.more("1 leaves · payment 3 of 200 for cash-out to p1 · owed 200 delivered 0 written-off 0");
    assert_eq!(paid(&table), ["1 200 Asked"]);
    table.more("payment 3 unknown · payment 3 is crediting · payment 3 declined · payment 3 is crediting");
    let payment = table.table.payment(3).expect("open");
    assert_eq!((payment.attempts, payment.error.as_str()), (2, "declined"), "a credit cannot be declined");
    table.more("payment 3 done · payment 3 ended paid · owed 200 delivered 200 written-off 0");
}

/// Rules 9.4: a table that closes pays everybody, each the way his money came. `Rules 10.3`.
#[test]
fn r9_4_closing_pays_everybody_the_way_his_money_came() {
    let mut table = hand_of_three();
    table.more(
        "2 draws 150 · payment 3 done · close · 1 folds · 2 folds · over · 1 is gone · 2 is gone · 3 is gone",
    );
    assert_eq!(owed(&table), ["2 Returned 49", "1 CashOut 100", "2 CashOut 200"]);
    assert_eq!(paid(&table), ["1 100 TableClosed", "2 200 TableClosed", "3 101 TableClosed"]);
    assert_eq!(table.table.owed(), Chips(349));
    // The table is closed; its payments go on to their ends.
    table.more("wallet due 15s · wait 15s · take payments · wallet due 10s");
    table.more("payment 4 done · payment 5 given-up · payment 5 retried by ann · payment 5 done · payment 6 given-up");
    table.more("payment 6 proposed settled by ann · payment 6 confirmed settled by bob · nothing open");
    table.more("owed 349 delivered 349 written-off 0");
}

/// Rules 10.1: a void gives each player's contributions back to his stack, where the wallet's money is too.
#[test]
fn r10_1_a_void_hand_moves_no_money_at_the_wallet() {
    let mut hand = hand_of_three();
    hand.more("1 raises 50 · 2 all-in 100 · 2 draws 100 · 1 draws 20 · payment 4 done · void · voided");
    hand.more("stacks 1:120 2:100 3:100 · open 3 · payment 3 done · stacks 2:200 · nothing open");
    let tallies = hand.table.occupied().map(|(_, seat)| (seat.wagered, seat.won, seat.raked));
    assert!(tallies.into_iter().all(|tally| tally == Default::default()), "nothing was played");
    hand.more("1 leaves · payment 5 of 120 for cash-out to p1");
}

/// Rules 7.2, 10.3: what a session was played with and won is counted, each player's share of the rake too.
#[test]
fn r10_3_the_tallies_of_a_session() {
    let hand = play(
        "table texas nl 1/2 rake 500
         p1 reserves 1 for 50 · payment 1 done · seats 2:100 3:900
         cards 1:AcAd 2:KcKd 3:QcQd board:9s8h7s3c2d
         deal button 1
         1 all-in 50 · 2 all-in 100 · 3 calls 98
         over · rake 12 · wins 1:143 2:95 · shares 1:2 2:5 3:5",
    );
    let tallies: Vec<_> =
        hand.table.occupied().map(|(_, seat)| [seat.wagered.0, seat.won.0, seat.raked.0]).collect();
    assert_eq!(tallies, [[50, 143, 2], [100, 95, 5], [100, 0, 5]]);
}

/// Rules 10.3: a wallet that does not answer is asked by whoever looks first, and again later.
#[test]
fn r10_3_payments_are_due_until_they_are_over() {
    let mut table = play("table texas nl 1/2\n p1 reserves 1 for 100");
    let begun = table.now;
    assert_eq!(table.table.due(), Some((begun + FIRST_TERM, Due::Payments)));
    table.more("take payments -> NOT_DUE · wait 14999ms · take payments -> NOT_DUE");
    assert_eq!(table.refusal, Some(Refusal::NotDue { at: Some(begun + FIRST_TERM) }));
    table
        .more("p2 reserves 2 for 100 · wait 1ms · take payments · take payments -> NOT_DUE · wallet due 10s");
    let taken: Vec<_> = table.commit.iter().collect();
    assert_eq!(taken, [&Event::PaymentsTaken { numbers: vec![1], until: table.now + Millis(10_000) }]);
    // Of what is due at the same time a time-out is first.
    let mut table = play("table texas nl 1/2 bank 0s grace 0s\n seats 1:90 2:90\n deal");
    let lapse = table.table.due().expect("a prompt").0;
    table.now = lapse - FIRST_TERM;
    table.more("p3 reserves 3 for 90");
    assert_eq!(table.table.payment(1).map(|p| p.next_at), Some(lapse));
    assert_eq!(table.table.due(), Some((lapse, Due::Expire)));
    // One that is parked is due no more.
    let parked = play("table texas nl 1/2\n p1 reserves 1 for 100 · payment 1 unknown · payment 1 given-up");
    assert_eq!(parked.table.due(), None);
}

const PARKED: &str = "table texas nl 1/2
     p1 reserves 1 for 100 · payment 1 done · 1 leaves · wait 24m · payment 2 given-up
     payment 2 is parked · owed 100 delivered 0 written-off 0";

/// Rules 10.3: what the wallet never answers is parked and people end it, two of them.
#[test]
fn r10_3_two_people_end_a_parked_payment() {
    let mut table = play(PARKED);
    assert_eq!(table.table.owed(), Chips(100));
    table.more(
        "payment 2 confirmed settled by ann -> NOTHING_PROPOSED
         payment 2 proposed settled by ann · payment 2 confirmed settled by ann -> SAME_PERSON
         payment 2 confirmed written-off by bob -> NOTHING_PROPOSED · payment 2 is parked
         payment 2 proposed written-off by bob · payment 2 confirmed settled by ann -> NOTHING_PROPOSED
         payment 2 confirmed written-off by bob -> SAME_PERSON · payment 2 confirmed written-off by ann
         payment 2 ended written-off · owed 100 delivered 0 written-off 100 · nothing open
         payment 2 retried by ann -> PAYMENT_UNKNOWN · payment 2 proposed settled by ann -> PAYMENT_UNKNOWN",
    );
    let mut table = play(PARKED);
    table.more(
        "payment 2 proposed settled by ann · payment 2 confirmed settled by bob · payment 2 ended settled",
    );
    table.more("owed 100 delivered 100 written-off 0");
    // A debit that is written off or given back by hand was never the table's.
    let mut table =
        play("table texas nl 1/2\n p1 reserves 1 for 100 · payment 1 unknown · payment 1 given-up");
    table.more("payment 1 proposed settled by ann · payment 1 confirmed settled by bob · nothing open");
    table.more("owed 0 delivered 0 written-off 0");
    check(
        "table texas nl 1/2\n p1 reserves 1 for 100 · payment 1 proposed settled by ann -> PAYMENT_NOT_PARKED",
    );
    check(
        "table texas nl 1/2\n p1 reserves 1 for 100 · payment 1 confirmed settled by ann -> PAYMENT_NOT_PARKED",
    );
}

/// Rules 10.3: asked again, a parked payment is as open as before; a proposal of before counts no more.
#[test]
fn r10_3_a_parked_payment_may_be_asked_for_again() {
    let mut table = play(PARKED);
    table.more("payment 2 proposed settled by ann · payment 2 retried by bob · payment 2 is crediting · wallet due 15s");
    let noted =
        |play: &Play| play.table.payment(2).map(|p| p.notes.iter().map(|n| n.deed).collect::<Vec<_>>());
    assert_eq!(noted(&table), Some(vec![Deed::Parked, Deed::Proposed, Deed::Retried]));
    table.more("payment 2 unknown · payment 2 is crediting · payment 2 given-up · payment 2 is parked");
    table.more(
        "payment 2 confirmed settled by bob -> NOTHING_PROPOSED · payment 2 retried by ann · payment 2 done",
    );
    table.more("payment 2 ended paid · owed 100 delivered 100 written-off 0");
    // A debit goes on with its cancel: nobody is seated after so long.
    check(
        "table texas nl 1/2
         p1 reserves 1 for 100 · payment 1 unknown · payment 1 given-up · payment 1 retried by ann
         payment 1 is cancelling · 1 is gone · payment 1 done · payment 1 ended cancelled",
    );
    // The notes do not grow for ever.
    let mut table = play(PARKED);
    for _ in 0..40 {
        table.more("payment 2 retried by ann · payment 2 given-up");
    }
    assert_eq!(noted(&table).map(|notes| notes.len()), Some(16));
}

/// Rules 10.3: where the wallet answers nothing, nobody's debits pile up; who leaves is credited all the same.
#[test]
fn r10_3_a_table_draws_no_more_where_too_much_is_open() {
    let mut table = play("table texas nl 1/2\n p1 reserves 1 for 100 · payment 1 done");
    for number in 2..MOST_OPEN as u64 + 2 {
        table.more(&format!("p2 reserves 2 for 100 · payment {number} unknown"));
    }
    table.more("p2 reserves 2 for 100 -> PAYMENTS_PENDING · 1 draws 5 -> PAYMENTS_PENDING");
    let refusal = table.refusal.clone().expect("refused");
    assert_eq!(refusal, Refusal::PaymentsPending { open: MOST_OPEN });
    assert_eq!((refusal.reason(), refusal.rule()), ("PAYMENTS_PENDING", "10.3"));
    table.more("p2 reserves 1 for 100 -> SEAT_TAKEN · 1 leaves");
    assert_eq!(table.table.payments.len(), MOST_OPEN + 1);
    table.more(
        "payment 2 done · p2 reserves 2 for 100 -> PAYMENTS_PENDING · payment 3 done · p2 reserves 2 for 100",
    );
}

/// Rules 10.2: after a loss the numbers of payments may come again, and are told apart by what was skipped.
#[test]
fn r10_2_payments_after_a_loss_of_history_are_others() {
    let mut table =
        play("table texas nl 1/2\n p1 reserves 1 for 100 · payment 1 done · 1 leaves · lose 20 4 9");
    table.more("payment 2 is crediting · p1 reserves 1 for 100");
    let names: Vec<_> = table.table.payments.iter().map(|p| (p.number, p.epoch, p.session)).collect();
    assert_eq!(names, [(2, 0, 1), (3, (1 << 20) - 1, 9 + 1000 + 1)]);
    table.more("payment 2 done · payment 3 done · stacks 1:100 · 1 leaves");
    assert_eq!(table.table.payment(4).map(|p| (p.epoch, p.session)), Some(((1 << 20) - 1, 1010)));
}

/// Rules 10.3: one player by the wallet, one by transfer; each is paid the way he came, and the books are one.
#[test]
fn r10_3_both_ways_at_one_table() {
    let mut table = play(
        "table texas nl 1/2 rake 500
         p1 reserves 1 for 100 · payment 1 done · p2 buys 2 for 100
         cards 1:AcAd 2:KcKd board:9s8h7s3c2d
         deal button 1
         1 all-in 100 · 2 all-in 100 · over · rake 10 · stacks 1:190 2:0 · 2 adds 60
         1 leaves · 2 leaves · payment 2 of 190 for cash-out to p1 · open 2",
    );
    let ledger = table.table.ledger;
    assert_eq!([ledger.bought_in, ledger.paid_out, ledger.raked].map(|c| c.0), [260, 250, 10]);
    table.more("payment 2 done · owed 190 delivered 190 written-off 0");
}

/// Rules 8.3: also who is stood up by the clock is credited.
#[test]
fn r8_3_who_sat_out_too_long_is_credited() {
    let mut table = play(&format!("table texas nl 1/2 {TWO}\n 1 sits out"));
    table.now = table.table.due().expect("he sits out").0;
    table.more("expire · 1 is gone · payment 3 of 100 for cash-out to p1");
    assert_eq!(owed(&table), ["1 CashOut 100"]);
}

#[test]
fn what_a_payment_is_for_says_which_way_it_goes() {
    assert!(Purpose::BuyIn { post: true }.is_debit() && Purpose::AddChips.is_debit());
    assert!(!Purpose::CashOut.is_debit() && !Purpose::Returned.is_debit());
    let table = play("table texas nl 1/2\n p1 reserves 1 for 100");
    let payment = table.table.payment(1).expect("open");
    assert!(payment.reserves() && payment.phase == Phase::Debiting && !payment.is_owed());
    let request = payment.request.expect("somebody asked").id;
    assert_eq!(table.table.payment_of(&request).map(|p| p.number), Some(1));
    assert_eq!(table.table.payment_of(&[9; 16]), None);
    assert_eq!(payment.player, PlayerId::new("p1").expect("a name"));
}
