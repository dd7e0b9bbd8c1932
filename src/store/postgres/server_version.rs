//! Which program answered: Postgres, in which version, or something else that speaks its protocol.

use crate::store::{ServerVersion, StoreError, StoreErrorKind};

/// The versions that the tests run on.
const TESTED: std::ops::RangeInclusive<u32> = 13..=18;
/// Programs that speak Postgres' protocol and lock rows in ways of their own, by a word that only their `version()`
/// has.
const OTHERS: [(&str, &str); 9] = [
    ("CockroachDB", "CockroachDB"),
    ("-YB-", "YugabyteDB"),
    ("Redshift", "Amazon Redshift"),
    ("Greenplum", "Greenplum"),
    ("Cloudberry", "Apache Cloudberry"),
    ("Materialize", "Materialize"),
    ("RisingWave", "RisingWave"),
    ("CrateDB", "CrateDB"),
    ("QuestDB", "QuestDB"),
];

/// The server by what its `version()` says. Aurora, Cloud SQL, Neon, Supabase, AlloyDB and Citus are Postgres and say
/// so.
pub(super) fn server_version(version: &str) -> ServerVersion {
    let mut words = version.split(' ');
    let (program, number) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let known = OTHERS.iter().find(|(word, _)| version.contains(word)).map(|(_, name)| *name);
    let other = known.or((!matches!(program, "PostgreSQL" | "EnterpriseDB")).then_some(program));
    let major = number.split(|c: char| !c.is_ascii_digit()).next().and_then(|digits| digits.parse().ok());
    ServerVersion {
        name: other.map_or_else(|| format!("{program} {number}"), str::to_owned),
        is_postgres: other.is_none(),
        is_tested: other.is_none() && major.is_some_and(|major| TESTED.contains(&major)),
    }
}

/// Fails for a server on which nothing is written.
pub(super) fn may_be_written(server: &ServerVersion) -> Result<(), StoreError> {
    match server.is_postgres {
        true => Ok(()),
        false => Err(StoreError::new(
            StoreErrorKind::Refused,
            format!(
                "{} answered, which is not Postgres: we have no proof that its row locks protect a live job, so \
                 jobdoctor only lists it",
                server.name
            ),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn postgres_is_told_from_what_speaks_like_it() {
        let postgres = |version| (server_version(version).is_postgres, server_version(version).is_tested);
        assert_eq!(postgres("PostgreSQL 15.18 (Debian 15.18-0+deb12u1) on x86_64-pc-linux-gnu, 64-bit"), (true, true));
        assert_eq!(postgres("PostgreSQL 18beta1 on x86_64-pc-linux-gnu"), (true, true));
        assert_eq!(postgres("PostgreSQL 12.4 on aarch64-unknown-linux-gnu"), (true, false));
        assert_eq!(postgres("PostgreSQL 19.1 on aarch64-unknown-linux-gnu"), (true, false));
        for version in [
            "CockroachDB CCL v23.1.11 (x86_64-pc-linux-gnu, built 2023/09/27)",
            "PostgreSQL 11.2-YB-2.19.0.0-b0 on x86_64-pc-linux-gnu",
            "PostgreSQL 8.0.2 on i686-pc-linux-gnu, compiled by GCC gcc (GCC) 3.4.2, Redshift 1.0.48805",
            "PostgreSQL 14.4 (Apache Cloudberry 1.6.0)",
            "Gizmo 3",
            "",
        ] {
            assert_eq!(postgres(version), (false, false), "{version}");
        }
        assert_eq!(server_version("PostgreSQL 15.18 (Debian)").name, "PostgreSQL 15.18");
        assert_eq!(server_version("PostgreSQL 11.2-YB-2.19").name, "YugabyteDB");
    }
}
