//! The deck: 52 distinct cards in the order in which they will be dealt.
