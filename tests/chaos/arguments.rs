//! The command line: scenarios, their options, and the flags that `cargo test` hands to every test program.

use clap::Parser;

/// Several servers on one Redis, under load, while things break.
///
/// Without arguments it runs the short scenarios, in about a minute.
#[derive(Parser, Debug, Default)]
#[command(name = "chaos", bin_name = "cargo test --release --test chaos --", after_long_help = EXAMPLES)]
pub struct Arguments {
    /// Runs the scenarios whose names contain one of these words. Those that take long want their whole name.
    pub words: Vec<String>,
    /// Names the scenarios and ends.
    #[arg(long)]
    pub list: bool,
    /// How long is played.
    #[arg(long, value_name = "N", conflicts_with = "seconds", value_parser = clap::value_parser!(u64).range(1..))]
    minutes: Option<u64>,
    /// How long is played.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    seconds: Option<u64>,
    /// After how many hands the playing ends, where a scenario counts them.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..))]
    pub hands: Option<u64>,
    /// How many tables.
    #[arg(long, value_name = "N")]
    tables: Option<u32>,
    /// How many bots at each table.
    #[arg(long, value_name = "N")]
    seats: Option<u32>,
    /// How long a bot thinks.
    #[arg(long, value_name = "TIME")]
    think: Option<String>,
    /// How many servers.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(2..))]
    replicas: Option<u8>,
    /// How many connections the bots share.
    #[arg(long, value_name = "N")]
    connections: Option<u32>,
    /// Drives who is killed when, and what the bots decide.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Of the faults, only those whose names contain this.
    #[arg(long, value_name = "WORD", conflicts_with = "write")]
    pub only: Option<String>,
    /// Writes the table of faults to deploy/faults.md.
    #[arg(long)]
    pub write: bool,
    #[command(flatten)]
    libtest: Libtest,
}

/// What the standard test programs understand. Only what chooses scenarios means something here.
#[derive(clap::Args, Debug, Default)]
#[command(next_help_heading = "Flags of cargo test, the rest of which are passed over")]
struct Libtest {
    /// The words are whole names.
    #[arg(long)]
    exact: bool,
    /// Leaves out scenarios whose names contain this.
    #[arg(long, value_name = "WORD")]
    skip: Vec<String>,
    /// Runs nothing: no scenario is left out of the usual run for good.
    #[arg(long)]
    ignored: bool,
    #[arg(long, hide = true, aliases = ["no-capture", "show-output", "quiet", "test", "bench", "force-run-in-process"])]
    nocapture: bool,
    #[arg(long, hide = true)]
    include_ignored: bool,
    #[arg(short, hide = true, action = clap::ArgAction::Count)]
    q: u8,
    #[arg(short = 'Z', hide = true)]
    unstable: Vec<String>,
    #[arg(long, hide = true, aliases = ["color", "format", "logfile"])]
    test_threads: Vec<String>,
}

const EXAMPLES: &str = "\
Examples:
  cargo test --release --test chaos
      The short scenarios, as tests/run runs them.
  cargo test --release --test chaos -- replicas --minutes 5 --tables 200 --seats 6
      Four servers, one Redis, 1,200 bots, and a server killed every few seconds for five minutes.
  cargo test --release --test chaos -- money --hands 100000 --tables 50 --minutes 30
      Two operators whose wallets and servers fail all the time; then all books are held against each other.
  cargo test --release --test chaos -- faults --write
      Everything that can happen to Redis, under load; writes deploy/faults.md.
  cargo test --release --test chaos -- faults --only sentinel
      Some of it, and the table is only printed.

The bots are `fulcrum load`, which checks every hand at the end. Servers and Redis are started and ended by the test.";

/// How much is played, with the scenario's own measure where nothing else is asked for.
#[derive(Clone, Debug)]
pub struct Size {
    pub replicas: u8,
    pub tables: u32,
    pub seats: u32,
    pub seconds: u64,
    /// As `fulcrum load` reads it.
    pub think: &'static str,
    pub connections: u32,
}

impl Arguments {
    /// A scenario's measure, changed as the options say.
    pub fn size(&self, usual: &Size) -> Size {
        let seconds = self.seconds.or(self.minutes.map(|minutes| minutes * 60));
        Size {
            replicas: self.replicas.unwrap_or(usual.replicas),
            tables: self.tables.unwrap_or(usual.tables),
            seats: self.seats.unwrap_or(usual.seats),
            seconds: seconds.unwrap_or(usual.seconds),
            // Once a run, and then needed to its end.
            think: self.think.clone().map_or(usual.think, |think| think.leak()),
            connections: self.connections.unwrap_or(usual.connections),
        }
    }

    /// Whether a scenario is asked for.
    pub fn wants(&self, name: &str, takes_long: bool) -> bool {
        let (words, libtest) = (&self.words, &self.libtest);
        if libtest.ignored || libtest.skip.iter().any(|word| name.contains(word.as_str())) {
            return false;
        }
        let whole = takes_long || libtest.exact;
        let matches = |word: &String| if whole { word == name } else { name.contains(word.as_str()) };
        words.iter().any(matches) || (words.is_empty() && !takes_long)
    }
}
