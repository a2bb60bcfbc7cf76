//! Replays of recorded hands.
