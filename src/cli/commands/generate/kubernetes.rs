use super::{Sweep, SweepArgs, require_printable};
use crate::cli::{CliError, Context, Exit};
use clap::builder::NonEmptyStringValueParser;
use serde_json::json;
use toml::{Table, Value};

#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  jobdoctor generate kubernetes --target shop --image registry.internal/jobdoctor:1
  jobdoctor generate kubernetes --target shop --image registry.internal/jobdoctor:1 --restart
  jobdoctor generate kubernetes --target shop --image jobdoctor:1 --live-pods app=worker --kubectl-image kubectl:1")]
pub(super) struct Args {
    /// Run this image, which has jobdoctor in it
    #[arg(long, value_name = "IMAGE", value_parser = NonEmptyStringValueParser::new())]
    image: String,
    /// Run the program at this path in the image
    #[arg(long, value_name = "PATH", default_value = "jobdoctor", value_parser = NonEmptyStringValueParser::new())]
    program: String,
    /// Print an init container for a StatefulSet that sweeps what a pod of the same name left behind, before its worker
    /// starts
    #[arg(long, conflicts_with = "every")]
    restart: bool,
    /// Print a CronJob for a Deployment that sweeps what pods left behind that are gone: those with these labels live
    #[arg(long, value_name = "SELECTOR", conflicts_with = "restart", requires = "kubectl_image")]
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    live_pods: Option<String>,
    /// With --live-pods: list the pods with this image, which has a shell and kubectl in it
    #[arg(long, value_name = "IMAGE", requires = "live_pods", value_parser = NonEmptyStringValueParser::new())]
    kubectl_image: Option<String>,
    #[command(flatten)]
    pub(super) sweep: SweepArgs,
}

/// What makes the pod's name known to its command.
const POD_NAME: &str = "
      - name: POD_NAME
        valueFrom:
          fieldRef:
            fieldPath: metadata.name";

/// Lists the pods that have not ended, into the file that the sweep reads.
const LIST: &str = "kubectl get pods --selector \"$1\" \
                    --field-selector status.phase!=Failed,status.phase!=Succeeded --output name > /tmp/live-pods";

/// A ConfigMap with the target, and a CronJob or the part of a pod that has the init container.
pub(super) fn text(args: &Args, sweep: &Sweep, context: &Context) -> Result<String, CliError> {
    let words = [vec![args.program.clone()], sweep.words.clone()].concat();
    require_printable(&words)?;
    require_printable(std::slice::from_ref(&args.image))?;
    let words = words.iter().map(|word| literal(word));
    let restart: &[&str] = match (args.restart, &args.live_pods) {
        (true, _) => &["--restart", "--host", "$(POD_NAME)", "--best-effort"],
        (false, Some(_)) => &["--restart", "--alive-from", "/tmp/live-pods"],
        (false, None) => &[],
    };
    let command: Vec<String> = words.chain([restart, &["--apply"]].concat().into_iter().map(str::to_owned)).collect();
    let name = &sweep.name;
    let before = list_of_live_pods(args)?;
    let (account, accounts) = match before.is_empty() {
        true => ("automountServiceAccountToken: false".to_owned(), String::new()),
        false => (format!("serviceAccountName: {name}"), format!(include_str!("templates/account.yaml"), name = name)),
    };
    let pod = format!(
        include_str!("templates/pod.yaml"),
        name = name,
        before = before,
        containers = if args.restart { "initContainers" } else { "containers" },
        image = json!(args.image),
        command = json!(command),
        pod_name = if args.restart { POD_NAME } else { "" },
    );
    let pod = pod.trim_end();
    let runs = match args.restart {
        true => format!(include_str!("templates/init.yaml"), pod = pod),
        false => format!(
            include_str!("templates/cronjob.yaml"),
            name = name,
            schedule = json!(args.sweep.every.cron()),
            account = account,
            pod = pod.replace('\n', "\n          "),
        ),
    };
    let config = config_without_database(context.environment.config.get(), &sweep.target)?;
    let runs = format!("{accounts}{}", runs.trim_end());
    Ok(format!(include_str!("templates/configmap.yaml"), name = name, config = config, runs = runs))
}

/// The init container that lists the live pods for the sweep; empty where none is asked for.
fn list_of_live_pods(args: &Args) -> Result<String, CliError> {
    let (Some(selector), Some(image)) = (&args.live_pods, &args.kubectl_image) else { return Ok(String::new()) };
    require_printable(&[selector.clone(), image.clone()])?;
    let command = json!(["sh", "-c", LIST, "sh", literal(selector)]);
    Ok(format!(include_str!("templates/list.yaml"), image = json!(image), command = command))
}

/// A word in which nothing is a variable to Kubernetes, where `$(` begins one.
fn literal(word: &str) -> String {
    word.replace('$', "$$")
}

/// The config file with nothing but this target and the mappings, indented for a text of YAML. Without comments and
/// without `db`, because either may hold a password; a password file is on this host, and so is the program of on_run.
fn config_without_database(text: Option<&String>, target: &str) -> Result<String, CliError> {
    let unreadable = || CliError::new(Exit::Config, "the config file cannot be copied");
    let mut file: Table = text.and_then(|text| toml::from_str(text).ok()).ok_or_else(unreadable)?;
    file.retain(|key, _| key == "target" || key == "mapping");
    if let Some(Value::Table(targets)) = file.get_mut("target") {
        targets.retain(|name, _| name == target);
        for settings in targets.iter_mut().filter_map(|(_, settings)| settings.as_table_mut()) {
            settings.retain(|key, _| !["db", "password_file", "on_run"].contains(&key));
        }
    }
    let text = toml::to_string(&file).map_err(|_| unreadable())?;
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    require_printable(&lines)?;
    Ok(lines.join("\n    "))
}
