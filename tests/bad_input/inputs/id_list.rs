//! Lists of ids (`--from-file`): what is read comes once each, and a list of it is read as the same; what is not is refused
//! with a line that there is.

use jobdoctor::cli::parse_id_list;
use std::collections::BTreeSet;

pub fn holds(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match parse_id_list(&text) {
        Ok(ids) => {
            let once: BTreeSet<&String> = ids.iter().collect();
            assert_eq!(once.len(), ids.len(), "an id comes twice: {ids:?}");
            // Those that only JSON can spell have a line of their own in no other way.
            let plain = |id: &&String| !id.starts_with(['{', '\u{feff}']) && id.trim() == id.as_str() && !id.is_empty();
            let plain: Vec<String> = ids.iter().filter(plain).filter(|id| !id.contains('\n')).cloned().collect();
            assert_eq!(parse_id_list(&plain.join("\n")).as_ref(), Ok(&plain), "{text:?}");
        }
        Err((line, why)) => {
            assert!((1..=text.lines().count()).contains(&line), "{text:?} has no line {line}");
            assert!(!why.is_empty(), "{text:?}");
        }
    }
}
