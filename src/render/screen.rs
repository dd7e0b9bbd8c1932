/// Where human output goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Screen {
    /// Display cells per line; `None` is unlimited: nothing is cut, dropped or wrapped.
    pub width: Option<usize>,
    /// Whether tones become colours.
    pub color: bool,
}
