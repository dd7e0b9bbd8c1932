use crate::render::{Align, Cell, Column, Table};
use crate::report::{PresetEntry, Presets};

/// All of them, one a line.
pub fn list(document: &Presets) -> Table {
    let column = |title, importance, shrinks_to| Column { title, align: Align::Left, importance, shrinks_to };
    let columns = vec![
        column("preset", 0, None),
        column("queue", 1, Some(20)),
        column("engines", 4, None),
        column("liveness", 0, Some(16)),
        column("can", 2, Some(28)),
        column("proof", 3, None),
        column("versions", 5, Some(10)),
    ];
    let row = |preset: &PresetEntry| cells(preset).into_iter().map(Cell::from).collect();
    Table { columns, rows: document.presets.iter().map(row).collect() }
}

/// One of them, in the order of the columns.
pub(super) fn cells(preset: &PresetEntry) -> [String; 7] {
    let or_dash = |words: &[String]| if words.is_empty() { "-".to_owned() } else { words.join(", ") };
    [
        preset.name.clone(),
        preset.title.clone(),
        preset.engines.join(", "),
        liveness(preset),
        preset.can.join(", "),
        preset.proof.clone(),
        or_dash(&preset.checked),
    ]
}

/// Best first; a semicolon before what some variants of the queue have instead.
fn liveness(preset: &PresetEntry) -> String {
    let words = |signs: &[String]| match signs {
        [] => "none".to_owned(),
        [only] if only == "age" => "age only".to_owned(),
        several => several.join(", "),
    };
    let variants = preset.variant_liveness.iter().map(|variant| variant.liveness.as_slice());
    [preset.liveness.as_slice()].into_iter().chain(variants).map(words).collect::<Vec<_>>().join("; ")
}
