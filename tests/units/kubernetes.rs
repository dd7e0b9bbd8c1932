//! The resources are YAML, and the command in them is one.

use super::written::runs;
use crate::support::cli::Doctor;
use crate::support::shop::Shop;
use yaml_rust2::{Yaml, YamlLoader};

fn parsed(text: &str) -> Yaml {
    let mut documents = YamlLoader::load_from_str(text).unwrap_or_else(|error| panic!("{error} in\n{text}"));
    assert_eq!(documents.len(), 1, "{text}");
    documents.remove(0)
}

/// The words of a container, as Kubernetes gives them to the program, which is the test's.
fn words(container: &Yaml, host: &str) -> Vec<String> {
    let word = |word: &Yaml| match word.as_str().expect("a word is a text") {
        "$(POD_NAME)" => host.to_owned(),
        word => {
            let plain = word.replace("$$", "\0");
            assert!(!plain.contains("$("), "Kubernetes would put something in its place: {word}");
            plain.replace('\0', "$")
        }
    };
    let mut words: Vec<String> = container["command"].as_vec().unwrap().iter().map(word).collect();
    assert_eq!(words[0], "jobdoctor");
    words[0] = env!("CARGO_BIN_EXE_jobdoctor").to_owned();
    words
}

/// The names of its variables with where they come from.
fn variables(container: &Yaml) -> Vec<(&str, String)> {
    let from = |variable: &Yaml| match (&variable["value"], &variable["valueFrom"]["secretKeyRef"]) {
        (Yaml::String(value), _) => value.clone(),
        (_, Yaml::BadValue) => variable["valueFrom"]["fieldRef"]["fieldPath"].as_str().unwrap().to_owned(),
        (_, secret) => format!("{}/{}", secret["name"].as_str().unwrap(), secret["key"].as_str().unwrap()),
    };
    let list = container["env"].as_vec().unwrap();
    list.iter().map(|variable| (variable["name"].as_str().unwrap(), from(variable))).collect()
}

#[test]
fn a_cron_job_runs_its_sweep() {
    let shop = Shop::on_postgres();
    shop.run(&["init"]).exits(0);
    shop.in_flight(1, 3, "'web1:' || n", 7200);
    let arguments =
        ["generate", "kubernetes", "--db", "postgres://ops@db.internal/app", "--image", "r/j:1", "--older", "10m"];
    let job = parsed(&shop.doctor.run(&arguments).exits(0).stdout);
    assert_eq!((job["apiVersion"].as_str(), job["kind"].as_str()), (Some("batch/v1"), Some("CronJob")));
    let spec = &job["spec"];
    assert_eq!((spec["schedule"].as_str(), spec["concurrencyPolicy"].as_str()), (Some("*/5 * * * *"), Some("Forbid")));
    let run = &spec["jobTemplate"]["spec"];
    let pod = &run["template"]["spec"];
    assert_eq!((pod["restartPolicy"].as_str(), run["backoffLimit"].as_i64()), (Some("Never"), Some(2)));
    let container = &pod["containers"][0];
    // Rules about exit codes name the container.
    for rule in run["podFailurePolicy"]["rules"].as_vec().unwrap() {
        assert_eq!(rule["onExitCodes"]["containerName"], container["name"]);
    }
    assert_eq!(run["podFailurePolicy"]["rules"][0]["onExitCodes"]["values"][0].as_i64(), Some(75));
    assert_eq!(variables(container)[0], ("JOBDOCTOR_DB", "jobdoctor-sweep/url".to_owned()));
    let words = words(container, "");
    assert_eq!(words[1..], ["sweep", "--older", "10m", "--apply"]);
    let words = [words, vec!["--max-jobs".to_owned(), "3".to_owned()]].concat();
    runs(&shop.doctor, &words, &[("JOBDOCTOR_DB", &shop.url)]).exits(0);
    assert_eq!(shop.states(), ["1 QUEUED 1", "2 QUEUED 1", "3 QUEUED 1"]);
}

#[test]
fn an_init_container_sweeps_what_its_pod_left() {
    let shop = Shop::on_postgres();
    shop.run(&["init"]).exits(0);
    shop.in_flight(1, 3, "'worker-0:' || n", 5);
    shop.in_flight(4, 4, "'worker-1:4'", 5);
    let arguments = ["generate", "kubernetes", "--db", "postgres://ops@db/app", "--image", "r/j:1", "--restart"];
    let part = parsed(&shop.doctor.run(&arguments).exits(0).stdout);
    let container = &part["initContainers"][0];
    assert!(variables(container).contains(&("POD_NAME", "metadata.name".to_owned())));
    runs(&shop.doctor, &words(container, "worker-0"), &[("JOBDOCTOR_DB", &shop.url)]).exits(0);
    assert_eq!(shop.states(), ["1 QUEUED 1", "2 QUEUED 1", "3 QUEUED 1", "4 RUNNING 0"]);
}

#[test]
fn a_target_brings_its_config_file_along() {
    let shop = Shop::on_postgres();
    shop.run(&["init"]).exits(0);
    shop.in_flight(1, 3, "'web1:' || n", 7200);
    let name = "Shop $(HOME): \"x\" # é";
    let config = |db: &str| format!("[target.{}]\nbrake = false\ndb = '{db}'\n", serde_json::Value::from(name));
    let path = shop.doctor.path("c.toml");
    std::fs::write(&path, config("postgres://ops@db.internal/app")).unwrap();
    let arguments = ["generate", "kubernetes", "--config", "c.toml", "--target", name, "--image", "r/j: #1"];
    let text = shop.doctor.run(&arguments).exits(0).stdout;
    let job = parsed(&text);
    let pod = &job["spec"]["jobTemplate"]["spec"]["template"]["spec"];
    let container = &pod["containers"][0];
    assert_eq!(container["image"].as_str(), Some("r/j: #1"));
    let names: Vec<_> =
        pod["volumes"].as_vec().unwrap().iter().map(|volume| volume["secret"]["secretName"].as_str()).collect();
    assert!(
        names.iter().flatten().any(|name| name.starts_with("jobdoctor-sweep-shop") && name.ends_with("-config")),
        "{names:?}"
    );
    assert_eq!(variables(container).len(), 1, "the address is in the file");
    let words = words(container, "");
    assert_eq!(words[1..], ["sweep", "--target", name, "--apply"]);
    // The pod has it where everyone looks; here that is not ours to write.
    std::fs::write(&path, config(&shop.url)).unwrap();
    runs(&shop.doctor, &words, &[("JOBDOCTOR_CONFIG", &path.display().to_string())]).exits(0);
    assert_eq!(shop.states(), ["1 QUEUED 1", "2 QUEUED 1", "3 QUEUED 1"]);
}

#[test]
fn no_two_runs_differ() {
    let run = || {
        Doctor::new().run(&["generate", "kubernetes", "--db", "postgres://ops@db/app", "--image", "i"]).exits(0).stdout
    };
    assert_eq!(run(), run());
}
