//! The only place that reads environment variables; and the user, the host and the state directory.

use super::CliError;
use crate::history::Directory;
use crate::model::Actor;
use crate::store::{Interrupt, Surroundings, Variables, may_hold_password};
use nix::unistd::{User, geteuid};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The variables, and what each is for. Those of libpq mean what they mean there.
pub const VARIABLES: [(&str, &str); 55] = [
    ("CLICOLOR", "0 turns colour off"),
    ("CLICOLOR_FORCE", "anything but 0 turns colour on, even where nothing is a terminal"),
    ("COLUMNS", "the width to lay tables out for"),
    ("DATABASE_URL", "the database, where neither --db, JOBDOCTOR_DB nor the config file names one"),
    ("HOME", "where .config, .local/state, .pgpass, .pg_service.conf and .postgresql are"),
    ("JOBDOCTOR_COMPLETE", "a shell, such as bash: prints its completion script, or completions of the words after --"),
    ("JOBDOCTOR_CONFIG", "the config file, unless --config names one"),
    ("JOBDOCTOR_DB", "the database, unless --db names one"),
    ("JOBDOCTOR_PASSWORD_FILE", "a file with the password, unless --password-file names one"),
    ("JOBDOCTOR_STATE_DIR", "where journals are kept, in a directory journal, and locks, in a directory locks"),
    ("JOBDOCTOR_TARGET", "the target of the config file, unless --target names one"),
    ("LANG", "passed on to the program of on_run"),
    ("NO_COLOR", "anything turns colour off"),
    ("PATH", "passed on to the program of on_run"),
    ("PGAPPNAME", "the application_name of the connection, instead of jobdoctor/VERSION COMMAND"),
    ("PGCHANNELBINDING", "disable, prefer or require"),
    ("PGCLIENTENCODING", "UTF8 or auto; any other is refused"),
    ("PGCONNECT_TIMEOUT", "seconds to wait for each server; 0 means that only --timeout limits it"),
    ("PGDATABASE", "the database, where an address leaves it open"),
    ("PGGSSDELEGATION", "refused, unless 0"),
    ("PGGSSENCMODE", "disable or prefer; require is refused"),
    ("PGGSSLIB", "refused"),
    ("PGHOST", "the host or socket directory, where an address leaves it open"),
    ("PGHOSTADDR", "its IP address"),
    ("PGKRBSRVNAME", "refused"),
    ("PGLOADBALANCEHOSTS", "random tries the hosts in random order"),
    ("PGOPTIONS", "options for the server, which poolers may refuse"),
    ("PGPASSFILE", "the password file, instead of ~/.pgpass"),
    ("PGPASSWORD", "the password, where an address has none"),
    ("PGPORT", "the port, where an address leaves it open"),
    ("PGREQUIREAUTH", "refused"),
    ("PGREQUIREPEER", "refused"),
    ("PGREQUIRESSL", "1 is the old word for PGSSLMODE=require"),
    ("PGSERVICE", "the service, a group of settings in a service file"),
    ("PGSERVICEFILE", "the service file, instead of ~/.pg_service.conf"),
    ("PGSSLCERT", "the client's certificate, instead of ~/.postgresql/postgresql.crt"),
    ("PGSSLCERTMODE", "disable or allow; require is refused"),
    ("PGSSLCOMPRESSION", "refused, unless 0"),
    ("PGSSLCRL", "revoked certificates, instead of ~/.postgresql/root.crl"),
    ("PGSSLCRLDIR", "a directory of them"),
    ("PGSSLKEY", "the client's key, instead of ~/.postgresql/postgresql.key"),
    ("PGSSLMAXPROTOCOLVERSION", "TLSv1.2 or TLSv1.3"),
    ("PGSSLMINPROTOCOLVERSION", "TLSv1.2 or TLSv1.3; older versions are not supported"),
    ("PGSSLMODE", "disable, allow, prefer, require, verify-ca or verify-full"),
    ("PGSSLNEGOTIATION", "direct speaks TLS from the first byte"),
    ("PGSSLROOTCERT", "whom to trust, instead of ~/.postgresql/root.crt; or system"),
    ("PGSSLSNI", "0 keeps the host's name out of the handshake"),
    ("PGSYSCONFDIR", "where the system's pg_service.conf is"),
    ("PGTARGETSESSIONATTRS", "which of several servers is acceptable"),
    ("PGUSER", "the user, where an address leaves it open"),
    ("SSL_CERT_DIR", "with sslrootcert=system, where the system's certificates are"),
    ("SSL_CERT_FILE", "with sslrootcert=system, the file that they are in"),
    ("TERM", "dumb turns colour off"),
    ("XDG_CONFIG_HOME", "where jobdoctor/config.toml is"),
    ("XDG_STATE_HOME", "where jobdoctor/journal is, unless JOBDOCTOR_STATE_DIR says"),
];

#[derive(Clone, Default)]
pub struct Environment {
    variables: BTreeMap<&'static str, String>,
    /// Ends the reading of a pipe that it or the command line names.
    pub interrupt: Interrupt,
    /// The text of the config file, once it was read: it may be a pipe.
    pub config: Arc<OnceLock<String>>,
}

impl Environment {
    /// Reads the listed variables. As in most tools, an empty one counts as unset.
    pub fn read() -> Environment {
        let value = |name: &str| -> Option<OsString> {
            #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]
            std::env::var_os(name)
        };
        let known = VARIABLES.iter().filter_map(|(name, _)| {
            let value = value(name)?.to_string_lossy().into_owned();
            (!value.is_empty()).then_some((*name, value))
        });
        Environment { variables: known.collect(), ..Environment::default() }
    }

    /// Refuses a variable that holds an address where none belongs: what it names would be shown.
    pub fn refuse_misplaced_passwords(&self) -> Result<(), CliError> {
        let is_ours = |name: &str| name.starts_with("PG") || name.starts_with("JOBDOCTOR_");
        let may_have_one = |name: &str| ["JOBDOCTOR_DB", "PGPASSWORD"].contains(&name);
        let misplaced =
            |(name, value): &(&&str, &String)| is_ours(name) && !may_have_one(name) && may_hold_password(value);
        let Some((name, _)) = self.variables.iter().find(misplaced) else { return Ok(()) };
        let message = format!("{name} looks like an address with a password (it is not shown)");
        Err(CliError::usage(message).hint("an address belongs in JOBDOCTOR_DB or DATABASE_URL"))
    }

    /// The value of a variable that is listed.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// What an address may refer to: libpq's variables, the user and the home directory.
    pub fn surroundings(&self) -> Surroundings {
        let variables = self.variables.iter().filter(|(name, _)| name.starts_with("PG"));
        // Like libpq: the user that the system knows this process by, whatever USER and LOGNAME say.
        let user = User::from_uid(geteuid()).ok().flatten();
        Surroundings {
            variables: Variables(variables.map(|(name, value)| ((*name).to_owned(), value.clone())).collect()),
            home: self.get("HOME").map(PathBuf::from).or_else(|| user.as_ref().map(|user| user.dir.clone())),
            user: user.map(|user| user.name),
            source: "the address".to_owned(),
            password: None,
        }
    }

    /// The directory of journals and locks, and what named it; `None` if nothing does.
    pub fn state_directory(&self) -> Option<(PathBuf, &'static str)> {
        let absolute = |name: &str| self.get(name).map(Path::new).filter(|path| path.is_absolute());
        let own = self.get("JOBDOCTOR_STATE_DIR").map(|path| (PathBuf::from(path), "JOBDOCTOR_STATE_DIR"));
        let state = || absolute("XDG_STATE_HOME").map(|path| (path.join("jobdoctor"), "XDG_STATE_HOME"));
        let home = || absolute("HOME").map(|path| (path.join(".local/state/jobdoctor"), "default"));
        own.or_else(state).or_else(home)
    }

    pub fn journals(&self) -> Option<Directory> {
        self.state_directory().map(|(path, _)| Directory::in_state(&path))
    }

    pub fn locks(&self) -> Option<Directory> {
        self.state_directory().map(|(path, _)| Directory::of_locks(&path))
    }
}

pub fn host() -> Option<String> {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    (!host.is_empty()).then_some(host)
}

pub fn actor() -> Actor {
    let user = geteuid();
    Actor { user: User::from_uid(user).ok().flatten().map(|user| user.name), uid: Some(user.as_raw()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variable_of_libpq_is_read() {
        for (name, key) in crate::store::variables() {
            assert!(VARIABLES.iter().any(|(known, _)| *known == name), "{name}, which stands for {key}");
        }
        assert!(VARIABLES.is_sorted(), "in the order of the alphabet");
    }
}
