//! Who may call, as the settings say: tokens, an issuer's keys, certificates.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use zeroize::Zeroizing;

use crate::cli::failure::Failure;
use crate::config::{ConfigError, Jwt, Settings};
use crate::grpc::{ClaimNames, JwtSettings, KeyReading, KeySource, ServeConfig, Tokens};

/// What the settings say about callers; the rest is by default.
///
/// # Errors
/// [`Failure::Usage`] if a name or a file cannot be used.
pub fn as_set(settings: &Settings) -> Result<ServeConfig, Failure> {
    let unusable = |error: ConfigError| Failure::Usage(error.to_string());
    let operators = settings.token_file().map(tokens).transpose()?;
    Ok(ServeConfig {
        administrators: administrators(settings.admin_token_file(), operators.as_ref())?,
        tokens: operators,
        jwt: Some(&settings.jwt).filter(|jwt| jwt.is_set()).map(issuer).transpose()?,
        identities: settings.identities().map_err(unusable)?,
        operators: settings.operators().map_err(unusable)?,
        insecure: settings.insecure,
        reflection: settings.reflection,
        ..ServeConfig::default()
    })
}

/// Who may call, in words.
pub fn callers(serving: &ServeConfig, listen: SocketAddr) -> String {
    let ways = [
        ("with a token", serving.tokens.is_some()),
        ("with a JWT", serving.jwt.is_some()),
        ("with a certificate", !serving.identities.is_empty()),
    ];
    let ways: Vec<&str> = ways.into_iter().filter_map(|(way, open)| open.then_some(way)).collect();
    match (ways.is_empty(), listen.ip().is_loopback()) {
        (false, _) => ways.join(" or "),
        (true, true) => "anybody on this machine, as the operator dev".to_owned(),
        (true, false) => "INSECURE: anybody who reaches it, as the operator dev".to_owned(),
    }
}

fn issuer(jwt: &Jwt) -> Result<JwtSettings, Failure> {
    let unusable = |what: String| Failure::Usage(format!("jwt.{what}"));
    let authority = jwt.ca_file().map(fs::read).transpose();
    let authority = authority.map_err(|error| unusable(format!("ca_file: {error}")))?;
    let source = KeySource::new(&jwt.jwks, authority.as_deref());
    let source = source.map_err(|fault| unusable(format!("jwks: {:?}: {fault}", jwt.jwks)))?;
    // A file is there or it is not; an issuer may be away for the moment.
    source.check().map_err(|fault| unusable(format!("jwks: {:?}: {fault}", jwt.jwks)))?;
    Ok(JwtSettings {
        issuer: jwt.issuer.clone(),
        audience: jwt.audience.clone(),
        reading: KeyReading {
            source,
            every: Duration::from_secs(jwt.refresh_seconds),
            kept: Duration::from_secs(jwt.keep_seconds),
        },
        skew: Duration::from_secs(jwt.clock_skew_seconds),
        claims: ClaimNames {
            operator: jwt.operator_claim.clone(),
            role: jwt.role_claim.clone(),
            player: jwt.player_claim.clone(),
        },
    })
}

fn tokens(path: &Path) -> Result<Tokens, Failure> {
    let unusable = |error: &dyn std::fmt::Display| {
        Failure::Usage(format!("the token file {} cannot be used: {error}", path.display()))
    };
    let text = fs::read_to_string(path).map(Zeroizing::new).map_err(|error| unusable(&error))?;
    Tokens::read(&text).map_err(|error| unusable(&error))
}

/// The administrators' tokens. One that is an operator's too would be somebody else's at every other call.
fn administrators(path: Option<&Path>, operators: Option<&Tokens>) -> Result<Option<Tokens>, Failure> {
    let Some(path) = path else {
        return Ok(None);
    };
    let administrators = tokens(path)?;
    if operators.is_some_and(|operators| operators.shares(&administrators)) {
        return Err(Failure::Usage(format!(
            "a token in the file of administrators {} is an operator's too: give administrators tokens of their own",
            path.display()
        )));
    }
    Ok(Some(administrators))
}
