//! The library's own rescue as the judge of ours: what both leave of a job, column by column.

use super::application::Application;
use super::library::{Library, Rescue};
use super::looks::{A_WHILE, until_stuck, wait_until};
use super::transcript::Transcript;

/// Each column of a row, but for its id: of the jobs with the ids `$1`, or of all others. A time is only told from before
/// or after `$2`, the rescue's beginning; the ids `$4` are not told.
const IMAGE: &str = "
    SELECT coalesce(string_agg(e.key || ' = ' || CASE
        WHEN e.key LIKE '%_id' AND e.value #>> '{}' = ANY ($4) THEN 'a job of these'
        WHEN e.value::text !~ '^\"[0-9]{4}-[0-9]{2}-[0-9]{2}T' THEN e.value::text
        WHEN (e.value #>> '{}')::timestamptz < $2::text::timestamptz THEN 'before' ELSE 'since then' END,
        E'\\n' ORDER BY j.id, e.key), 'nothing')
    FROM {jobs} AS j CROSS JOIN jsonb_each(to_jsonb(j)) AS e WHERE e.key <> 'id' AND (j.id::text = ANY ($1)) = $3";

/// The same worker dies in two databases, and its jobs are rescued: by the library itself, and by jobdoctor.
pub(super) fn as_the_library_would(library: &Library, jobs: &str) {
    let Some(rescue) = &library.rescue else { return };
    let mut told = Transcript::new(&format!("{}: its own rescue, and jobdoctor's", library.name));
    let mut images = Vec::new();
    for by_jobdoctor in [false, true] {
        let Some(app) = library.application() else { return };
        images.push(rescued(library, rescue, &app, &IMAGE.replace("{jobs}", jobs), by_jobdoctor));
    }
    let names: &[&str] = if rescue.fails { &["requeued", "failed", "added"] } else { &["requeued", "added"] };
    assert_eq!(names.len(), images[0].len());
    for (name, (theirs, ours)) in names.iter().zip(images[0].iter().zip(&images[1])) {
        told.say(&format!("{name} by the library:"));
        told.quote(theirs);
        let differs = |line: &&str| !theirs.lines().any(|other| other == *line);
        let differences: Vec<&str> = ours.lines().filter(differs).collect();
        told.say(&format!("and by jobdoctor: the same but for {differences:?}"));
        let column = |line: &str| line.split(' ').next().unwrap_or_default().to_owned();
        let columns: Vec<String> = differences.iter().map(|line| column(line)).collect();
        assert!(columns.iter().all(|column| rescue.differs.contains(&column.as_str())), "{name}:\n{theirs}\n\n{ours}");
        assert_eq!(theirs.lines().map(column).collect::<Vec<_>>(), ours.lines().map(column).collect::<Vec<_>>());
    }
    library.ran();
}

/// What is left of a job that has attempts left, of one that has none, and what else there is.
fn rescued(library: &Library, rescue: &Rescue, app: &Application, image: &str, by_jobdoctor: bool) -> Vec<String> {
    let (mut client, mut session) = (app.client(), app.session());
    client.batch_execute("SET TimeZone = 'UTC'").expect("set the time zone");
    let sleep = ["1", "--queue", "a", "--seconds", "600"];
    let mut jobs = library.enqueue(app, &sleep, &[]);
    if rescue.fails {
        jobs.extend(library.enqueue(app, &sleep, library.last_attempt.unwrap_or_default()));
    }
    let mut a = app.work("A", &[&["--queue", "a", "--concurrency", "4"], library.first].concat());
    a.wait_for("started", jobs.len(), A_WHILE);
    a.kill();
    for id in &jobs {
        assert_eq!(client.execute(rescue.age, &[id]).expect("make the claim old"), 1);
    }
    let since: String = client.query_one("SELECT clock_timestamp()::text", &[]).expect("the time").get(0);
    let running: Vec<String> = jobs.iter().map(|id| library.state_of(&mut session, id)).collect();
    let rescuer = if by_jobdoctor {
        until_stuck(app, &[&["stale"], library.options].concat(), jobs.len());
        let done = app.document(&[&["reclaim", "--apply"], library.options].concat());
        assert_eq!(done["summary"]["outcomes"]["moved"], jobs.len(), "{done}");
        None
    } else {
        Some(app.start("the library's own", rescue.arguments))
    };
    let mut is_over = || jobs.iter().zip(&running).all(|(id, was)| &library.state_of(&mut session, id) != was);
    wait_until(&mut is_over, || format!("{jobs:?} are rescued"));
    drop(rescuer);
    let mut image_of = |ids: &[String], are_these: bool| -> String {
        let row = client.query_one(image, &[&ids, &since, &are_these, &jobs]);
        row.unwrap_or_else(|error| panic!("{image}: {error:?}")).get(0)
    };
    let mut images: Vec<String> = jobs.iter().map(|id| image_of(std::slice::from_ref(id), true)).collect();
    images.push(image_of(&jobs, false));
    images
}
