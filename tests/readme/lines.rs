//! Command lines in manifests: YAML, Dockerfiles, Procfiles.

/// What a shell is given to run: an array whose last item is a script, or what stands behind `name:`.
pub(super) fn command_lines(text: &str) -> Vec<String> {
    let script = |line: &str| {
        let (_, rest) = line.split_once(&[':', ' '][..]).filter(|_| line.contains("jobdoctor "))?;
        match line.find('[').map(|at| serde_json::from_str::<Vec<String>>(&line[at..])) {
            Some(Ok(words)) => match &words[..] {
                [shell, flag, script] if shell == "sh" && flag == "-c" => Some(script.clone()),
                _ => panic!("not run by a shell: {line}"),
            },
            Some(Err(error)) => panic!("{error} in {line}"),
            None => Some(rest.trim().to_owned()),
        }
    };
    text.lines().filter_map(|line| script(line.trim())).collect()
}
