//! What five to seven cards are worth (rules 6.2 and 12).
