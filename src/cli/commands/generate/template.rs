//! Fills in the template of a unit file, and quotes what stands in it. No value has a control character in it.

use serde_json::Value;

/// Fills in a template, written in a part of Mustache. `{{name}}` is a text of `values`; one of several lines is
/// indented as its marker is. The lines from `{{#name}}` to `{{/name}}` stand once if that value is true or a text that
/// is not empty, or once for each element of a list: a text, which is `{{.}}` there, or an object, whose texts come
/// before those of `values`.
pub(super) fn fill(template: &str, values: &Value) -> String {
    let mut text = String::new();
    let mut lines = template.lines();
    while let Some(line) = lines.next() {
        let Some(name) = line.trim().strip_prefix("{{#").and_then(|line| line.strip_suffix("}}")) else {
            text.push_str(&fill_line(line, values));
            continue;
        };
        let end = format!("{{{{/{name}}}}}");
        let block: Vec<&str> = lines.by_ref().take_while(|line| line.trim() != end).collect();
        let mut add = |values: &Value| text.push_str(&fill(&block.join("\n"), values));
        match &values[name] {
            Value::Array(list) => list.iter().for_each(|element| add(&with_element(values, element))),
            Value::String(text) if !text.is_empty() => add(values),
            Value::Bool(true) => add(values),
            _ => {}
        }
    }
    text
}

fn fill_line(line: &str, values: &Value) -> String {
    let indentation: String = line.chars().take_while(|c| *c == ' ').collect();
    let mut text = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("{{")
        && let Some((name, after)) = after.split_once("}}")
    {
        text.push_str(before);
        let value = values[name].as_str().unwrap_or_default().trim_end();
        text.push_str(&value.replace('\n', &format!("\n{indentation}")));
        rest = after;
    }
    text + rest + "\n"
}

fn with_element(values: &Value, element: &Value) -> Value {
    let mut values = values.clone();
    match element {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| values[name] = value.clone()),
        _ => values["."] = element.clone(),
    }
    values
}

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

/// A text of a YAML document, written as JSON writes it.
pub(super) fn yaml(text: &str) -> String {
    Value::from(text).to_string()
}

/// A word of a container's command, where `$(` begins something.
pub(super) fn container(word: &str) -> String {
    yaml(&word.replace('$', "$$"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_filled_in() {
        let values = serde_json::json!({
            "a": "{{b}}", "b": "1\n2\n", "yes": true, "no": false, "none": "",
            "list": [{ "b": "x" }, { "b": "y" }], "texts": ["t", "u"],
        });
        assert_eq!(fill("{{a}}-{{a}}\n  {{b}}\n", &values), "{{b}}-{{b}}\n  1\n  2\n");
        assert_eq!(fill("{{#list}}\n- {{b}} {{a}}\n{{/list}}\n{}\n", &values), "- x {{b}}\n- y {{b}}\n{}\n");
        assert_eq!(fill("{{#texts}}\n- {{.}}\n{{/texts}}\n", &values), "- t\n- u\n");
        let choice =
            ["yes", "no", "none", "a", "unknown"].map(|name| format!("{{{{#{name}}}}}\n{name}\n{{{{/{name}}}}}\n"));
        assert_eq!(fill(&choice.concat(), &values), "yes\na\n");
    }

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
