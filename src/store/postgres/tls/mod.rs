//! TLS to a server, with rustls and by libpq's rules (`fe-secure-openssl.c` of 15 to 17). Nothing here changes a
//! setting of the whole process.

mod connector;
mod failure;
mod files;
#[cfg(test)]
mod tests;
mod verifier;

pub(super) use connector::{Tls, connector};
pub(super) use failure::{failure, is_of_the_handshake};
