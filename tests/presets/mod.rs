//! Presets as files: every built-in one is sound, every malformed one is refused with a message that helps, and names in their
//! SQL are qualified.

mod complete;
mod malformed;
mod qualified;
mod template;
mod touches;
