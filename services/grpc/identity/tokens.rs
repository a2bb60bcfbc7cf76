//! Static tokens, each of an operator or an administrator. They are kept as their SHA-256 only and compared in constant
//! time.

use std::collections::BTreeSet;
use std::fmt;

use sha2::{Digest, Sha256};
use tables::OperatorId;
use thiserror::Error;

/// A shorter token could be guessed.
const SHORTEST: usize = 16;

/// The tokens that a server knows.
#[derive(Clone)]
pub struct Tokens(Vec<(OperatorId, [u8; 32])>);

/// What is wrong with a token file. It names the line, never the token.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum TokenFault {
    /// A line is not a name and a token.
    #[error("line {0}: a name, a space and a token are wanted; a # begins a comment")]
    Shape(usize),
    /// An operator or an administrator has a name that none can have.
    #[error("line {0}: a name is 1 to 64 small letters, digits, `_` or `-`")]
    Operator(usize),
    /// A token is too short.
    #[error("line {0}: a token has at least {SHORTEST} characters; `openssl rand -hex 32` makes one")]
    Short(usize),
    /// A token is there twice.
    #[error("line {0}: this token is in an earlier line too")]
    Twice(usize),
    /// There are no tokens.
    #[error("there is no token in it")]
    Empty,
}

impl Tokens {
    /// Reads a token file: a name and a token a line, `#` begins a comment. One name may have several tokens, so that they
    /// can be changed without a break.
    ///
    /// # Errors
    /// [`TokenFault`]
    pub fn read(text: &str) -> Result<Tokens, TokenFault> {
        let mut tokens: Vec<(OperatorId, [u8; 32])> = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            // Inside a word it is part of it: a token cut short in silence would be a weak one.
            let mut words = line.split_whitespace().take_while(|word| !word.starts_with('#'));
            let Some(operator) = words.next() else {
                continue;
            };
            let (Some(token), None) = (words.next(), words.next()) else {
                return Err(TokenFault::Shape(number));
            };
            let operator = OperatorId::new(operator).ok_or(TokenFault::Operator(number))?;
            if token.len() < SHORTEST {
                return Err(TokenFault::Short(number));
            }
            let digest = digest(token);
            if tokens.iter().any(|(_, known)| *known == digest) {
                return Err(TokenFault::Twice(number));
            }
            tokens.push((operator, digest));
        }
        if tokens.is_empty() { Err(TokenFault::Empty) } else { Ok(Tokens(tokens)) }
    }

    /// Whether a token is in the other file too.
    #[must_use]
    pub fn shares(&self, other: &Tokens) -> bool {
        self.0.iter().any(|(_, mine)| other.0.iter().any(|(_, theirs)| mine == theirs))
    }

    /// Everybody who has a token.
    #[must_use]
    pub fn operators(&self) -> BTreeSet<OperatorId> {
        self.0.iter().map(|(operator, _)| operator.clone()).collect()
    }

    /// Whose token it is. Takes as long for a wrong one as for a right one.
    pub(super) fn operator(&self, token: &str) -> Option<&OperatorId> {
        let given = digest(token);
        let mut found = None;
        for (operator, known) in &self.0 {
            let differs = known.iter().zip(given).fold(0, |differs, (a, b)| differs | (a ^ b));
            if std::hint::black_box(differs) == 0 {
                found = Some(operator);
            }
        }
        found
    }
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.iter().map(|(operator, _)| operator)).finish()
    }
}

fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "0123456789abcdef";
    const B: &str = "fedcba9876543210";

    fn known<'a>(tokens: &'a Tokens, token: &str) -> Option<&'a str> {
        tokens.operator(token).map(OperatorId::as_str)
    }

    #[test]
    fn a_token_tells_the_operator() {
        let text = format!("# who may call\n\nalpha {A}\n  beta\t{B}  # since May\nalpha {A}{B}\n");
        let tokens = Tokens::read(&text).unwrap();
        assert_eq!(known(&tokens, A), Some("alpha"));
        assert_eq!(known(&tokens, &format!("{A}{B}")), Some("alpha"));
        assert_eq!(known(&tokens, B), Some("beta"));
        for wrong in ["", "x", &format!("{A}{A}"), "alpha"] {
            assert_eq!(known(&tokens, wrong), None, "{wrong}");
        }
        let debug = format!("{tokens:?}");
        assert!(debug.contains("alpha") && !debug.contains(A), "{debug}");
    }

    #[test]
    fn a_token_is_never_cut_short() {
        let tokens = Tokens::read(&format!("alpha {A}#{B} # a comment\n#beta {B}\n")).unwrap();
        assert_eq!(known(&tokens, &format!("{A}#{B}")), Some("alpha"));
        for wrong in [A, B] {
            assert_eq!(known(&tokens, wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_faulty_file_names_its_line_and_no_token() {
        let faults = [
            ("", TokenFault::Empty),
            ("# none\n", TokenFault::Empty),
            ("alpha\n", TokenFault::Shape(1)),
            (&format!("a {A}\nb {B} c"), TokenFault::Shape(2)),
            (&format!("\nA {A}"), TokenFault::Operator(2)),
            ("a short-secret", TokenFault::Short(1)),
            (&format!("a {A}\nb {A}"), TokenFault::Twice(2)),
        ];
        for (text, fault) in faults {
            let found = Tokens::read(text).unwrap_err();
            assert!(!found.to_string().contains("secret"));
            assert_eq!(found, fault, "{text}");
        }
    }

    #[test]
    fn two_files_with_one_token_are_found_out() {
        let read = |text: String| Tokens::read(&text).unwrap();
        let (operators, administrators) = (read(format!("alpha {A}")), read(format!("root {B}")));
        assert!(!operators.shares(&administrators) && operators.shares(&operators));
    }
}
