//! Environments that nobody thought of. The same number always makes the same one.

use super::case::Case;
use crate::support::dice::Dice;

fn one_of<T: Copy>(dice: &mut Dice, of: &[T]) -> T {
    *dice.pick(of)
}

const NAMES: [&str; 14] = [
    "ops",
    "Ops",
    "o'brien",
    r"back\slash",
    "two words",
    "\u{fc}ser",
    "a=b",
    "a:b",
    "a@b",
    "a/b",
    "q?x&y",
    "#hash",
    "tab\there",
    "%41",
];
const PASSWORDS: [&str; 8] = ["secret", "p@ss", "pa:ss", r"pa\ss", "it's", "a/b?c#d", "\u{1F511}\u{fc}", "x&y=z"];
const OPTIONS: [&str; 4] = ["-c geqo=off", "-c work_mem=1MB -c geqo=off", r"-c search_path=a\ b", "--x=y"];
const MODES: [&str; 4] = ["disable", "allow", "prefer", "require"];
const ATTRIBUTES: [&str; 6] = ["any", "read-write", "read-only", "primary", "standby", "prefer-standby"];

/// The keys of one layer with their values; their order is that in which they are written.
type Pairs = Vec<(&'static str, String)>;

pub fn case(seed: u64) -> Case {
    let dice = &mut Dice::of(seed);
    let mut case = Case::named(format!("random {seed}"));
    let mut address = layer(dice, 60);
    let mut service = layer(dice, 40);
    let mut variables = layer(dice, 35);
    if ![&address, &service, &variables].iter().any(|pairs| pairs.iter().any(|(key, _)| key.starts_with("host"))) {
        address.extend(place(dice));
    }
    if dice.percent(30) {
        let named = if dice.percent(50) { &mut address } else { &mut variables };
        named.push(("service", "app".to_owned()));
        case = with_services(case, dice, &mut service);
    }
    if dice.percent(50) {
        case = with_passes(case, dice, &mut variables, &mut address);
    }
    for (key, value) in variables {
        if let Some(name) = variable(key).filter(|_| !value.is_empty()) {
            case = case.var(name, value);
        }
    }
    let stands_alone =
        ["PGHOST", "PGHOSTADDR", "PGDATABASE", "PGSERVICE"].iter().any(|name| case.variables.contains_key(*name));
    if stands_alone && dice.percent(15) {
        return case;
    }
    let text = if dice.percent(50) { uri(dice, &address) } else { pairs(dice, &address) };
    case.db(text)
}

/// Where it is: hosts and ports that go together, as a rule.
fn place(dice: &mut Dice) -> Pairs {
    let count = one_of(dice, &[1, 1, 1, 1, 2, 2, 3]);
    let list =
        |dice: &mut Dice, of: &[&str], count: usize| (0..count).map(|_| one_of(dice, of)).collect::<Vec<_>>().join(",");
    let ports = ["{p1}", "{p2}", "{p1}", "{p2}", "{p1}", "{p2}", "1", "{starting}"];
    let mut pairs = Pairs::new();
    if dice.percent(12) {
        pairs.push(("hostaddr", list(dice, &["127.0.0.1", "127.0.0.1", "127.0.0.1", "127.0.0.2", "::1"], count)));
        if dice.percent(60) {
            pairs.push(("host", list(dice, &["db.invalid", "localhost", "{d1}"], count)));
        }
    } else {
        pairs.push((
            "host",
            list(dice, &["127.0.0.1", "localhost", "{d1}", "{d2}", "{d1}", "{d2}", "/nonexistent"], count),
        ));
    }
    match dice.below(20) {
        0 => {}
        1 => pairs.push(("port", list(dice, &ports, count + 1))),
        2..8 => pairs.push(("port", list(dice, &ports, 1))),
        _ => pairs.push(("port", list(dice, &ports, count))),
    }
    pairs
}

fn layer(dice: &mut Dice, chance: usize) -> Pairs {
    let mut pairs = if dice.percent(chance) { place(dice) } else { Pairs::new() };
    let text = |pairs: &mut Pairs, dice: &mut Dice, key, chance: usize, of: &[&str]| {
        if dice.percent(chance) {
            let value = if dice.percent(5) { "" } else { one_of(dice, of) };
            pairs.push((key, value.to_owned()));
        }
    };
    text(&mut pairs, dice, "user", chance, &NAMES);
    text(&mut pairs, dice, "dbname", chance, &NAMES);
    text(&mut pairs, dice, "password", chance / 2, &PASSWORDS);
    text(&mut pairs, dice, "application_name", 15, &NAMES);
    text(&mut pairs, dice, "options", 10, &OPTIONS);
    if dice.percent(20) {
        pairs.push(("sslmode", one_of(dice, &MODES).to_owned()));
    }
    if dice.percent(8) {
        pairs.push(("target_session_attrs", one_of(dice, &ATTRIBUTES).to_owned()));
    }
    for n in (1..pairs.len()).rev() {
        pairs.swap(n, dice.below(n + 1));
    }
    pairs
}

fn variable(key: &str) -> Option<&'static str> {
    Some(match key {
        "host" => "PGHOST",
        "hostaddr" => "PGHOSTADDR",
        "port" => "PGPORT",
        "dbname" => "PGDATABASE",
        "user" => "PGUSER",
        "password" => "PGPASSWORD",
        "passfile" => "PGPASSFILE",
        "service" => "PGSERVICE",
        "sslmode" => "PGSSLMODE",
        "application_name" => "PGAPPNAME",
        "options" => "PGOPTIONS",
        "target_session_attrs" => "PGTARGETSESSIONATTRS",
        _ => return None,
    })
}

fn pairs(dice: &mut Dice, pairs: &Pairs) -> String {
    let mut text = String::new();
    for (n, (key, value)) in pairs.iter().enumerate() {
        if dice.percent(4) {
            text.push_str(&format!("{key}='overruled' "));
        }
        let escaped: String = value
            .chars()
            .map(|c| match c {
                '\'' | '\\' => format!("\\{c}"),
                c if dice.percent(3) && c != '{' && c != '}' && !value.contains('{') => format!("\\{c}"),
                c => c.to_string(),
            })
            .collect();
        let bare = !value.is_empty() && dice.percent(60);
        let value = match bare {
            true => escaped.replace(' ', "\\ ").replace('\t', "\\\t"),
            false => format!("'{escaped}'"),
        };
        let equals = one_of(dice, &["=", "=", "=", "=", " = ", "= ", " =", "\t=\n"]);
        let end = if n + 1 == pairs.len() && dice.percent(50) {
            ""
        } else {
            one_of(dice, &[" ", " ", " ", "  ", "\t", "\n"])
        };
        text.push_str(&format!("{key}{equals}{value}{end}"));
    }
    if text.is_empty() { "dbname=app".to_owned() } else { text }
}

/// A URL. What stands at its own place may stand among the parameters too.
fn uri(dice: &mut Dice, pairs: &Pairs) -> String {
    let mut parameters: Vec<String> = Vec::new();
    let (mut user, mut password, mut database) = (String::new(), String::new(), String::new());
    let (mut hosts, mut ports): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    let plain = dice.percent(80);
    let value = |key: &str| pairs.iter().find(|(name, _)| *name == key).map(|(_, value)| value.as_str());
    let counts = |key: &str| value(key).map_or(0, |value| value.split(',').count());
    let inline = plain && counts("host") > 0 && (counts("port") == counts("host") || counts("port") == 0);
    for (key, value) in pairs {
        match *key {
            "user" if plain => user = encoded(dice, value),
            "password" if plain => password = format!(":{}", encoded(dice, value)),
            "dbname" if plain => database = encoded(dice, value),
            "host" if inline => hosts = value.split(',').map(|host| host_in_uri(dice, host)).collect(),
            "port" if inline => ports = value.split(',').map(|port| format!(":{port}")).collect(),
            key => parameters.push(format!("{key}={}", encoded(dice, value))),
        }
    }
    let at = if user.is_empty() && password.is_empty() { "" } else { "@" };
    let hosts: Vec<String> = hosts
        .iter()
        .enumerate()
        .map(|(n, host)| format!("{host}{}", ports.get(n).map_or("", String::as_str)))
        .collect();
    let slash = if database.is_empty() && dice.percent(50) { "" } else { "/" };
    let scheme = one_of(dice, &["postgres", "postgresql"]);
    let question = if parameters.is_empty() { one_of(dice, &["", "", "", "?"]) } else { "?" };
    format!("{scheme}://{user}{password}{at}{}{slash}{database}{question}{}", hosts.join(","), parameters.join("&"))
}

fn host_in_uri(dice: &mut Dice, host: &str) -> String {
    match host {
        "{d1}" => "{e1}".to_owned(),
        "{d2}" => "{e2}".to_owned(),
        host if host.contains(':') => format!("[{host}]"),
        host if dice.percent(10) => format!("[{}]", encoded(dice, host)),
        host => encoded(dice, host),
    }
}

/// Percent-encoded where it must be, and here and there where it need not be.
fn encoded(dice: &mut Dice, value: &str) -> String {
    if value.contains('{') {
        return value.to_owned();
    }
    let mut text = String::new();
    for byte in value.bytes() {
        let plain = byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        match plain && !dice.percent(5) {
            true => text.push(char::from(byte)),
            false if dice.percent(50) => text.push_str(&format!("%{byte:02x}")),
            false => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

fn with_services(case: Case, dice: &mut Dice, service: &mut Pairs) -> Case {
    let end = if dice.percent(20) { "\r\n" } else { "\n" };
    let mut lines = vec!["[other]".to_owned(), "user=nobody".to_owned(), "host=other.invalid".to_owned()];
    lines.truncate(dice.below(4));
    lines.push(one_of(dice, &["[app]", "[app]", "  [app]", "[app]  # ours"]).to_owned());
    for (key, value) in service.drain(..) {
        if dice.percent(10) {
            lines.push(one_of(dice, &["", "# user=nobody", "   ", "\t# x"]).to_owned());
        }
        let (before, after) = (one_of(dice, &["", "", "", " ", "\t"]), one_of(dice, &["", "", "", "  "]));
        lines.push(format!("{before}{key}={value}{after}"));
    }
    if dice.percent(20) {
        lines.extend(["[app]".to_owned(), "user=second".to_owned(), "bogus".to_owned()]);
    }
    let text = lines.join(end) + if dice.percent(80) { end } else { "" };
    match dice.below(4) {
        0 => case.file("services", text).var("PGSERVICEFILE", "{home}/services").services("[app]\nuser=wrong\n"),
        1 => case.file("etc/pg_service.conf", text).var("PGSYSCONFDIR", "{home}/etc"),
        2 => case.services(text).file("etc/pg_service.conf", "[app]\nuser=wrong\n").var("PGSYSCONFDIR", "{home}/etc"),
        _ => case.services(text),
    }
}

fn with_passes(case: Case, dice: &mut Dice, variables: &mut Pairs, address: &mut Pairs) -> Case {
    let end = if dice.percent(15) { "\r\n" } else { "\n" };
    let field = |dice: &mut Dice, of: &[&str]| {
        if dice.percent(65) { "*".to_owned() } else { one_of(dice, of).replace('\\', "\\\\").replace(':', "\\:") }
    };
    let lines: Vec<String> = (0..1 + dice.below(5))
        .map(|_| {
            if dice.percent(10) {
                return one_of(dice, &["", "#*:*:*:*:no", "*:*:*", "rubbish", ":::"]).to_owned();
            }
            let host = field(dice, &["127.0.0.1", "localhost", "{d1}", "{d2}", "::1", "db.invalid"]);
            let port = field(dice, &["{p1}", "{p2}", "5432"]);
            let (database, user) = (field(dice, &NAMES), field(dice, &NAMES));
            let password = one_of(dice, &PASSWORDS).replace('\\', "\\\\").replace(':', "\\:");
            format!("{host}:{port}:{database}:{user}:{password}")
        })
        .collect();
    let text = lines.join(end) + if end == "\r\n" || dice.percent(80) { end } else { "" };
    let mode = one_of(dice, &[0o600, 0o600, 0o600, 0o600, 0o600, 0o600, 0o400, 0o640, 0o604]);
    match dice.below(4) {
        0 => {
            variables.push(("passfile", "{home}/passes".to_owned()));
            case.file_of_mode("passes", text, mode).passes("*:*:*:*:wrong\n")
        }
        1 => {
            address.push(("passfile", "{home}/passes".to_owned()));
            case.file_of_mode("passes", text, mode)
        }
        _ => case.file_of_mode(".pgpass", text, mode),
    }
}
