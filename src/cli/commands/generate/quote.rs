//! How words are written where another program reads them. None of them has a control character in it.

/// A word of systemd's `ExecStart=`, where `%` and `$` begin something.
pub(super) fn exec(word: &str) -> String {
    systemd(&word.replace('$', "$$"))
}

/// A word of any other systemd setting, where `%` begins something.
pub(super) fn systemd(word: &str) -> String {
    let word = word.replace('%', "%%");
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@,+%$".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word;
    }
    format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A command of a crontab, where `%` ends the line.
pub(super) fn cron(command: &str) -> String {
    command.replace('%', "\\%")
}

/// A text of a YAML document: JSON's way is one of YAML's.
pub(super) fn yaml(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A word of a container's command, where `$(` begins something.
pub(super) fn container(word: &str) -> String {
    yaml(&word.replace('$', "$$"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_begins_something_does_no_more() {
        assert_eq!(exec("plain/word"), "plain/word");
        assert_eq!(exec("50% of $HOME"), "\"50%% of $$HOME\"");
        assert_eq!(exec(r#"a"b\c"#), r#""a\"b\\c""#);
        assert_eq!((exec(""), exec(";")), ("\"\"".to_owned(), "\";\"".to_owned()));
        assert_eq!(systemd("PGUSER=a$b c%"), "\"PGUSER=a$b c%%\"");
        assert_eq!(cron("date +%F"), "date +\\%F");
        assert_eq!(yaml("a: \"b\" # é"), r##""a: \"b\" # é""##);
        assert_eq!(container("$(HOME)"), "\"$$(HOME)\"");
    }
}
