//! A table that jobdoctor would use because it is there: the ledger, and an optional one of a library. Whoever may create things in the
//! queue's schema, and no more, makes one, with a trigger that would run as jobdoctor's role.

use crate::queues::rights::{of, orphan, words};
use crate::queues::tables::tables;
use crate::support::cli::Doctor;
use crate::support::postgres::TestDatabase;

/// The roles of one database: the queue's owner, a group that it is a member of, the one that jobdoctor runs as, a group of its own, and
/// somebody else.
const ROLES: [&str; 5] = ["owner", "team", "doctor", "ops", "stranger"];

struct Roles(TestDatabase);

impl Roles {
    fn of(database: TestDatabase) -> Roles {
        let roles = Roles(database);
        ROLES
            .into_iter()
            .for_each(|role| roles.sql(&format!("CREATE ROLE <{role}> LOGIN; GRANT ALL ON SCHEMA public TO <{role}>")));
        roles.sql("GRANT <team> TO <owner>; GRANT <ops> TO <doctor>; CREATE TABLE public.trapped (what text)");
        roles.sql(
            "CREATE FUNCTION public.trap() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
            AS $$ BEGIN INSERT INTO public.trapped VALUES (TG_TABLE_NAME); RETURN NEW; END $$",
        );
        roles
    }

    fn named(&self, role: &str) -> String {
        format!("{role}_{}", self.0.name())
    }

    /// Runs statements in which `<role>` stands for a role.
    fn sql(&self, sql: &str) {
        let sql = ROLES.iter().fold(sql.to_owned(), |sql, role| sql.replace(&format!("<{role}>"), &self.named(role)));
        self.0.client().batch_execute(&sql).unwrap_or_else(|error| panic!("{error:?} in {sql}"));
    }

    fn url(&self, role: &str) -> String {
        match role {
            "superuser" => self.0.url(),
            role => self.0.url().replace("user=doctor", &format!("user={}", self.named(role))),
        }
    }

    fn count(&self, of: &str) -> i64 {
        self.0.client().query_one(&format!("SELECT count(*) FROM {of}"), &[]).unwrap().get(0)
    }
}

impl Drop for Roles {
    fn drop(&mut self) {
        let roles = ROLES.map(|role| self.named(role)).join(", ");
        let _ = self
            .0
            .client()
            .batch_execute(&format!("REASSIGN OWNED BY {roles} TO doctor; DROP OWNED BY {roles}; DROP ROLE {roles}"));
    }
}

/// A queue of the owner's with dead jobs, that all roles may use.
fn queue() -> (Roles, Doctor) {
    let (roles, doctor) = (Roles::of(tables("delayed-job", "4.2.0").made()), Doctor::new());
    orphan(&tables("delayed-job", "4.2.0"), &roles.0).unwrap();
    roles.sql("ALTER TABLE delayed_jobs OWNER TO <owner>; GRANT ALL ON delayed_jobs TO <doctor>");
    (roles, doctor)
}

/// The ledger as `init` makes it, in the hands of that role, with a trap on it.
fn ledger(roles: &Roles, doctor: &Doctor, owner: &str) {
    let printed = doctor.run(&["init", "--ledger", "--print", "--db", &roles.url("superuser")]).exits(0).stdout;
    roles.sql(&printed);
    roles.sql("CREATE TRIGGER trap BEFORE INSERT ON jobdoctor_ledger FOR EACH ROW EXECUTE FUNCTION trap()");
    roles.sql("GRANT ALL ON jobdoctor_ledger TO PUBLIC");
    if owner != "superuser" {
        roles.sql(&format!("ALTER TABLE jobdoctor_ledger OWNER TO <{owner}>"));
    }
}

fn moved(doctor: &Doctor, url: &str, more: &[&str]) -> u64 {
    let done = doctor
        .run(&[&["reclaim", "--apply", "--option", "time_zone=utc", "-o", "json", "--db", url], more].concat())
        .exits(0)
        .json();
    done["summary"]["outcomes"]["moved"].as_u64().unwrap()
}

#[test]
fn a_strangers_ledger_is_not_used_and_stops_no_apply() {
    for planted in [
        "",
        "DROP TABLE jobdoctor_ledger; CREATE TABLE jobdoctor_ledger (x int)",
        "ALTER TABLE jobdoctor_ledger RENAME TO behind; CREATE VIEW jobdoctor_ledger AS SELECT * FROM behind",
    ] {
        for role in ["superuser", "doctor"] {
            let (roles, doctor) = queue();
            ledger(&roles, &doctor, "stranger");
            roles.sql(&format!(
                "{planted}; GRANT ALL ON jobdoctor_ledger TO PUBLIC; ALTER TABLE jobdoctor_ledger OWNER TO <stranger>"
            ));
            let (url, place) = (roles.url(role), format!("{role}: {planted}"));
            let checked = doctor.run(&["check", "--db", &url]).exits(0).whole();
            assert!(checked.contains("public.jobdoctor_ledger is ignored"), "{place}: {checked}");
            assert!(
                checked.contains(&roles.named("stranger")) && checked.contains("drop or rename it"),
                "{place}: {checked}"
            );
            for asks in [&["reclaim", "--max-stalls", "3"][..], &["sweep", "--min-interval", "1m"]] {
                let ran = doctor.run(&[asks, &["--apply", "--db", &url]].concat()).exits(78);
                assert!(ran.stderr.contains("public.jobdoctor_ledger is ignored"), "{place}: {ran:#?}");
            }
            let ran = doctor.run(&["init", "--ledger", "--db", &url]).exits(78);
            assert!(ran.stderr.contains("already"), "{place}: {ran:#?}");
            let plan = doctor.run(&["reclaim", "--db", &url]).exits(0);
            assert!(plan.whole().contains("is ignored"), "{place}: {plan:#?}");
            assert!(moved(&doctor, &url, &[]) > 0, "{place}");
            assert_eq!((roles.count("trapped"), roles.count("jobdoctor_ledger")), (0, 0), "{place}");
        }
    }
}

#[test]
fn a_ledger_of_a_role_of_postgres_is_not_used() {
    let (roles, doctor) = queue();
    ledger(&roles, &doctor, "stranger");
    roles.sql("GRANT pg_monitor TO <owner>, <doctor>, <stranger>; ALTER TABLE jobdoctor_ledger OWNER TO pg_monitor");
    for role in ["superuser", "doctor"] {
        let checked = doctor.run(&["check", "--db", &roles.url(role)]).exits(0).whole();
        assert!(checked.contains("public.jobdoctor_ledger is ignored"), "{role}: {checked}");
    }
    assert!(moved(&doctor, &roles.url("doctor"), &[]) > 0);
    assert_eq!((roles.count("trapped"), roles.count("jobdoctor_ledger")), (0, 0));
    roles.sql("ALTER TABLE jobdoctor_ledger OWNER TO <stranger>; REVOKE pg_monitor FROM <owner>, <doctor>, <stranger>");
}

#[test]
fn a_ledger_of_those_who_own_the_queue_counts() {
    for owner in ["superuser", "owner", "team", "doctor", "ops"] {
        let (roles, doctor) = queue();
        ledger(&roles, &doctor, owner);
        let moved = moved(&doctor, &roles.url("doctor"), &[]);
        assert!(moved > 0 && roles.count("jobdoctor_ledger") == i64::try_from(moved).unwrap(), "{owner}");
    }
    // The owner of the database may do as much.
    let (roles, doctor) = queue();
    roles.sql(&format!("ALTER DATABASE {} OWNER TO <stranger>", roles.0.name()));
    ledger(&roles, &doctor, "stranger");
    assert!(moved(&doctor, &roles.url("doctor"), &[]) > 0 && roles.count("jobdoctor_ledger") > 0);
    // A view of a role that is trusted is no ledger either.
    let (roles, doctor) = queue();
    ledger(&roles, &doctor, "owner");
    roles.sql("ALTER TABLE jobdoctor_ledger RENAME TO behind; CREATE VIEW jobdoctor_ledger AS SELECT * FROM behind");
    roles.sql("ALTER VIEW jobdoctor_ledger OWNER TO <owner>");
    let checked = doctor.run(&["check", "--db", &roles.url("superuser")]).exits(0).whole();
    assert!(checked.contains("it is a view or a foreign table"), "{checked}");
}

#[test]
fn init_says_whose_ledger_counts() {
    let (roles, doctor) = queue();
    doctor.run(&["init", "--ledger", "--db", &roles.url("owner")]).exits(0).says("owns the queue's table");
    assert!(moved(&doctor, &roles.url("superuser"), &[]) > 0 && roles.count("jobdoctor_ledger") > 0);
}

/// Laravel keeps failed jobs in a table that an application need not have.
#[test]
fn an_optional_table_of_a_stranger_switches_nothing_on() {
    for (owner, is_used) in [("stranger", false), ("owner", true)] {
        let laravel = tables("laravel", "8.83");
        let (roles, doctor) = (Roles::of(laravel.made()), Doctor::new());
        orphan(&laravel, &roles.0).unwrap();
        roles.sql("ALTER TABLE jobs OWNER TO <owner>; GRANT ALL ON ALL TABLES IN SCHEMA public TO <doctor>");
        roles.sql(&format!(
            "GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO <doctor>; ALTER TABLE failed_jobs OWNER TO <{owner}>;
             CREATE TRIGGER trap BEFORE INSERT ON failed_jobs FOR EACH ROW EXECUTE FUNCTION trap()"
        ));
        let url = roles.url("superuser");
        let act = words(&laravel, &["older", "option"]);
        let ran = doctor.run(&[&["reclaim", "--to", "fail", "--apply", "--db", &url], &of(&act)[..]].concat());
        assert_eq!(roles.count("trapped") > 0, is_used, "{owner}: {ran:#?}");
        assert_eq!(roles.count("failed_jobs") > 0, is_used, "{owner}: {ran:#?}");
        // Where nothing is planned, too: the job has no attempt left.
        roles.sql("UPDATE jobs SET attempts = 3");
        for command in [&["check"][..], &["show", "1"], &["reclaim", "--older", "90d"], &["reclaim", "--to", "fail"]] {
            let ran = doctor.run(&[command, &["--db", &url]].concat()).whole();
            assert_eq!(ran.contains("public.failed_jobs is ignored"), !is_used, "{owner}: {command:?}: {ran}");
            assert!(!ran.contains("there is no table"), "{owner}: {command:?}: {ran}");
        }
    }
}

/// Without the table of its producers these are the tables of no version: the words say that it is there.
#[test]
fn a_required_table_of_a_stranger_is_not_said_to_be_missing() {
    let oban = tables("oban", "python-0.7.0");
    let (roles, doctor) = (Roles::of(oban.made()), Doctor::new());
    roles.sql("ALTER TABLE oban_jobs OWNER TO <owner>; ALTER TABLE oban_producers OWNER TO <stranger>");
    let ran = doctor.run(&["stale", "--preset", "oban", "--db", &roles.url("superuser")]).exits(78);
    ran.says("table oban_producers, which is there (public.oban_producers is ignored").says(&roles.named("stranger"));
}

#[test]
fn a_function_of_a_stranger_switches_nothing_on() {
    for (owner, counts) in [("stranger", false), ("owner", true), ("team", true), ("ops", true), ("superuser", true)] {
        let procrastinate = tables("procrastinate", "3.10");
        let (roles, doctor) = (Roles::of(procrastinate.made()), Doctor::new());
        roles.sql(
            "ALTER TABLE procrastinate_jobs OWNER TO <owner>; GRANT ALL ON ALL TABLES IN SCHEMA public TO <doctor>",
        );
        roles.sql("CREATE FUNCTION procrastinate_fetch_job_v1() RETURNS int LANGUAGE sql AS 'SELECT 1'");
        if owner != "superuser" {
            roles.sql(&format!("ALTER FUNCTION procrastinate_fetch_job_v1() OWNER TO <{owner}>"));
        }
        let checked = doctor.run(&["check", "--db", &roles.url("doctor")]).whole();
        assert_eq!(checked.contains("still to come"), counts, "{owner}: {checked}");
        let ignored = "function public.procrastinate_fetch_job_v1 is ignored";
        assert_eq!(checked.contains(ignored), !counts, "{owner}: {checked}");
    }
}
