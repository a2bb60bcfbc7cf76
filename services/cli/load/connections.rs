//! The connections of a run. Calls go round robin over all of them, so that two calls of one player reach different
//! servers where there are several.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::cli::access::Access;
use crate::cli::client::Client;
use crate::cli::failure::Failure;

/// Connections to one or more servers.
pub struct Connections {
    clients: Vec<Client>,
    next: AtomicUsize,
}

impl Connections {
    /// So many connections, each address with its share of them and at least one.
    ///
    /// # Errors
    /// [`Failure::Usage`] if an address is none or the token cannot be sent.
    pub fn with(addresses: &[String], access: &Access, count: usize) -> Result<Connections, Failure> {
        let count = count.max(addresses.len());
        let addresses = addresses.iter().cycle().take(count);
        let clients = addresses.map(|address| Client::with(address, access)).collect::<Result<_, _>>()?;
        Ok(Connections { clients, next: AtomicUsize::new(0) })
    }

    /// The next one.
    ///
    /// # Panics
    /// Never: there is at least one address.
    #[must_use]
    pub fn next(&self) -> Client {
        let next = self.next.fetch_add(1, Ordering::Relaxed);
        self.clients[next % self.clients.len()].clone()
    }
}
