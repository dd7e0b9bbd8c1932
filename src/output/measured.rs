use std::collections::BTreeMap;

/// The jobs in flight of one snapshot, counted for monitoring: for [`super::Health`] and for metrics.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Measured {
    /// The queues that have jobs in flight, by name.
    pub queues: BTreeMap<Option<String>, MeasuredQueue>,
}

/// One queue; the key `None` stands for jobs whose queue is not known.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MeasuredQueue {
    /// The states of its jobs in flight, in the queue's own words.
    pub states: BTreeMap<String, MeasuredState>,
    /// The longest silence of its stuck claims; `None` where none is stuck, or none of the stuck ones ever showed a
    /// sign of life.
    pub oldest_silence_seconds: Option<f64>,
}

/// The claims of one queue in one state.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MeasuredState {
    pub in_flight: u64,
    pub unknown: u64,
    /// Stuck claims by their first reason. The usual reasons of this kind of queue are always present, if only with 0.
    pub stuck: BTreeMap<&'static str, u64>,
}

impl MeasuredQueue {
    pub fn in_flight(&self) -> u64 {
        self.states.values().map(|state| state.in_flight).sum()
    }

    pub fn unknown(&self) -> u64 {
        self.states.values().map(|state| state.unknown).sum()
    }

    pub fn stuck(&self) -> u64 {
        self.states.values().flat_map(|state| state.stuck.values()).sum()
    }
}

impl Measured {
    pub fn in_flight(&self) -> u64 {
        self.queues.values().map(MeasuredQueue::in_flight).sum()
    }

    pub fn unknown(&self) -> u64 {
        self.queues.values().map(MeasuredQueue::unknown).sum()
    }

    pub fn stuck(&self) -> u64 {
        self.queues.values().map(MeasuredQueue::stuck).sum()
    }

    /// The longest silence of a stuck claim.
    pub fn oldest_silence_seconds(&self) -> Option<f64> {
        self.queues.values().filter_map(|queue| queue.oldest_silence_seconds).reduce(f64::max)
    }
}
