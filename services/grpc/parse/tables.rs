//! Requests about tables as a whole.

use prost::Message;
use rules::command::Ask;
use rules::event::StopScope;
use rules::view::Viewer;
use rules::{Game, TableConfig};
use tables::{OperatorId, RequestId, TableId, TableKey};
use tonic::Status;
use uuid::Uuid;

use super::config::{config, game};
use super::page::{ListMark, size};
use super::{Change, Fields, change};
use crate::grpc::request::Mutating;
use crate::pb::v1;

/// The most tables that one stream watches.
const WATCHED: usize = 500;

/// A table to be opened.
#[derive(Debug)]
pub struct Opening {
    /// The caller's name for it.
    pub id: RequestId,
    /// Its fingerprint.
    pub payload: [u8; 32],
    /// The settings.
    pub config: TableConfig,
}

/// # Errors
/// INVALID_ARGUMENT with every fault.
pub fn create_table(m: &v1::CreateTableRequest) -> Result<Opening, Status> {
    let mut fields = Fields::default();
    let id = fields.request_id(&m.request_id);
    let config = config(&mut fields, m.config.as_ref());
    let opening = || Some(Opening { id: id?, payload: m.fingerprint(), config: config? });
    let value = opening();
    fields.done(value)
}

/// # Errors
/// INVALID_ARGUMENT with every fault.
pub fn update_table(operator: &OperatorId, m: &v1::UpdateTableRequest) -> Result<Change, Status> {
    change(operator, m, (&m.table_id, &m.etag), |f| {
        let config = Box::new(config(f, m.config.as_ref())?);
        Some(Ask::Configure { config })
    })
}

/// # Errors
/// INVALID_ARGUMENT with every fault.
pub fn pause_table(operator: &OperatorId, m: &v1::PauseTableRequest) -> Result<Change, Status> {
    change(operator, m, (&m.table_id, &m.etag), |f| {
        Some(Ask::Stop { scope: StopScope::Table, reason: f.text("reason", &m.reason, 1..=200)? })
    })
}

/// # Errors
/// INVALID_ARGUMENT with every fault.
pub fn resume_table(operator: &OperatorId, m: &v1::ResumeTableRequest) -> Result<Change, Status> {
    change(operator, m, (&m.table_id, &m.etag), |f| {
        let scope = match f.option::<v1::StopScope>("scope", m.scope)? {
            v1::StopScope::Unspecified | v1::StopScope::Table => StopScope::Table,
            v1::StopScope::Malfunction => StopScope::Malfunction,
            _ => {
                f.fault("scope", "TABLE or MALFUNCTION, or unspecified for TABLE");
                return None;
            }
        };
        Some(Ask::Resume { scope })
    })
}

/// # Errors
/// INVALID_ARGUMENT with every fault.
pub fn close_table(operator: &OperatorId, m: &v1::CloseTableRequest) -> Result<Change, Status> {
    change(operator, m, (&m.table_id, &m.etag), |f| {
        Some(Ask::Close { reason: f.text("reason", &m.reason, 0..=200)? })
    })
}

/// # Errors
/// INVALID_ARGUMENT with every fault.
pub fn get_table(operator: &OperatorId, m: &v1::GetTableRequest) -> Result<(TableKey, Viewer), Status> {
    let mut fields = Fields::default();
    let key = fields.table(operator, &m.table_id);
    let viewer = fields.viewer(m.viewer.as_ref());
    fields.done(key.zip(viewer))
}

/// From where a table is to be watched.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Start {
    /// From now on.
    Now,
    /// After this sequence.
    After(u64),
    /// After the message with this token, which stood in that field.
    Token(Vec<u8>, String),
}

/// Tables to be watched.
#[derive(Debug)]
pub struct Watch {
    /// Which, and from where.
    pub tables: Vec<(TableKey, Start)>,
    /// For whose eyes.
    pub viewer: Viewer,
}

/// # Errors
/// INVALID_ARGUMENT with every fault.
pub fn watch_table(operator: &OperatorId, m: &v1::WatchTableRequest) -> Result<Watch, Status> {
    let mut fields = Fields::default();
    let key = fields.table(operator, &m.table_id);
    let viewer = fields.viewer(m.viewer.as_ref());
    let start = fields.start("", m.after_sequence, &m.resume_token);
    let watch = |((key, viewer), start)| Watch { tables: vec![(key, start)], viewer };
    fields.done(key.zip(viewer).zip(start).map(watch))
}

impl Fields {
    /// From where; `of`: the name of the message that holds the fields, with a dot.
    fn start(&mut self, of: &str, after: Option<u64>, token: &[u8]) -> Option<Start> {
        match (after, token) {
            (None, []) => Some(Start::Now),
            (Some(after), []) => Some(Start::After(after)),
            (None, token) => Some(Start::Token(token.to_vec(), format!("{of}resume_token"))),
            (Some(_), _) => {
                self.fault(format!("{of}resume_token"), "one of after_sequence and resume_token, not both");
                None
            }
        }
    }
}

/// # Errors
/// INVALID_ARGUMENT with every fault.
pub fn watch_tables(operator: &OperatorId, m: &v1::WatchTablesRequest) -> Result<Watch, Status> {
    let mut fields = Fields::default();
    let viewer = fields.viewer(m.viewer.as_ref());
    if !(1..=WATCHED).contains(&m.tables.len()) {
        fields.fault("tables", format!("1 to {WATCHED} tables"));
        return fields.done(None);
    }
    let mut tables = Vec::with_capacity(m.tables.len());
    let mut seen = std::collections::HashSet::new();
    for (place, wanted) in m.tables.iter().enumerate() {
        let field = format!("tables[{place}].table_id");
        if let Some(key) = fields.table_at(&field, operator, &wanted.table_id) {
            if !seen.insert(key.table) {
                fields.fault(field, "each table once");
            }
            let of = format!("tables[{place}].");
            if let Some(start) = fields.start(&of, wanted.after_sequence, &wanted.resume_token) {
                tables.push((key, start));
            }
        }
    }
    fields.done(viewer.map(|viewer| Watch { tables, viewer }))
}

/// A page of tables.
#[derive(Debug)]
pub struct Page {
    /// The states wanted.
    pub states: Vec<v1::TableState>,
    /// The game wanted; `None` for both.
    pub game: Option<Game>,
    /// The last one of the page before.
    pub after: Option<TableId>,
    /// How many at most.
    pub size: usize,
    mark: ListMark,
}

impl Page {
    /// The token of the page after this table.
    #[must_use]
    pub fn token(&self, last: TableId) -> String {
        self.mark.token(last.0.as_bytes())
    }
}

/// # Errors
/// INVALID_ARGUMENT with every fault, or for the page token.
pub fn list_tables(operator: &OperatorId, m: &v1::ListTablesRequest) -> Result<Page, Status> {
    use v1::TableState as State;
    let mut f = Fields::default();
    let size = size(&mut f, m.page_size);
    let mut states: Vec<State> = f.choices("state", &m.states);
    if states.is_empty() {
        states = vec![State::Open, State::Paused, State::Closing];
    }
    let game = f.option::<v1::Game>("game", m.game).and_then(game);
    let size = f.done(size)?;

    let bare = v1::ListTablesRequest { page_size: 0, page_token: String::new(), ..m.clone() };
    let mark = ListMark::new(operator, "ListTables", &bare.encode_to_vec());
    let after = mark.place(&m.page_token)?.map(|place| TableId(Uuid::from_bytes(place)));
    Ok(Page { states, game, after, size, mark })
}
