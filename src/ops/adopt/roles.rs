//! What a column probably keeps, by its name and type. Rows outrank it; it says where to look and what to propose.

use crate::preset::words;

/// What values of a type can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Time,
    /// A whole or real number, which may be a time.
    Number,
    Text,
    Boolean,
    Json,
    /// A uuid, a blob and whatever else.
    Other,
}

/// What a column probably keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Role {
    State,
    Claimed,
    Heartbeat,
    Lease,
    /// When the job ended, badly if `true`; or the flag that it did.
    Ended(bool),
    /// A time that says nothing about a claim: of its creation, of its next run, of the last change.
    OtherTime,
    Updated,
    Owner,
    Host,
    Attempts,
    MaxAttempts,
    Queue,
    Kind,
    Payload,
    LastError,
    Token,
}

/// Words by role, the role that counts first coming first.
const ROLES: [(Role, &str); 15] = [
    (Role::Token, "token version"),
    (Role::Heartbeat, "heartbeat beat beats pinged ping pulse pulsed alive seen keepalive renewed refreshed"),
    (Role::Lease, "until expires expiry expire lease visible invisible"),
    (Role::Ended(true), "failed dead died errored buried bounced rejected gave"),
    (
        Role::Ended(false),
        "finished completed complete done ended delivered processed succeeded cancelled canceled closed sent stopped finish end",
    ),
    (Role::OtherTime, "created queued enqueued inserted added submitted scheduled due available"),
    (Role::Updated, "updated modified changed touched"),
    (
        Role::Claimed,
        "started start claimed locked leased picked reserved taken began begun acquired dequeued received popped running busy",
    ),
    (Role::State, "state status phase stage step"),
    (Role::Owner, OWNER),
    (Role::Host, "host hostname machine"),
    (Role::Queue, "queue channel lane topic tube"),
    (Role::LastError, "error err exception traceback failure"),
    (Role::Payload, "payload args arguments params parameters data body input"),
    (Role::Kind, "kind type task class handler pipeline"),
];
const OWNER: &str = "worker owner holder runner node agent taker consumer processor instance executor by";
const TRIES: &str = "attempts attempt retries retry tries try failures";
const MOST: &str = "max maximum limit allowed";
/// Words with which an attempts counter counts down.
const LEFT: &str = "left remaining remain";

/// Words of columns that keep a deletion: a job that has one is none any more.
const DELETED: &str = "deleted removed archived trashed voided";
/// Words in the names of columns that outlive a claim, whatever the rows show.
const KEPT: &str = "deleted removed archived trashed voided cancel cancelled canceled result results output checkpoint \
                    cursor progress note notes comment comments";
/// Words of which the names of a claim's own columns are made.
const OF_CLAIMS: &str = "lock locked claim claimed lease leased pick picked reserve reserved start started take taken taker \
    heartbeat beat pinged ping pulse worker owner holder runner token fencing at by until id on time last is host pid \
    hostname node process expires expiry acquired session instance executor began begun";

/// Whether a column keeps a deletion.
pub(super) fn is_deletion(column: &str) -> bool {
    let words = words(column);
    words.iter().any(|word| is_among(word, DELETED)) && !words.last().is_some_and(|word| is_among(word, "by id"))
}

pub(super) fn is_kept(column: &str) -> bool {
    words(column).iter().any(|word| is_among(word, KEPT))
}

/// Whether a column is called like one of a claim and of nothing else: `lock_token`, not `payment_token`.
pub(super) fn is_called_as_claims(column: &str) -> bool {
    words(column).iter().all(|word| word.is_empty() || is_among(word, OF_CLAIMS))
}

/// Whether a word is one of these, between blanks.
pub(super) fn is_among(word: &str, known: &str) -> bool {
    known.split(' ').any(|known| known == word)
}

/// What values of that type can be, as the catalog spells it.
pub(super) fn class(type_name: &str) -> Class {
    let name = type_name.to_lowercase();
    let begins = |words: &[&str]| words.iter().any(|word| name.starts_with(word));
    if begins(&["timestamp"]) && name.contains("zone") {
        return Class::Time;
    }
    if begins(&["bool"]) {
        return Class::Boolean;
    }
    if begins(&["json"]) {
        return Class::Json;
    }
    let is_integer = name.contains("int") && !begins(&["interval", "point"]);
    if is_integer || begins(&["numeric", "decimal", "real", "double", "float"]) {
        return Class::Number;
    }
    // SQLite keeps text in columns that are declared as times.
    if name.contains("char") || name.contains("text") || begins(&["datetime", "timestamp", "date"]) || name.is_empty() {
        return Class::Text;
    }
    Class::Other
}

/// What a column probably keeps; `is_enum` for a type with labels.
pub(super) fn role(name: &str, class: Class, is_enum: bool) -> Option<Role> {
    let words = words(name);
    let has = |known: &str| words.iter().any(|word| is_among(word, known));
    if has(TRIES)
        && class == Class::Number
        && !has("fee cost price amount delay backoff after interval seconds secs ms at")
    {
        return Some(if has(MOST) { Role::MaxAttempts } else { Role::Attempts });
    }
    if has("count") && has("fail failed error errors attempted") && class == Class::Number {
        return Some(Role::Attempts);
    }
    let is_id = words.last().is_some_and(|word| word == "id");
    let is_by = has("by") && !words.last().is_some_and(|word| is_among(word, "at on"));
    let by_a_person = is_by && has("created updated requested modified submitted cancelled added");
    let fits = |role: Role| match role {
        Role::Claimed | Role::Ended(_) => {
            !is_by && !is_id && !is_enum && matches!(class, Class::Time | Class::Number | Class::Text | Class::Boolean)
        }
        Role::Heartbeat | Role::Lease | Role::OtherTime | Role::Updated => {
            !is_by && !is_id && matches!(class, Class::Time | Class::Number | Class::Text)
        }
        Role::State => is_enum || matches!(class, Class::Text | Class::Number | Class::Boolean),
        Role::Owner => !by_a_person && !is_enum && !matches!(class, Class::Time | Class::Boolean),
        Role::Host | Role::Queue | Role::Kind => is_enum || matches!(class, Class::Text | Class::Number),
        Role::LastError => matches!(class, Class::Text | Class::Json),
        Role::Payload => matches!(class, Class::Text | Class::Json | Class::Other),
        Role::Token | Role::Attempts | Role::MaxAttempts => true,
    };
    // `locked_by` names an owner although its first word is that of a time.
    if is_by && fits(Role::Owner) {
        return Some(Role::Owner);
    }
    let known = ROLES.iter().find(|(role, known)| has(known) && fits(*role)).map(|(role, _)| *role);
    // A flag is called like the state that it tells: `processing`, `in_progress`.
    known.or_else(|| (class == Class::Boolean && Meaning::of(name) == Some(Meaning::InFlight)).then_some(Role::Claimed))
}

/// Whether an attempts counter of that name holds what is left.
pub(super) fn counts_down(name: &str) -> bool {
    words(name).iter().any(|word| is_among(word, LEFT))
}

/// What a state of that name probably means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Meaning {
    Waiting,
    InFlight,
    Done,
    Failed,
    Cancelled,
    Ignored,
}

const MEANINGS: [(Meaning, &str); 5] = [
    (
        Meaning::Waiting,
        "new queued pending ready waiting available enqueued scheduled todo created open idle retry retrying delayed submitted unprocessed free requested",
    ),
    (
        Meaning::InFlight,
        "running active started claimed locked busy picked leased reserved inflight progress assigned taken acquired dequeued",
    ),
    (
        Meaning::Done,
        "done finished completed complete succeeded success successful ok processed paid sent delivered closed resolved published shipped",
    ),
    (
        Meaning::Failed,
        "failed fail failure error errored dead discarded crashed bounced declined rejected exhausted timeout timedout buried gave abandoned abandon lost poison poisoned broken",
    ),
    (Meaning::Cancelled, "cancelled canceled aborted revoked skipped obsolete"),
];

impl Meaning {
    pub(super) const ALL: [Meaning; 6] =
        [Meaning::Waiting, Meaning::InFlight, Meaning::Done, Meaning::Failed, Meaning::Cancelled, Meaning::Ignored];

    pub(super) fn key(self) -> &'static str {
        match self {
            Meaning::Waiting => "waiting",
            Meaning::InFlight => "in_flight",
            Meaning::Done => "done",
            Meaning::Failed => "failed",
            Meaning::Cancelled => "cancelled",
            Meaning::Ignored => "ignored",
        }
    }

    /// What a state of that name probably means: by its last word, or what its verb says is going on.
    pub(super) fn of(state: &str) -> Option<Meaning> {
        // `COMPLETED` is one word, not nine.
        let name = if state.chars().any(char::is_lowercase) { state.to_owned() } else { state.to_lowercase() };
        let words = words(&name);
        let last = words.iter().rev().find(|word| !word.is_empty())?;
        // `gave_up` has its meaning in its verb.
        let telling = if is_among(last, "up out") { words.first().unwrap_or(last) } else { last };
        let known = MEANINGS.iter().find(|(_, known)| is_among(telling, known)).map(|(meaning, _)| *meaning);
        // `dead_retry` says two things.
        let is_bad = |word: &String| is_among(word, MEANINGS[3].1) || is_among(word, MEANINGS[4].1);
        if known == Some(Meaning::Waiting) && words.iter().any(is_bad) {
            return None;
        }
        known.or_else(|| (last.len() > 4 && last.ends_with("ing")).then_some(Meaning::InFlight))
    }
}
