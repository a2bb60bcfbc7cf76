//! Who calls: static tokens, each of an operator or an administrator. Tokens are kept as their SHA-256 only and compared in
//! constant time.

use std::collections::BTreeSet;
use std::fmt;

use http::HeaderMap;
use http::header::AUTHORIZATION;
use sha2::{Digest, Sha256};
use tables::OperatorId;
use thiserror::Error;

/// A shorter token could be guessed.
const SHORTEST: usize = 16;

const DEVELOPER: &str = "dev";

/// Who everybody is where no tokens are asked for.
pub fn developer() -> Option<OperatorId> {
    OperatorId::new(DEVELOPER)
}

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
    fn operator(&self, token: &str) -> Option<&OperatorId> {
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

/// An administrator of the service, by his name; put beside a call as its operator is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Administrator(pub OperatorId);

/// Who calls.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Caller {
    /// The operator.
    pub operator: Option<OperatorId>,
    /// The administrator.
    pub administrator: Option<Administrator>,
}

/// How callers are told apart.
#[derive(Debug)]
pub enum Credentials {
    /// By their tokens: those of operators, and those of administrators if there are any.
    Tokens(Tokens, Option<Tokens>),
    /// Not at all: everybody is this operator, and an administrator too. For development, on loopback only.
    Everybody(OperatorId),
}

impl Credentials {
    /// By these tokens; without any of operators, everybody is `dev`.
    #[must_use]
    pub fn new(tokens: Option<Tokens>, administrators: Option<Tokens>) -> Option<Credentials> {
        match tokens {
            Some(tokens) => Some(Credentials::Tokens(tokens, administrators)),
            None => developer().map(Credentials::Everybody),
        }
    }

    /// Who calls. The credentials go out of the headers, so that nothing behind this can show them.
    pub fn caller(&self, headers: &mut HeaderMap) -> Option<Caller> {
        let sent = headers.remove(AUTHORIZATION);
        let (tokens, administrators) = match self {
            Credentials::Everybody(developer) => {
                let administrator = Some(Administrator(developer.clone()));
                return Some(Caller { operator: Some(developer.clone()), administrator });
            }
            Credentials::Tokens(tokens, administrators) => (tokens, administrators),
        };
        let sent = sent?;
        let (scheme, token) = sent.to_str().ok()?.split_once(' ')?;
        let bearer = scheme.eq_ignore_ascii_case("bearer");
        let named = |tokens: &Tokens| tokens.operator(token.trim_ascii()).filter(|_| bearer).cloned();
        let (operator, administrator) = (named(tokens), administrators.as_ref().and_then(named));
        let known = operator.is_some() || administrator.is_some();
        known.then(|| Caller { operator, administrator: administrator.map(Administrator) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    const A: &str = "0123456789abcdef";
    const B: &str = "fedcba9876543210";

    fn known(tokens: &Tokens, header: &str) -> Option<String> {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, HeaderValue::from_str(header).unwrap());
        let credentials = Credentials::new(Some(tokens.clone()), None).unwrap();
        let caller = credentials.caller(&mut headers);
        let operator = caller.and_then(|caller| caller.operator).map(|o| o.to_string());
        assert!(headers.is_empty(), "credentials go no further");
        operator
    }

    #[test]
    fn a_token_tells_the_operator() {
        let text = format!("# who may call\n\nalpha {A}\n  beta\t{B}  # since May\nalpha {A}{B}\n");
        let tokens = Tokens::read(&text).unwrap();
        assert_eq!(known(&tokens, &format!("Bearer {A}")).as_deref(), Some("alpha"));
        assert_eq!(known(&tokens, &format!("bearer {A}{B}")).as_deref(), Some("alpha"));
        assert_eq!(known(&tokens, &format!("Bearer {B}")).as_deref(), Some("beta"));
        for wrong in ["Bearer ", "Bearer x", A, &format!("Basic {A}"), &format!("Bearer {A}{A}"), "alpha"] {
            assert_eq!(known(&tokens, wrong), None, "{wrong}");
        }
        let debug = format!("{tokens:?}");
        assert!(debug.contains("alpha") && !debug.contains(A), "{debug}");
    }

    #[test]
    fn a_token_is_never_cut_short() {
        let tokens = Tokens::read(&format!("alpha {A}#{B} # a comment\n#beta {B}\n")).unwrap();
        assert_eq!(known(&tokens, &format!("Bearer {A}#{B}")).as_deref(), Some("alpha"));
        for wrong in [format!("Bearer {A}"), format!("Bearer {B}")] {
            assert_eq!(known(&tokens, &wrong), None, "{wrong}");
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
    fn without_tokens_everybody_is_the_developer() {
        let caller = Credentials::new(None, None).unwrap().caller(&mut HeaderMap::new()).unwrap();
        assert_eq!(caller.operator.unwrap().as_str(), "dev");
        assert_eq!(caller.administrator.unwrap().0.as_str(), "dev");
    }

    #[test]
    fn an_administrators_token_is_no_operators() {
        let read = |text: String| Tokens::read(&text).unwrap();
        let (operators, administrators) = (read(format!("alpha {A}")), read(format!("root {B}")));
        assert!(!operators.shares(&administrators) && operators.shares(&operators));
        let credentials = Credentials::new(Some(operators), Some(administrators)).unwrap();
        let caller = |token: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(AUTHORIZATION, HeaderValue::from_str(&format!("Bearer {token}")).unwrap());
            let caller = credentials.caller(&mut headers)?;
            Some((caller.operator.map(|o| o.to_string()), caller.administrator.map(|a| a.0.to_string())))
        };
        assert_eq!(caller(A), Some((Some("alpha".into()), None)));
        assert_eq!(caller(B), Some((None, Some("root".into()))));
        assert_eq!(caller("0123456789abcdeg"), None);
    }
}
