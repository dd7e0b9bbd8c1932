//! TLS to a server, by libpq's rules (`fe-secure-openssl.c` of 15 to 17) and with rustls: whom to trust, what to show
//! of ourselves, and what a failure means. Nothing here is a setting of the whole process.

mod client;
mod connector;
mod failure;
mod pem;
mod revoked;
mod roots;
#[cfg(test)]
mod tests;
mod verified;
mod verifier;

pub(super) use connector::{Tls, connector};
pub(super) use failure::{failure, is_of_the_handshake};
