//! Who may call the wallet: whoever shows a token of its file.

use std::fs;
use std::path::Path;

use sha2::{Digest, Sha256};
use tonic::service::Interceptor;
use tonic::{Request, Status};
use zeroize::Zeroizing;

use crate::cli::failure::Failure;

/// A shorter token could be guessed.
const SHORTEST: usize = 16;

/// The tokens of a file: one a line, `#` begins a comment line.
///
/// # Errors
/// [`Failure::Usage`], which names no token.
pub fn read(path: &Path) -> Result<Vec<Zeroizing<String>>, Failure> {
    let bad = |why: &str| Failure::Usage(format!("the token file {} cannot be used: {why}", path.display()));
    let text = fs::read_to_string(path).map(Zeroizing::new).map_err(|error| bad(&error.to_string()))?;
    let mut tokens = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if line.len() < SHORTEST || !line.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(bad(&format!(
                "a token is a line of at least {SHORTEST} visible characters; `openssl rand -hex 32` makes one"
            )));
        }
        tokens.push(Zeroizing::new(line.to_owned()));
    }
    if tokens.is_empty() { Err(bad("there is no token in it")) } else { Ok(tokens) }
}

/// Lets callers in. Keeps digests only, and compares all of them, so that the time tells nothing.
#[derive(Clone)]
pub struct Door(Option<Vec<[u8; 32]>>);

impl Door {
    /// For whoever shows one of these; without any, for everybody.
    #[must_use]
    pub fn new(tokens: Option<&[Zeroizing<String>]>) -> Door {
        let digests = |tokens: &[Zeroizing<String>]| tokens.iter().map(|token| digest(token)).collect();
        Door(tokens.map(digests))
    }

    fn opens(&self, header: Option<&str>) -> bool {
        let Some(known) = &self.0 else {
            return true;
        };
        let (scheme, token) = header.and_then(|header| header.split_once(' ')).unwrap_or_default();
        let given = digest(token.trim());
        let matches = |digest: &[u8; 32]| digest.iter().zip(given).fold(0, |all, (a, b)| all | (a ^ b)) == 0;
        let found = known.iter().fold(false, |found, digest| found | matches(digest));
        found && scheme.eq_ignore_ascii_case("bearer")
    }
}

impl Interceptor for Door {
    fn call(&mut self, request: Request<()>) -> Result<Request<()>, Status> {
        let header = request.metadata().get("authorization").and_then(|value| value.to_str().ok());
        if self.opens(header) { Ok(request) } else { Err(Status::unauthenticated("a token is wanted")) }
    }
}

fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_door_opens_for_its_tokens_only() {
        let tokens = ["0123456789abcdef", "fedcba9876543210"].map(|token| Zeroizing::new(token.to_owned()));
        let door = Door::new(Some(&tokens));
        assert!(door.opens(Some("Bearer 0123456789abcdef")) && door.opens(Some("bearer fedcba9876543210")));
        for wrong in [
            None,
            Some("Bearer "),
            Some("Bearer x"),
            Some("0123456789abcdef"),
            Some("Basic 0123456789abcdef"),
        ] {
            assert!(!door.opens(wrong), "{wrong:?}");
        }
        assert!(Door::new(None).opens(None));
    }
}
