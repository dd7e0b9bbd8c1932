use super::postgres::PostgresStore;
use super::sqlite::SqliteStore;
use super::{Address, Store};

/// The store at an address. Adding an engine is one line here.
pub fn open(address: &Address) -> Box<dyn Store> {
    match address {
        Address::Sqlite { path, network_files } => Box::new(SqliteStore::new(path, *network_files)),
        Address::Postgres(address) => Box::new(PostgresStore::new((**address).clone())),
    }
}
