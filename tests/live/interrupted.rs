//! A job that the library failed because its worker died: brought back by the library's own retry, and by jobdoctor.

use super::application::Application;
use super::library::Library;
use super::looks::{A_WHILE, id, until_stuck};
use super::transcript::Transcript;
use postgres::Client;

/// How a library fails such a job. It retries it itself with the command `retry ID` of its application.
pub(super) struct Interrupted {
    /// What happens to the job.
    pub(super) by: By,
    /// More arguments for jobdoctor.
    pub(super) options: &'static [&'static str],
    /// Columns, as `table.column`, or whole tables, that jobdoctor writes otherwise.
    pub(super) differs: &'static [&'static str],
}

pub(super) enum By {
    /// Its worker is killed; what fails the job once its claim is old are these arguments of the application.
    Reaper(&'static [&'static str]),
    /// It kills the process it runs in, and this worker fails it.
    Itself(&'static [&'static str]),
}

/// Each column of each row of a table. Of a time is only told whether it is from before `$1`, the retry's beginning; the
/// same of seconds since the epoch, as they are within a day of it.
const IMAGE: &str = "
    SELECT DISTINCT '{table}.' || e.key || ' = ' || CASE
        WHEN e.value::text ~ '^\"[0-9]{4}-[0-9]{2}-[0-9]{2}T'
        THEN CASE WHEN (e.value #>> '{}')::timestamptz < $1::text::timestamptz THEN 'before' ELSE 'since then' END
        WHEN e.value::text ~ '^[0-9]{10}$' AND abs((e.value #>> '{}')::bigint - extract(epoch FROM $1::text::timestamptz)) < 86400
        THEN CASE WHEN (e.value #>> '{}')::bigint < floor(extract(epoch FROM $1::text::timestamptz)) THEN 'before' ELSE 'since then' END
        ELSE e.value::text END
    FROM {table} AS j CROSS JOIN jsonb_each(to_jsonb(j)) AS e";

const TABLES: &str = "SELECT oid::regclass::text FROM pg_class WHERE relkind IN ('r', 'p') AND relpersistence = 'p' \
                      AND relnamespace::regnamespace::text NOT IN ('pg_catalog', 'information_schema')";

/// A job loses its worker and the library fails it. In a copy of the database the library retries it, in the database
/// itself jobdoctor does: all tables are the same afterwards, but for what is said, and a worker runs the job.
pub(super) fn retried_as_the_library_would(library: &Library) {
    let Some(interrupted) = &library.interrupted else { return };
    let Some(app) = library.application() else { return };
    let mut told = Transcript::new(&format!("{}: its own retry, and jobdoctor's", library.name));
    let stale = [&["stale", "--interrupted"], interrupted.options].concat();
    let reclaim = [&["reclaim", "--interrupted"], interrupted.options].concat();
    let (job, work) = failed(library, interrupted, &app);
    let listed = until_stuck(&app, &stale, 1);
    assert_eq!(listed["jobs"][0]["reasons"][0]["rule"], "interrupted", "{listed}");
    told.say(&format!("job {job} was failed by the library: {}", listed["jobs"][0]["reasons"][0]["detail"]));

    let name = id(&listed["jobs"][0]);
    let mut client = app.client();
    let since: String = client.query_one("SELECT clock_timestamp()::text", &[]).expect("the time").get(0);
    drop(client);
    let copy = app.copy();
    let before = image(&mut copy.client(), &since);
    copy.run(&["retry", &name, "--queue", "a"]);
    let theirs = image(&mut copy.client(), &since);
    told.quote(&app.told(&reclaim));
    assert_eq!(image(&mut app.client(), &since), before, "the dry run changed nothing");
    let done = app.document(&[&reclaim, &["--apply"][..]].concat());
    assert_eq!(done["summary"]["outcomes"]["moved"], 1, "{done}");
    let ours = image(&mut app.client(), &since);

    told.say("the library's own retry:");
    let only_in = |these: &[String], those: &[String]| -> Vec<String> {
        these.iter().filter(|line| !those.contains(line)).cloned().collect()
    };
    told.quote(&format!("- {}\n+ {}", only_in(&before, &theirs).join("\n- "), only_in(&theirs, &before).join("\n+ ")));
    assert_ne!(before, theirs, "the library has retried it");
    let differences = [only_in(&theirs, &ours), only_in(&ours, &theirs)];
    told.say(&format!("jobdoctor's differs in {:?}, which has {:?}", differences[0], differences[1]));
    for line in differences.iter().flatten() {
        let column = line.split(' ').next().unwrap_or_default();
        assert!(interrupted.differs.iter().any(|differs| column.starts_with(differs)), "{column}: {differences:#?}");
    }

    let mut c = app.work("C", &[&["--queue", "a"], work, library.again].concat());
    c.wait_for("started", 1, A_WHILE);
    c.wait_for("finished", 1, A_WHILE);
    told.say("worker C has run it to its end");
    assert_eq!(app.document(&stale)["summary"]["stuck"], 0);
    library.ran();
}

/// Its id, and what a worker that runs it must be told.
fn failed(library: &Library, interrupted: &Interrupted, app: &Application) -> (String, &'static [&'static str]) {
    let (more, work): (&[&str], &[&str]) = match interrupted.by {
        By::Itself(work) => (&["--dies"], work),
        By::Reaper(_) => (&[], &[]),
    };
    let last = library.last_attempt.unwrap_or_default();
    // Long enough for the kill, and short enough for the run after the retry, which some cannot tell from the first.
    let job = library.enqueue(app, &["1", "--queue", "a", "--seconds", "5"], &[last, more].concat()).remove(0);
    let mut a = app.work("A", &[&["--queue", "a"], work, library.first].concat());
    a.wait_for("started", 1, A_WHILE);
    if let By::Reaper(arguments) = interrupted.by {
        a.kill();
        let age = library.rescue.as_ref().map(|rescue| rescue.age).or(library.age).expect("what makes a claim old");
        assert_eq!(app.session().execute(age, &job), 1);
        let reaper = app.start("the library's own", arguments);
        until_stuck(app, &[&["stale", "--interrupted"], interrupted.options].concat(), 1);
        drop(reaper);
    } else {
        until_stuck(app, &[&["stale", "--interrupted"], interrupted.options].concat(), 1);
    }
    (job, work)
}

fn image(client: &mut Client, since: &str) -> Vec<String> {
    client.batch_execute("SET TimeZone = 'UTC'").expect("set the time zone");
    let tables = client.query(TABLES, &[]).expect("the tables");
    let mut lines: Vec<String> = Vec::new();
    for table in tables.iter().map(|row| row.get::<_, String>(0)) {
        let rows = client.query(&IMAGE.replace("{table}", &table), &[&since]).expect("the rows");
        lines.extend(rows.iter().map(|row| row.get::<_, String>(0)));
    }
    lines.sort();
    lines
}
