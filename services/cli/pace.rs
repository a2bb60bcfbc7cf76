//! How fast a demonstration plays.

use std::time::Duration;

use clap::ValueEnum;
use rand::RngExt;
use rand::rngs::Xoshiro256PlusPlus;

/// How fast bots think, and how long the pause between hands is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Pace {
    /// As people play: one to three seconds for a decision, four between hands.
    Slow,
    /// To follow with ease: a third of a second for a decision, two between hands.
    Normal,
    /// As fast as the server answers.
    Fast,
}

impl Pace {
    /// The pause between two hands.
    #[must_use]
    pub const fn between_hands(self) -> Duration {
        Duration::from_millis(match self {
            Pace::Slow => 4000,
            Pace::Normal => 2000,
            Pace::Fast => 0,
        })
    }

    /// How long a bot thinks about a decision.
    #[must_use]
    pub fn thought(self, rng: &mut Xoshiro256PlusPlus) -> Duration {
        Duration::from_millis(match self {
            Pace::Slow => rng.random_range(1000..3000),
            Pace::Normal => rng.random_range(150..500),
            Pace::Fast => 0,
        })
    }
}
