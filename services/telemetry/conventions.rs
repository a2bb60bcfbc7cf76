//! The names of spans' attributes. Those of calls follow OpenTelemetry's conventions for RPC, which are not stable yet, and
//! those of the store its conventions for databases; the others are our own and do not change. No attribute holds a card,
//! a pivot or a player's name.

/// What the span is called; `tracing` hands it on under this name, and so the two that follow.
pub const SPAN_NAME: &str = "otel.name";
/// Server, client, internal.
pub const SPAN_KIND: &str = "otel.kind";
/// `ERROR`, if it went wrong.
pub const SPAN_STATUS: &str = "otel.status_code";

/// The kind of RPC.
pub const RPC_SYSTEM: &str = "rpc.system.name";
/// Its value here.
pub const GRPC: &str = "grpc";
/// The call, fully qualified: `fulcrum.v1.ActionService/Act`.
pub const RPC_METHOD: &str = "rpc.method";
/// How it ended, as gRPC spells it: `OK`, `NOT_FOUND`.
pub const RPC_STATUS: &str = "rpc.response.status_code";
/// What kind of error it was; absent if there was none.
pub const ERROR_TYPE: &str = "error.type";

/// The kind of database.
pub const DB_SYSTEM: &str = "db.system.name";
/// Its value for Redis.
pub const REDIS: &str = "redis";
/// What was asked of it: `EVALSHA`, `PIPELINE GET`, `PIPELINE`.
pub const DB_OPERATION: &str = "db.operation.name";
/// How many commands were sent together, if more than one.
pub const DB_BATCH: &str = "db.operation.batch.size";
/// Which server: its host.
pub const SERVER_ADDRESS: &str = "server.address";
/// Which server: its port.
pub const SERVER_PORT: &str = "server.port";

/// Whose table or call.
pub const OPERATOR: &str = "fulcrum.operator";
/// The table's id.
pub const TABLE: &str = "fulcrum.table.id";
/// The table's version after a commit.
pub const TABLE_VERSION: &str = "fulcrum.table.version";
/// The hand's number at its table.
pub const HAND: &str = "fulcrum.hand.number";
/// How the hand ended: `settled`, `voided`.
pub const HAND_OUTCOME: &str = "fulcrum.hand.outcome";
/// Why a hand is void: `malfunction`, `history_lost`, `requested`.
pub const VOID_REASON: &str = "fulcrum.void.reason";
/// The game: `texas`, `double`.
pub const GAME: &str = "fulcrum.game";
/// The limit: `no_limit`, `pot_limit`, `fixed_limit`.
pub const LIMIT: &str = "fulcrum.limit";
/// Small and big blind in minor units: `50/100`.
pub const STAKES: &str = "fulcrum.stakes";
/// The currency, ISO 4217.
pub const CURRENCY: &str = "fulcrum.currency";
/// How many players were dealt in.
pub const PLAYERS: &str = "fulcrum.players";
/// All pots together, in minor units.
pub const POT: &str = "fulcrum.pot";
/// How many pots.
pub const POTS: &str = "fulcrum.pots";
/// The rake, in minor units.
pub const RAKE: &str = "fulcrum.rake";
/// How many players won something.
pub const WINNERS: &str = "fulcrum.winners";
/// How many hands were shown at the end of a hand.
pub const SHOWN: &str = "fulcrum.showdown.shown";
/// How many were thrown away unseen.
pub const MUCKED: &str = "fulcrum.showdown.mucked";
/// The beginning of the hand is not kept any more: what is here is the rest of it.
pub const PARTIAL: &str = "fulcrum.hand.partial";
/// The version of the service that told the trace.
pub const VERSION: &str = "fulcrum.version";
/// The street: `pre_flop`, `flop`, `turn`, `river`.
pub const STREET: &str = "fulcrum.street";
/// The seat's number.
pub const SEAT: &str = "fulcrum.seat";
/// The player: a keyed hash of the id, or the id where the settings say so.
pub const PLAYER: &str = "fulcrum.player";
/// The turn's number in its hand.
pub const TURN: &str = "fulcrum.turn";
/// How a turn ended: `action`, `time_out`, `absent` (the rules decided at once for a player who has left or sits out),
/// `picked`, `picked_for_him`, `hand_ended`.
pub const TURN_ENDED: &str = "fulcrum.turn.ended";
/// What was done: `fold`, `check`, `call`, `bet`, `raise`.
pub const ACTION: &str = "fulcrum.action";
/// What lies before the player after it, in minor units.
pub const AMOUNT: &str = "fulcrum.amount";
/// It was his last chip.
pub const ALL_IN: &str = "fulcrum.all_in";
/// What was posted: `small_blind`, `big_blind`, `ante`.
pub const POST: &str = "fulcrum.post.kind";
/// How much time running clocks got back after an outage, ms.
pub const SHIFTED: &str = "fulcrum.clocks.shifted_ms";
/// The last version of a table before a loss of history.
pub const LOST_AFTER: &str = "fulcrum.history.lost_after";
/// The last version that is lost.
pub const LOST_UNTIL: &str = "fulcrum.history.lost_until";
/// How much of his time bank was used, ms.
pub const TIME_BANK: &str = "fulcrum.time_bank_ms";
/// The id of a settlement record.
pub const SETTLEMENT: &str = "fulcrum.settlement.id";
/// Who has acknowledged it.
pub const CONSUMER: &str = "fulcrum.consumer";
/// The reason of a refusal, as in the error's details.
pub const ERROR_REASON: &str = "fulcrum.error.reason";
/// What became of a commit: `done`, `conflict`, `unknown`.
pub const COMMIT_OUTCOME: &str = "fulcrum.commit.outcome";
/// What a wallet was asked: `debit`, `credit`, `cancel`, `find`.
pub const WALLET_CALL: &str = "fulcrum.wallet.call";
/// What it said.
pub const WALLET_OUTCOME: &str = "fulcrum.wallet.outcome";

/// The root span of a hand; also the key of its id.
pub const SPAN_HAND: &str = "hand";
/// A street of it; before the street's name.
pub const SPAN_STREET: &str = "street";
/// The turn of a player who has to bet; in keys with the numbers of turn and seat.
pub const SPAN_TURN: &str = "turn";
/// The time in which pivots are picked.
pub const SPAN_PIVOTS: &str = "pivots";
/// The pick of one player; in keys as well.
pub const SPAN_PICK: &str = "pick";
/// The showdown.
pub const SPAN_SHOWDOWN: &str = "showdown";
/// Pots, rake and winners; of a void hand what everybody got back.
pub const SPAN_SETTLEMENT: &str = "settlement";
/// From the settlement record to its acknowledgement; in keys with the consumer's name.
pub const SPAN_DELIVERY: &str = "delivery";
