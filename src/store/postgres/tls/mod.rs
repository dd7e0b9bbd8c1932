//! TLS to a server, with rustls and by libpq's rules (`fe-secure-openssl.c` of 15 to 17). Nothing here changes a
//! setting of the whole process.

mod failure;
mod files;
mod verifier;

pub use failure::failure;
pub(super) use failure::is_of_the_handshake;
pub use verifier::{Handshake, Tls, connector};
