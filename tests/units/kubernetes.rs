//! The resources are YAML, and the command in them is one.

use super::written::{config, runs};
use crate::support::shop::Shop;
use std::os::unix::fs::PermissionsExt;
use yaml_rust2::{Yaml, YamlLoader};

/// A name with what means something to Kubernetes, to YAML or to TOML.
const NAME: &str = "Shop $(HOME): \"x\" # é";

/// Prints the units for a target of a queue on Postgres whose mapping and threshold stand in the config file.
fn generated(shop: &Shop, restart: &[&str]) -> Vec<Yaml> {
    shop.run(&["init"]).exits(0);
    config(
        shop,
        NAME,
        "postgres://ops@db/app",
        "older = '10m'\n[mapping.m]\nwhy = \"a\\n\\n  b: #\\n\"\n[target.other]\ndb = 'x.db'\n",
    );
    let arguments = ["generate", "kubernetes", "--config", "c.toml", "--target", NAME, "--image", "r/j: #1"];
    let text = shop.doctor.run(&[&arguments, restart].concat()).exits(0).stdout;
    YamlLoader::load_from_str(&text).unwrap_or_else(|error| panic!("{error} in\n{text}"))
}

/// Runs the container's command as Kubernetes does, on the config file of the ConfigMap and the address of the Secret, with
/// this in place of the pod's name or of the list.
fn run_container(shop: &Shop, map: &Yaml, pod: &Yaml, container: &Yaml, place: &str) -> Vec<String> {
    assert_eq!((map["kind"].as_str(), container["image"].as_str()), (Some("ConfigMap"), Some("r/j: #1")));
    assert_eq!(pod["volumes"][1]["configMap"]["name"], map["metadata"]["name"]);
    assert_eq!(container["volumeMounts"][1]["mountPath"].as_str(), Some("/etc/jobdoctor"));
    let secret = &container["env"][0];
    assert_eq!(secret["name"].as_str(), Some("JOBDOCTOR_DB"));
    assert_eq!(secret["valueFrom"]["secretKeyRef"]["name"], map["metadata"]["name"]);
    let config = map["data"]["config.toml"].as_str().unwrap();
    let file: toml::Table = toml::from_str(config).unwrap();
    assert_eq!(file["mapping"]["m"]["why"].as_str(), Some("a\n\n  b: #\n"));
    let settings = ["brake = false", "older = \"10m\""].map(|line| toml::from_str::<toml::Table>(line).unwrap());
    let settings = settings.into_iter().flatten().collect::<toml::Table>();
    assert_eq!(file["target"].as_table().unwrap().iter().collect::<Vec<_>>(), [(&NAME.to_owned(), &settings.into())]);
    std::fs::write(shop.doctor.path("pod.toml"), config).unwrap();
    let word = |word: &Yaml| match word.as_str().expect("a word is a text") {
        "$(POD_NAME)" | "/tmp/live-pods" => place.to_owned(),
        word => {
            let plain = word.replace("$$", "\0");
            assert!(!plain.contains("$("), "Kubernetes would put something in its place: {word}");
            plain.replace('\0', "$")
        }
    };
    let mut words: Vec<String> = container["command"].as_vec().unwrap().iter().map(word).collect();
    assert_eq!(words[..4], ["jobdoctor", "sweep", "--target", NAME]);
    words[0] = env!("CARGO_BIN_EXE_jobdoctor").to_owned();
    let path = shop.doctor.path("pod.toml").display().to_string();
    runs(&shop.doctor, &words, &[("JOBDOCTOR_CONFIG", &path), ("JOBDOCTOR_DB", &shop.url)]).exits(0);
    words.split_off(4)
}

#[test]
fn a_cron_job_runs_its_sweep() {
    let shop = Shop::on_postgres();
    let [map, job] = &generated(&shop, &[])[..] else { panic!("two documents") };
    shop.in_flight(1, 3, "'web1:' || n", 7200);
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
    assert_eq!(run_container(&shop, map, pod, container, ""), ["--apply"]);
    assert_eq!(shop.states(), ["1 QUEUED 1", "2 QUEUED 1", "3 QUEUED 1"]);
}

#[test]
fn an_init_container_sweeps_what_its_pod_left() {
    let shop = Shop::on_postgres();
    let [map, part] = &generated(&shop, &["--restart"])[..] else { panic!("two documents") };
    shop.in_flight(1, 3, "'worker-0:' || n", 5);
    shop.in_flight(4, 4, "'worker-1:4'", 5);
    let container = &part["initContainers"][0];
    assert_eq!(container["env"][1]["name"].as_str(), Some("POD_NAME"));
    assert_eq!(container["env"][1]["valueFrom"]["fieldRef"]["fieldPath"].as_str(), Some("metadata.name"));
    let words = run_container(&shop, map, part, container, "worker-0");
    assert_eq!(words, ["--restart", "--host", "worker-0", "--best-effort", "--apply"]);
    assert_eq!(shop.states(), ["1 QUEUED 1", "2 QUEUED 1", "3 QUEUED 1", "4 RUNNING 0"]);
}

/// Both containers, with a kubectl that knows two pods.
#[test]
fn a_cron_job_for_a_deployment_knows_which_pods_live() {
    let shop = Shop::on_postgres();
    let labels = ["--live-pods", "app=worker,tier in ($(A), b)", "--kubectl-image", "r/kubectl: #1"];
    let resources = generated(&shop, &labels);
    let kinds: Vec<&str> = resources.iter().filter_map(|resource| resource["kind"].as_str()).collect();
    assert_eq!(kinds, ["ConfigMap", "ServiceAccount", "Role", "RoleBinding", "CronJob"]);
    let rule = &resources[2]["rules"][0];
    assert_eq!((rule["resources"][0].as_str(), rule["verbs"][0].as_str()), (Some("pods"), Some("list")));
    assert_eq!(rule["verbs"].as_vec().unwrap().len(), 1);
    let pod = &resources[4]["spec"]["jobTemplate"]["spec"]["template"]["spec"];
    let account = pod["serviceAccountName"].as_str();
    assert_eq!([1, 3].map(|n| resources[n]["metadata"]["name"].as_str()), [account; 2]);
    assert_eq!(resources[3]["subjects"][0]["name"].as_str(), account);
    let list = &pod["initContainers"][0];
    assert_eq!(list["image"].as_str(), Some("r/kubectl: #1"));
    let command: Vec<&str> = list["command"].as_vec().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    let [shell @ .., script, name, selector] = &command[..] else { panic!("{command:?}") };
    assert_eq!((shell, *name, selector.replace("$$", "$")), (&["sh", "-c"][..], "sh", labels[1].to_owned()));
    shop.in_flight(1, 3, "'worker-a:' || n", 5);
    shop.in_flight(4, 4, "'worker-b:4'", 5);
    let (bin, file) = (shop.doctor.path("bin"), shop.doctor.path("live-pods").display().to_string());
    std::fs::create_dir(&bin).unwrap();
    let kubectl = "#!/bin/sh\n[ \"$*\" = \"get pods --selector app=worker,tier in (\\$(A), b) --field-selector \
                   status.phase!=Failed,status.phase!=Succeeded --output name\" ] && echo pod/worker-b && echo pod/worker-c\n";
    std::fs::write(bin.join("kubectl"), kubectl).unwrap();
    std::fs::set_permissions(bin.join("kubectl"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut sh = std::process::Command::new("sh");
    sh.env("PATH", format!("{}:/usr/bin:/bin", bin.display())).args(["-c", &script.replace("/tmp/live-pods", &file)]);
    assert!(sh.args(["sh", labels[1]]).status().unwrap().success());
    let sweep = &pod["containers"][0];
    assert_eq!(list["volumeMounts"][0]["name"], sweep["volumeMounts"][0]["name"]);
    assert_eq!(sweep["volumeMounts"][0]["mountPath"].as_str(), Some("/tmp"));
    let words = run_container(&shop, &resources[0], pod, sweep, &file);
    assert_eq!(words, ["--restart", "--alive-from", &file, "--apply"]);
    assert_eq!(shop.states(), ["1 QUEUED 1", "2 QUEUED 1", "3 QUEUED 1", "4 RUNNING 0"]);
}
