//! A server of its own that writes down every statement, and on which nobody else takes numbers for transactions.

use crate::support::postgres::{Cluster, USER};
use postgres::{Client, NoTls};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Begins each line of the log; what goes on in the next line begins with a tab.
const PREFIX: &str = "@@";

/// A database of that server, which nobody else works on meanwhile.
pub struct Watched {
    name: &'static str,
    _alone: MutexGuard<'static, ()>,
}

fn server() -> &'static Cluster {
    static SERVER: OnceLock<Cluster> = OnceLock::new();
    SERVER.get_or_init(|| {
        let prefix = format!("log_line_prefix={PREFIX}%d{PREFIX}%a{PREFIX}");
        Cluster::start(5432, &["log_statement=all", "max_connections=20", &prefix], |_| {})
    })
}

impl Watched {
    pub fn database(name: &'static str) -> Watched {
        static ALONE: Mutex<()> = Mutex::new(());
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        server().client().batch_execute(&format!("CREATE DATABASE {name}")).unwrap();
        Watched { name, _alone: alone }
    }

    pub fn url(&self) -> String {
        format!("host={} user={USER} dbname={}", server().socket.display(), self.name)
    }

    pub fn client(&self) -> Client {
        Client::connect(&format!("{} application_name=test", self.url()), NoTls).unwrap()
    }

    /// Every statement so far of who calls himself jobdoctor, in their order.
    pub fn statements(&self) -> Vec<String> {
        let log = format!("\n{}", server().log());
        let ours = format!("{}{PREFIX}jobdoctor/", self.name);
        let begin = format!("\n{PREFIX}");
        let lines = log.split(&begin).filter_map(|line| line.strip_prefix(&ours));
        let text = |line: &str| {
            let (_, said) = line.split_once(&format!("{PREFIX}LOG:  "))?;
            let statement = said
                .strip_prefix("statement: ")
                .or_else(|| said.strip_prefix("execute ")?.split_once(": ").map(|(_, sql)| sql));
            statement.map(str::to_owned)
        };
        lines.filter_map(text).collect()
    }
}
