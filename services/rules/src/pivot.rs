//! The pivot of Double Hold'em: the two hands it makes, and the pick at a time-out (rules 4).
