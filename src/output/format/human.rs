/// A number with its noun: `1 job`, `2 jobs`, `12,345 jobs`.
pub fn count(n: u64, singular: &str, plural: &str) -> String {
    let noun = if n == 1 { singular } else { plural };
    format!("{} {noun}", grouped(n))
}

/// The text, or the dash that stands for "not known". An empty text is a dash as well, so that no cell looks forgotten.
pub fn or_dash(text: Option<&str>) -> &str {
    text.filter(|text| !text.is_empty()).unwrap_or("-")
}

/// A number with its thousands set apart: `12,345`.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn count_agrees_with_its_noun() {
        let cases = [
            (0, "0 jobs"),
            (1, "1 job"),
            (2, "2 jobs"),
            (999, "999 jobs"),
            (1000, "1,000 jobs"),
            (12_345, "12,345 jobs"),
            (u64::MAX, "18,446,744,073,709,551,615 jobs"),
        ];
        for (n, words) in cases {
            assert_eq!(count(n, "job", "jobs"), words);
        }
    }

    #[test]
    fn nothing_is_a_dash() {
        assert_eq!(or_dash(None), "-");
        assert_eq!(or_dash(Some("")), "-");
        assert_eq!(or_dash(Some("web1")), "web1");
    }
}
