use super::postgres::PostgresStore;
use super::sqlite::SqliteStore;
use super::{Address, Store};

/// The store at an address. Adding an engine is one line here.
pub fn open(address: &Address) -> Box<dyn Store> {
    match address {
        Address::Sqlite { path, network_files, foreign_keys } => {
            Box::new(SqliteStore::new(path, *network_files, *foreign_keys))
        }
        Address::Postgres(address) => Box::new(PostgresStore::new((**address).clone())),
    }
}
