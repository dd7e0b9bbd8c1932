//! Which server gets which password.

use super::passfile::{self, PassFile, Wanted};
use super::server::{Server, ServerPlace, default_socket_directory};
use super::settings::{Origin, Settings};
use super::{Password, Surroundings};
use std::path::{Path, PathBuf};

/// Gives each server its password: from the file that was named for it, the settings, or the line of the password file that
/// fits it.
pub(super) fn hand_out(
    servers: &mut [Server],
    settings: &Settings,
    surroundings: &Surroundings,
    user: &str,
    database: &str,
) -> Search {
    let one = match (&surroundings.password, settings.text("password")) {
        (Some((password, file)), _) => Some((password.clone(), Origin::PasswordFile(file.clone()))),
        (None, Some(text)) => Some((Password(text.as_bytes().to_vec()), settings.origin("password"))),
        (None, None) => None,
    };
    if let Some((password, origin)) = one {
        servers.iter_mut().for_each(|server| server.password = Some(password.clone()));
        return Search { origin: Some(origin), in_vain: None, warnings: Vec::new() };
    }
    let path = settings.text("passfile").map(PathBuf::from).or_else(|| passfile::usual_place(surroundings));
    let in_vain = |why: String| Search { origin: None, in_vain: Some(why), warnings: Vec::new() };
    let Some(path) = path else { return in_vain("there is no home directory with a .pgpass".to_owned()) };
    let file = match passfile::read(&path) {
        Ok(None) => return in_vain(format!("there is no password file {}", path.display())),
        Ok(Some(file)) => file,
        Err(why) => return Search { warnings: vec![why.clone()], ..in_vain(why) },
    };
    let mut origin = None;
    for server in servers.iter_mut() {
        let found = look_up(server, &file, user, database);
        // An empty one is none, though it ends the search.
        server.password = found.filter(|(password, _)| !password.0.is_empty()).map(|(password, line)| {
            origin.get_or_insert(Origin::PassFile(file.path.clone(), line));
            password
        });
    }
    let wanted: Vec<String> =
        servers.iter().map(|server| format!("{}:{}:{database}:{user}", name_in_file(server), server.port)).collect();
    match origin {
        Some(origin) => Search { origin: Some(origin), in_vain: None, warnings: Vec::new() },
        None => in_vain(format!("{} has no line for {}", path.display(), wanted.join(" or "))),
    }
}

/// How the search for a password went.
pub(super) struct Search {
    /// Where one was found.
    pub(super) origin: Option<Origin>,
    /// Where none was found.
    pub(super) in_vain: Option<String>,
    /// What is wrong with the password file.
    pub(super) warnings: Vec<String>,
}

fn look_up(server: &Server, file: &PassFile, user: &str, database: &str) -> Option<(Password, usize)> {
    file.password(&Wanted { host: &name_in_file(server), port: &server.port.to_string(), database, user })
}

/// libpq looks the default socket up as localhost, and any other by its directory.
fn name_in_file(server: &Server) -> String {
    let is_usual = |directory: &Path| default_socket_directory().is_some_and(|usual| directory == Path::new(usual));
    match &server.place {
        ServerPlace::Socket(directory) if is_usual(directory) => "localhost".to_owned(),
        ServerPlace::Socket(directory) => directory.display().to_string(),
        ServerPlace::Host(name, _) => name.clone(),
    }
}
