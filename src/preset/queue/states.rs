use crate::model::Cell;

/// A state: what it is called and how it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct StateValue {
    /// The queue's own name for it.
    pub name: String,
    /// The stored value: text or an integer.
    pub stored: Cell,
}

/// The states of a queue, by meaning.
#[derive(Debug, Clone, Default)]
pub struct States {
    /// Not claimed yet.
    pub waiting: Vec<StateValue>,
    /// Held by some owner.
    pub in_flight: Vec<StateValue>,
    /// Ended well.
    pub done: Vec<StateValue>,
    /// Ended badly, for good.
    pub failed: Vec<StateValue>,
    /// Ended because somebody asked.
    pub cancelled: Vec<StateValue>,
    /// Rows that are no matter of the queue: known, and never looked at.
    pub ignored: Vec<StateValue>,
}

impl States {
    /// Every state.
    pub fn all(&self) -> impl Iterator<Item = &StateValue> {
        let all = [&self.waiting, &self.in_flight, &self.done, &self.failed, &self.cancelled, &self.ignored];
        all.into_iter().flatten()
    }

    /// Whether a stored value is that of a state, spelled as the preset spells it.
    pub fn has(&self, stored: &Cell) -> bool {
        // As text: a state that is declared as an integer may arrive cast.
        let text = stored.to_text();
        self.all().any(|state| state.stored.to_text() == text)
    }

    /// The queue's name for the stored value of a job that the database says is in flight. A collation may call a value one of the
    /// states that is spelled otherwise.
    pub fn in_flight_name(&self, stored: &Cell) -> String {
        let folded = |cell: &Cell| cell.to_text().map(|text| text.to_lowercase());
        let meant =
            self.in_flight.iter().filter(|_| !self.has(stored)).find(|state| folded(&state.stored) == folded(stored));
        meant.map_or_else(|| self.name_of(stored), |state| state.name.clone())
    }

    /// The queue's name for a stored value; the value itself where it has none.
    pub fn name_of(&self, stored: &Cell) -> String {
        // As text: a state that is declared as an integer may arrive cast.
        let text = stored.to_text();
        self.all().find(|state| state.stored.to_text() == text).map_or_else(|| stored.to_string(), |s| s.name.clone())
    }
}
