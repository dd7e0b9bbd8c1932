//! What must be equal.

use super::case::{Case, Made};
use super::deliberate::is_refused_early;
use super::runs::{End, Lab};
use crate::support::impostor::Visit;
use jobdoctor::store::{Address, Origin, PostgresAddress, ServerPlace, Surroundings, Variables};
use serde_json::Value;
use std::fmt;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

#[derive(Debug, Default)]
pub struct Tally {
    /// Both got to a server, or to where none is.
    pub compared: usize,
    pub both_refused: usize,
    /// We alone refused what leads nowhere.
    pub refused_early: usize,
    pub failures: Vec<String>,
}

impl Tally {
    pub fn add(&mut self, other: Tally) {
        self.compared += other.compared;
        self.both_refused += other.both_refused;
        self.refused_early += other.refused_early;
        self.failures.extend(other.failures);
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} environments compared, {} refused by both, {} by us alone before they were tried",
            self.compared, self.both_refused, self.refused_early
        )
    }
}

/// Compares where psql and the program get to.
pub fn compare(lab: &mut Lab, case: &Case, tally: &mut Tally) {
    let (theirs, ours) = (lab.psql(case), lab.jobdoctor(case));
    let same = match (&theirs.end, &ours.end) {
        (End::Reached(theirs), End::Reached(ours)) => {
            theirs.len() == ours.len()
                && theirs.iter().zip(ours).all(|(theirs, ours)| seen(theirs) == seen_as(ours, theirs))
        }
        (End::Refused(_), End::Refused(code)) => [2, 66, 78].contains(code),
        (End::Unreachable, End::Unreachable) => true,
        _ => false,
    };
    match &theirs.end {
        _ if !same && ours.end == End::Refused(2) && is_refused_early(&ours.stderr) => tally.refused_early += 1,
        _ if !same => tally.failures.push(format!("{case}\npsql: {theirs:#?}\nthis program: {ours:#?}")),
        End::Refused(_) => tally.both_refused += 1,
        _ => tally.compared += 1,
    }
}

/// What of a visit must be the same.
type Seen<'v> = (&'v str, bool, bool, Vec<Option<&'v str>>);

fn seen(visit: &Visit) -> Seen<'_> {
    let parameter = |name: &str| visit.parameters.as_ref().and_then(|all| all.get(name)).map(String::as_str);
    let parameters = ["application_name", "user", "database", "options"].map(parameter).to_vec();
    let parameters = [parameters, vec![visit.password.as_deref()]].concat();
    (&visit.listener, visit.asked_for_tls, visit.asked_for_gss, parameters)
}

/// The same of a visit of ours: who was told no name calls itself psql, or jobdoctor. Who was told to have none still
/// tells the administrator who it is.
fn seen_as<'v>(ours: &'v Visit, theirs: &'v Visit) -> Seen<'v> {
    let (listener, tls, gss, mut parameters) = seen(ours);
    let name = seen(theirs).3[0];
    if name.is_none_or(|name| name == "psql") && parameters[0].is_some_and(|name| name.starts_with("jobdoctor/")) {
        parameters[0] = name;
    }
    (listener, tls, gss, parameters)
}

/// Compares what the library makes of an environment with what libpq makes of it.
pub fn compare_settings(lab: &mut Lab, case: &Case, tally: &mut Tally) {
    let made = case.made_in(&lab.impostor);
    let answer = lab.oracle.ask(&made);
    lab.impostor.visits();
    let surroundings = surroundings(&made);
    let resolved = match &made.address {
        Some(address) => Address::parse(address, &surroundings),
        None => Address::of_environment(&surroundings),
    };
    // Whether libpq refuses it or only failed to connect is told by psql's end, in the other test.
    let tried = |answer: &Value| {
        let error = answer["error"].as_str().unwrap_or_default();
        let connects =
            error.is_empty() || error.contains("connection to server") || error.contains("could not translate");
        // This one is looked at only by who waits for the connection, as psql does.
        let timeout = answer["settings"]["connect_timeout"].as_str();
        connects && timeout.is_none_or(|timeout| timeout.trim().parse::<i32>().is_ok())
    };
    match resolved {
        Ok(Address::Postgres(address)) if tried(&answer) => {
            tally.compared += 1;
            let differences = differences(&address, &answer);
            if !differences.is_empty() {
                tally.failures.push(format!("{case}\n{}", differences.join("\n")));
            }
        }
        Ok(Address::Postgres(_)) => {
            tally.failures.push(format!("{case}\nlibpq alone refuses: {}", answer["error"]));
        }
        // A mistyped first key makes it a path.
        Ok(Address::Sqlite { .. }) => tally.both_refused += usize::from(!tried(&answer)),
        Err(error) if tried(&answer) && is_refused_early(&error.message) => tally.refused_early += 1,
        Err(error) if tried(&answer) => tally.failures.push(format!("{case}\nwe alone refuse: {error}")),
        Err(_) => tally.both_refused += 1,
    }
}

fn differences(address: &PostgresAddress, answer: &Value) -> Vec<String> {
    let mut differences = Vec::new();
    let mut equal = |what: &str, theirs: Option<String>, ours: Option<String>| {
        if theirs != ours {
            differences.push(format!("libpq's {what} is {theirs:?}, ours {ours:?}"));
        }
    };
    let text = |name: &str| answer["settings"][name].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    equal("user", text("user"), Some(address.user.clone()));
    equal("dbname", text("dbname"), Some(address.database.clone()));
    equal("sslmode", text("sslmode"), Some(address.tls.mode.name().to_owned()));
    equal("options", text("options"), address.options.clone().filter(|options| !options.is_empty()));
    let name = text("application_name").or(text("fallback_application_name"));
    equal("application_name", name, address.application_name.clone());
    let timeout = text("connect_timeout").map(|seconds| seconds.trim().parse::<i64>().unwrap().max(0).to_string());
    equal("connect_timeout", timeout, address.connect_timeout.map(|timeout| timeout.as_secs().to_string()));
    // What `env` shows; where that is usual on the machine, libpq has no value of its own.
    for key in ["host", "port", "dbname", "user", "sslmode"] {
        let (_, value, origin) = address.settings.iter().find(|(name, ..)| *name == key).expect("each is shown");
        let is_usual = key == "host" && *origin == Origin::Default;
        let theirs = text(key).or((key == "port").then(|| "5432".to_owned()));
        equal(&format!("{key} as shown"), theirs, value.clone().filter(|_| !is_usual));
    }
    // The server that libpq is at: the first that could be tried at all.
    let port = answer["PQport"].as_str().map(str::trim).filter(|port| !port.is_empty()).unwrap_or("5432");
    let at = (answer["PQhost"].as_str().unwrap_or_default(), port.parse::<u16>().unwrap_or_default());
    let server = address.servers.iter().find(|server| {
        let place = match &server.place {
            ServerPlace::Socket(directory) => directory.display().to_string(),
            ServerPlace::Host(name, _) => name.clone(),
        };
        place == at.0 && server.port == at.1
    });
    equal("server", Some(format!("{at:?}")), server.map(|_| format!("{at:?}")));
    let password = server.and_then(|server| server.password.as_ref());
    let password = password.map(|password| String::from_utf8_lossy(&password.0).into_owned());
    let theirs = answer["PQpass"].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    equal("password", theirs, password.filter(|password| !password.is_empty()));
    differences
}

/// As the program has them.
fn surroundings(made: &Made) -> Surroundings {
    let variables = made.variables.iter().filter(|(name, value)| name.starts_with("PG") && !value.is_empty());
    Surroundings {
        variables: Variables(variables.map(|(name, value)| (name.clone(), value.clone())).collect()),
        home: Some(Path::to_owned(made.home())),
        user: Some(user().to_owned()),
        password: None,
        ..Surroundings::default()
    }
}

fn user() -> &'static str {
    static USER: OnceLock<String> = OnceLock::new();
    USER.get_or_init(|| {
        let said = Command::new("id").arg("-un").output().unwrap();
        String::from_utf8(said.stdout).unwrap().trim().to_owned()
    })
}
