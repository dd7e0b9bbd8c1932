//! Which server gets which password.

use super::passfile::{self, PassFile, Wanted};
use super::server::{Server, ServerPlace, default_socket_directory};
use super::settings::{Origin, Settings};
use super::{Password, Surroundings};
use std::path::{Path, PathBuf};

/// Gives each server its password: from the file that was named for it, the settings, or the line of the password file that
/// fits it. Gives back where it came from, and what was wrong with the file.
pub(super) fn hand_out(
    servers: &mut [Server],
    settings: &Settings,
    surroundings: &Surroundings,
    user: &str,
    database: &str,
) -> (Option<Origin>, Vec<String>) {
    let one = match (&surroundings.password, settings.text("password")) {
        (Some((password, file)), _) => Some((password.clone(), Origin::PasswordFile(file.clone()))),
        (None, Some(text)) => Some((Password(text.as_bytes().to_vec()), settings.origin("password"))),
        (None, None) => None,
    };
    if let Some((password, origin)) = one {
        servers.iter_mut().for_each(|server| server.password = Some(password.clone()));
        return (Some(origin), Vec::new());
    }
    let path = settings.text("passfile").map(PathBuf::from).or_else(|| passfile::usual_place(surroundings));
    let file = match path.as_deref().map(passfile::read) {
        None | Some(Ok(None)) => return (None, Vec::new()),
        Some(Ok(Some(file))) => file,
        Some(Err(why)) => return (None, vec![why]),
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
    (origin, Vec::new())
}

fn look_up(server: &Server, file: &PassFile, user: &str, database: &str) -> Option<(Password, usize)> {
    let host = match &server.place {
        // libpq looks the default socket up as localhost, and any other by its directory.
        ServerPlace::Socket(directory)
            if default_socket_directory().is_some_and(|usual| directory == Path::new(usual)) =>
        {
            "localhost".to_owned()
        }
        ServerPlace::Socket(directory) => directory.display().to_string(),
        ServerPlace::Host(name, _) => name.clone(),
    };
    file.password(&Wanted { host: &host, port: &server.port.to_string(), database, user })
}
