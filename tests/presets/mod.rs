//! Presets as files: every built-in one is sound, every malformed one is refused with a message that helps, and the SQL that
//! they give rise to is looked at whole.

mod complete;
mod malformed;
mod qualified;
mod statements;
mod template;
mod touches;
