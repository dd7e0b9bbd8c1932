use super::SweepArgs;
use super::line::{Line, Word};
use super::quote;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::next_command::quoted;
use crate::store::{Address, ServerPlace};
use clap::builder::NonEmptyStringValueParser;

/// `jobdoctor generate kubernetes`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  jobdoctor generate kubernetes --db postgres://ops@db/app --image registry.internal/jobdoctor:1
  jobdoctor generate kubernetes --target shop --image registry.internal/jobdoctor:1 --restart")]
pub(super) struct Args {
    /// The image that has jobdoctor in it
    #[arg(long, value_name = "IMAGE", value_parser = NonEmptyStringValueParser::new())]
    image: String,
    /// Where the program is in the image
    #[arg(long, value_name = "PATH", default_value = "jobdoctor", value_parser = NonEmptyStringValueParser::new())]
    pub(super) program: String,
    /// Sweep what a pod of this name left behind, before its worker starts: an init container for a StatefulSet
    #[arg(long, conflicts_with_all = ["every", "older"])]
    pub(super) restart: bool,
    #[command(flatten)]
    pub(super) sweep: SweepArgs,
}

/// The resource, or the part of one.
pub(super) fn text(args: &Args, line: &Line) -> Result<String, CliError> {
    must_be_reachable(line)?;
    if args.image.contains(char::is_control) {
        return Err(CliError::new(Exit::Usage, "--image: a control character is part of no image's name"));
    }
    Ok(if args.restart { init_container(args, line) } else { cron_job(args, line) })
}

/// What lies on this host is not in a pod.
fn must_be_reachable(line: &Line) -> Result<(), CliError> {
    let here = match &line.address {
        Address::Sqlite { .. } => Some("a SQLite file is on this host, and no pod sees it".to_owned()),
        Address::Postgres(address) => {
            let socket = address.servers.iter().find_map(|server| match &server.place {
                ServerPlace::Socket(path) => Some(path),
                ServerPlace::Host(..) => None,
            });
            socket.map(|path| format!("the socket in {} is on this host, and no pod sees it", path.display()))
        }
    };
    let here = here.or_else(|| {
        let file = line.password_file.as_ref()?;
        Some(format!("the password file {} is on this host, and no pod sees it", file.display()))
    });
    match here {
        Some(why) => Err(CliError::new(Exit::Usage, why).hint(
            "name the database as pods reach it: --db postgres://user@host/app; the password goes into a Secret",
        )),
        None => Ok(()),
    }
}

fn cron_job(args: &Args, line: &Line) -> String {
    let (name, schedule) = (&line.name, args.sweep.every.cron());
    let mut text = comments(line);
    text.push_str(&format!(
        "apiVersion: batch/v1
kind: CronJob
metadata:
  name: {name}
spec:
  schedule: {}
  concurrencyPolicy: Forbid
  startingDeadlineSeconds: 60
  successfulJobsHistoryLimit: 1
  failedJobsHistoryLimit: 3
  jobTemplate:
    spec:
      backoffLimit: 2
      activeDeadlineSeconds: 900
      podFailurePolicy:
        rules:
          # Busy: tried again, and no failure.
          - action: Ignore
            onExitCodes:
              containerName: sweep
              operator: In
              values: [75]
          # Another try would end the same way: a person must look.
          - action: FailJob
            onExitCodes:
              containerName: sweep
              operator: In
              values: [2, 4, 5, 66, 70, 77, 78]
      template:
        spec:
          restartPolicy: Never
          automountServiceAccountToken: false
          securityContext:
            runAsNonRoot: true
            runAsUser: 65532
            runAsGroup: 65532
            fsGroup: 65532
          containers:
",
        quote::yaml(&schedule)
    ));
    text.push_str(&indented(&container("sweep", args, line), 12));
    text.push_str(&indented(&volumes(line), 10));
    text
}

fn init_container(args: &Args, line: &Line) -> String {
    let mut text = comments(line);
    text.push_str(
        "# A part of the pods' template: .spec.template.spec of a StatefulSet, whose pods come back under their names. The pods of a
# Deployment never do: sweep what they left with `sweep --restart --alive-from`.
initContainers:
",
    );
    text.push_str(&indented(&container("jobdoctor", args, line), 2));
    text.push_str(&volumes(line));
    text
}

/// What must be there before.
fn comments(line: &Line) -> String {
    let name = &line.name;
    let mut text = format!("# Give back the stuck jobs of {}.\n", line.about);
    if let Some(config) = &line.config {
        text.push_str(&format!(
            "# Before: kubectl create secret generic {name}-config --from-file=config.toml={}\n",
            quoted(&config.display().to_string())
        ));
    }
    let literals = secret_variables(line).into_iter().map(|name| format!(" --from-literal={}=\"${name}\"", key(name)));
    let literals: String = literals.collect();
    if !literals.is_empty() {
        text.push_str(&format!("# Before: kubectl create secret generic {name}{literals}\n"));
    }
    text
}

fn container(name: &str, args: &Args, line: &Line) -> String {
    let word = |word: &Word| match word {
        Word::Plain(word) => quote::container(word),
        // What Kubernetes puts in its place.
        Word::Host => quote::yaml("$(POD_NAME)"),
    };
    let words = std::iter::once(quote::container(&line.program)).chain(words(line).map(word));
    let mut text = format!("- name: {name}\n  image: {}\n  command:\n", quote::yaml(&args.image));
    words.for_each(|word| text.push_str(&format!("    - {word}\n")));
    text.push_str("  env:\n");
    for (name, value) in plain_variables(line) {
        text.push_str(&format!("    - name: {name}\n      value: {}\n", quote::container(value)));
    }
    for variable in secret_variables(line) {
        let (secret, key) = (&line.name, key(variable));
        text.push_str(&format!(
            "    - name: {variable}\n      valueFrom:\n        secretKeyRef:\n          name: {secret}\n          key: {key}\n"
        ));
    }
    if args.restart {
        text.push_str(
            "    - name: POD_NAME\n      valueFrom:\n        fieldRef:\n          fieldPath: metadata.name\n",
        );
    }
    text.push_str(
        "    - name: JOBDOCTOR_STATE_DIR
      value: /tmp/jobdoctor
  securityContext:
    allowPrivilegeEscalation: false
    readOnlyRootFilesystem: true
    capabilities:
      drop: [ALL]
  volumeMounts:
    # What a run did is in the ledger, if there is one: `jobdoctor init --ledger`. This goes with the pod.
    - name: jobdoctor-tmp
      mountPath: /tmp
",
    );
    if line.config.is_some() {
        text.push_str("    - name: jobdoctor-config\n      mountPath: /etc/jobdoctor\n      readOnly: true\n");
    }
    text
}

fn volumes(line: &Line) -> String {
    let mut text = "volumes:\n  - name: jobdoctor-tmp\n    emptyDir: {}\n".to_owned();
    if line.config.is_some() {
        text.push_str(&format!(
            "  - name: jobdoctor-config\n    secret:\n      secretName: {}-config\n      defaultMode: 256 # 0400\n",
            line.name
        ));
    }
    text
}

/// The words; the config file is where the pod has it.
fn words(line: &Line) -> impl Iterator<Item = &Word> {
    let plain = |word: &Word| match word {
        Word::Plain(word) => word.clone(),
        Word::Host => String::new(),
    };
    let mut skip = 0;
    line.words.iter().filter(move |word| {
        let word = plain(word);
        let begins = word == "--config" || word == "--db";
        skip = if begins { 2 } else { usize::saturating_sub(skip, 1) };
        skip == 0
    })
}

/// The address is a secret even where it holds no password: who may reach which database is nobody's business.
fn secret_variables(line: &Line) -> Vec<&str> {
    let is_said = line.words.iter().any(|word| matches!(word, Word::Plain(word) if word == "--db"));
    let addresses = line.variables.iter().map(|(name, _)| name.as_str()).filter(|name| is_address(name));
    is_said.then_some("JOBDOCTOR_DB").into_iter().chain(addresses).chain(line.secrets.iter().copied()).collect()
}

fn plain_variables(line: &Line) -> impl Iterator<Item = (&str, &str)> {
    let pairs = line.variables.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    pairs.filter(|(name, _)| !is_address(name))
}

fn is_address(name: &str) -> bool {
    ["JOBDOCTOR_DB", "DATABASE_URL"].contains(&name)
}

/// What a variable's value is called in the Secret.
fn key(variable: &str) -> &'static str {
    if is_address(variable) { "url" } else { "password" }
}

fn indented(text: &str, by: usize) -> String {
    let blanks = " ".repeat(by);
    text.lines().map(|line| format!("{blanks}{line}\n")).collect()
}
