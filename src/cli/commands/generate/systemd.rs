use super::SweepArgs;
use super::host::HostArgs;
use super::line::{Line, Word};
use super::quote;
use crate::cli::error::CliError;
use crate::store::{Address, ServerPlace};
use std::path::{Path, PathBuf};

/// `jobdoctor generate systemd`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  jobdoctor generate systemd --target shop --every 5m
  jobdoctor generate systemd --target shop --only timer > jobdoctor-sweep-shop.timer
  jobdoctor generate systemd --db postgres:///app --restart --worker shop-worker.service")]
pub(super) struct Args {
    /// Sweep what this host's workers left behind, before they start: a drop-in for their unit
    #[arg(long, conflicts_with_all = ["every", "older", "only", "user"])]
    pub(super) restart: bool,
    /// With --restart: the unit of the workers
    #[arg(long, value_name = "UNIT", default_value = "worker.service", requires = "restart", value_parser = parse_unit)]
    worker: String,
    /// Print one of the two files alone
    #[arg(long, value_name = "FILE")]
    only: Option<File>,
    #[command(flatten)]
    pub(super) host: HostArgs,
    #[command(flatten)]
    pub(super) sweep: SweepArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum File {
    /// What is run
    Service,
    /// When
    Timer,
}

/// The files, one below the other under their names.
pub(super) fn text(args: &Args, line: &Line) -> Result<String, CliError> {
    if args.restart {
        return Ok(drop_in(&args.worker, line));
    }
    let (service, timer) = (service(&args.host.user()?, line), timer(args, line));
    Ok(match args.only {
        None => format!("{service}\n{timer}"),
        Some(File::Service) => service,
        Some(File::Timer) => timer,
    })
}

fn service(user: &str, line: &Line) -> String {
    let Line { name, .. } = line;
    let about = line.about.replace('%', "%%");
    let mut unit = format!(
        "# /etc/systemd/system/{name}.service\n\
         # Then: systemctl daemon-reload && systemctl enable --now {name}.timer\n\
         # What was done: JOBDOCTOR_STATE_DIR=/var/lib/{name} jobdoctor history\n\
         [Unit]\n\
         Description=Give back the stuck jobs of {about}\n"
    );
    if line.server().is_some() {
        unit.push_str("Wants=network-online.target\nAfter=network-online.target\n");
    }
    unit.push_str(&format!(
        "\n[Service]\n\
         Type=oneshot\n\
         # Busy, try again: the timer does.\n\
         SuccessExitStatus=75\n\
         User={user}\n"
    ));
    unit.push_str(&environment_file(name, &line.secrets));
    for (name, value) in &line.variables {
        unit.push_str(&format!("Environment={}\n", quote::systemd(&format!("{name}={value}"))));
    }
    unit.push_str(&format!(
        "Environment=JOBDOCTOR_STATE_DIR=%S/{name}\n\
         StateDirectory={name}\n\
         StateDirectoryMode=0700\n\
         UMask=0077\n\
         ExecStart={}\n\n",
        command(line)
    ));
    unit.push_str(&hardening(line));
    unit
}

/// Nothing but its state and the file of a SQLite queue can be written, and sockets can be reached.
fn hardening(line: &Line) -> String {
    let writes: Vec<PathBuf> = match &line.address {
        // Next to the file lie its journal and its log.
        Address::Sqlite { path, .. } => {
            let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            path.parent().map(Path::to_owned).into_iter().collect()
        }
        Address::Postgres(_) => Vec::new(),
    };
    let sockets =
        line.server().into_iter().flat_map(|address| &address.servers).filter_map(|server| match &server.place {
            ServerPlace::Socket(directory) => Some(directory.clone()),
            ServerPlace::Host(..) => None,
        });
    // A private one would hide what is there.
    let is_temporary = |path: &PathBuf| path.starts_with("/tmp") || path.starts_with("/var/tmp");
    let shares_tmp = writes.iter().cloned().chain(sockets).chain(line.config.clone()).any(|path| is_temporary(&path));
    let mut lines = vec![
        "NoNewPrivileges=true".to_owned(),
        "ProtectSystem=strict".to_owned(),
        // Not hidden: a password file may be there.
        "ProtectHome=read-only".to_owned(),
    ];
    lines.push(if shares_tmp { "ReadWritePaths=/tmp".to_owned() } else { "PrivateTmp=true".to_owned() });
    for path in &writes {
        lines.push(format!("ReadWritePaths={}", quote::systemd(&path.display().to_string())));
    }
    lines.extend(
        [
            "PrivateDevices=true",
            "ProtectClock=true",
            "ProtectControlGroups=true",
            "ProtectKernelLogs=true",
            "ProtectKernelModules=true",
            "ProtectKernelTunables=true",
            "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6",
            "RestrictNamespaces=true",
            "RestrictRealtime=true",
            "RestrictSUIDSGID=true",
            "LockPersonality=true",
            "MemoryDenyWriteExecute=true",
            "SystemCallArchitectures=native",
            "SystemCallFilter=@system-service",
        ]
        .map(str::to_owned),
    );
    lines.join("\n") + "\n"
}

fn timer(args: &Args, line: &Line) -> String {
    let (name, every) = (&line.name, args.sweep.every);
    format!(
        "# /etc/systemd/system/{name}.timer\n\
         [Unit]\n\
         Description=Give back the stuck jobs of {}\n\n\
         [Timer]\n\
         OnCalendar={}\n\
         RandomizedDelaySec={}s\n\
         AccuracySec=1s\n\
         Persistent=true\n\n\
         [Install]\n\
         WantedBy=timers.target\n",
        line.about.replace('%', "%%"),
        every.calendar(),
        every.spread_seconds()
    )
}

/// What the workers' own variables say is left to them: theirs must not change.
fn drop_in(worker: &str, line: &Line) -> String {
    let is_ours = |name: &str| name.starts_with("JOBDOCTOR_");
    let (ours, theirs): (Vec<_>, Vec<_>) = line.variables.iter().partition(|(name, _)| is_ours(name));
    let (secrets, their_secrets): (Vec<&str>, Vec<&str>) = line.secrets.iter().copied().partition(|name| is_ours(name));
    let mut unit = format!(
        "# /etc/systemd/system/{worker}.d/jobdoctor.conf\n\
         # Then: systemctl daemon-reload. It runs as the workers do, and they start even if it fails: that is the `-`.\n"
    );
    let theirs: Vec<&str> = theirs.iter().map(|(name, _)| name.as_str()).chain(their_secrets).collect();
    if !theirs.is_empty() {
        unit.push_str(&format!("# The workers' own environment says where the database is: {}.\n", theirs.join(", ")));
    }
    unit.push_str("[Service]\n");
    unit.push_str(&environment_file(&line.name, &secrets));
    for (name, value) in ours {
        unit.push_str(&format!("Environment={}\n", quote::systemd(&format!("{name}={value}"))));
    }
    unit.push_str(&format!("ExecStartPre=-{}\n", command(line)));
    unit
}

/// Where the unit reads what is not printed.
fn environment_file(name: &str, secrets: &[&str]) -> String {
    if secrets.is_empty() {
        return String::new();
    }
    let names = secrets.join(" and ");
    format!(
        "# {names} not shown: it holds a password. Put NAME='value' into this file, root's alone (mode 0600).\n\
         EnvironmentFile=/etc/jobdoctor/{name}.env\n"
    )
}

fn command(line: &Line) -> String {
    let word = |word: &Word| match word {
        Word::Plain(word) => quote::exec(word),
        Word::Host => "%H".to_owned(),
    };
    std::iter::once(quote::exec(&line.program)).chain(line.words.iter().map(word)).collect::<Vec<_>>().join(" ")
}

fn parse_unit(text: &str) -> Result<String, String> {
    let inner = |c: char| c.is_ascii_alphanumeric() || "_-.@:\\".contains(c);
    let is_unit = text.len() > ".service".len() && text.ends_with(".service") && text.chars().all(inner);
    if is_unit {
        Ok(text.to_owned())
    } else {
        Err("it must be the name of a service, such as worker.service".to_owned())
    }
}
