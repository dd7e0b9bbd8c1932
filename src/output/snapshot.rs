use crate::model::{Target, Timestamp};
use serde::de::{Error as _, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// The schema of a saved snapshot.
pub const SNAPSHOT_SCHEMA: &str = "jobdoctor.snapshot/v1";

/// `jobdoctor.snapshot/v1`: a saved snapshot, with which the next run compares. It holds fingerprints only, no text of
/// the queue.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SavedSnapshot {
    /// [`SNAPSHOT_SCHEMA`].
    pub schema: String,
    /// The store's own time of that snapshot.
    pub store_time: Timestamp,
    pub target: Target,
    /// The claims that were in flight.
    pub claims: Vec<SavedClaim>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedClaim {
    pub key: Fingerprint,
    /// The fingerprint of the values that show life.
    pub values: Fingerprint,
    /// The first snapshot with these values.
    pub since_at: Timestamp,
    /// True if an earlier snapshot had other values.
    pub moved: bool,
    /// The fingerprint of the columns that show progress.
    pub progress: Option<Fingerprint>,
    /// The first snapshot with this progress.
    pub progress_since_at: Timestamp,
}

/// Sixteen bytes, as 32 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint(pub [u8; 16]);

impl Serialize for Fingerprint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.0))
    }
}

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Hex;
        impl Visitor<'_> for Hex {
            type Value = Fingerprint;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("32 hexadecimal digits")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Fingerprint, E> {
                let digits = text.len() == 32 && text.chars().all(|c| c.is_ascii_hexdigit());
                let number = u128::from_str_radix(text, 16).ok().filter(|_| digits);
                number
                    .map(|number| Fingerprint(number.to_be_bytes()))
                    .ok_or_else(|| E::custom("not 32 hexadecimal digits"))
            }
        }
        deserializer.deserialize_str(Hex).map_err(D::Error::custom)
    }
}
