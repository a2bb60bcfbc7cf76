//! `fulcrum demo`, by what it prints.

use std::io::Read;

use crate::book::{cards, faults, pages};
use crate::child::{Running, ended, fulcrum, run};

/// Where a spectator may see cards.
const OPEN: [&str; 4] = ["flop", "turn", "river", "showdown"];

#[test]
fn a_demo_of_three_hands_tells_three_hands_a_table_and_every_chip() {
    let (code, output, errors) = run(["demo", "--hands", "3", "--seed", "7"]);
    assert_eq!((code, errors.as_str()), (0, ""), "{output}");
    assert!(!output.contains('\u{1b}'), "no escape code where there is no terminal");

    let pages = pages(&output);
    for table in ["Emerald", "Ruby"] {
        let told: Vec<&str> = pages.iter().filter(|p| p.table == table).map(|p| p.what.as_str()).collect();
        assert_eq!(told, ["hand 1", "hand 2", "hand 3", "after 3 hands"], "{table}");
    }
    assert_eq!(faults(&pages), [""; 0], "{output}");
    for page in pages.iter().filter(|page| page.what.starts_with("hand ")) {
        let dealt = page.entry("dealt").unwrap();
        let players = dealt.split(',').count();
        // Whoever was broken in the hand before may come back a hand later.
        assert!(players == 6 || page.what != "hand 1" && (2..6).contains(&players), "{dealt}");
        assert!(page.entry("pre-flop").is_some() && page.entry("main pot").is_some(), "{page:?}");
        for (label, text) in &page.entries {
            assert!(OPEN.contains(&label.as_str()) || cards(text).is_empty(), "a card in {label}: {text}");
        }
    }
}

#[test]
fn showdowns_show_the_pivot_of_double_holdem_and_only_hands_that_were_shown() {
    let (code, output, _) = run(["demo", "--hands", "25", "--seed", "3"]);
    assert_eq!(code, 0, "{output}");
    let pages = pages(&output);
    assert_eq!(faults(&pages), [""; 0], "{output}");
    let mut shown = [0; 2];
    for page in &pages {
        let double = page.table == "Emerald";
        for line in page.entry("showdown").unwrap_or_default().lines() {
            let cards = cards(line).len();
            if line.ends_with(" mucks") {
                assert_eq!(cards, 0, "{line}");
            } else {
                assert_eq!(cards, if double { 3 } else { 2 }, "{line}");
                assert_eq!(line.matches('[').count(), usize::from(double), "{line}");
                shown[usize::from(double)] += 1;
            }
        }
    }
    assert!(shown.iter().all(|hands| *hands > 0), "nothing was shown: {shown:?}");
}

#[test]
fn a_reader_who_goes_away_ends_the_demo_without_a_word() {
    let mut demo = fulcrum(["demo", "--pace", "fast"]).spawn().unwrap();
    let mut first = [0; 200];
    let mut output = demo.stdout.take().unwrap();
    output.read_exact(&mut first).unwrap();
    drop(output);
    let (code, _, errors) = ended(demo.wait_with_output().unwrap());
    assert_eq!((code, errors.as_str()), (0, ""));
}

#[test]
fn without_a_number_of_hands_the_demo_says_how_to_look_in_and_plays_until_it_is_interrupted() {
    let mut demo = Running::start(fulcrum(["demo", "--pace", "fast"]));
    let mut told = String::new();
    while !told.contains(": hand 2 ") {
        let line = demo.line();
        assert!(!line.is_empty(), "ended: {told}");
        told.push_str(&line);
    }
    assert!(told.contains("grpcurl -plaintext"), "{told}");
    demo.signal("INT");
    let (code, rest, errors) = demo.wait();
    assert_eq!((code, errors.as_str()), (0, ""));
    assert!(rest.contains("Emerald: after ") && rest.contains("Ruby: after "), "{rest}");
}
