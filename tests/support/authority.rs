//! A private certificate authority, as companies have one: a root that signs an intermediate one, which signs the rest.

use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, CertifiedIssuer, DnType,
    ExtendedKeyUsagePurpose, IsCa, KeyIdMethod, KeyPair, KeyUsagePurpose, RevokedCertParams, SerialNumber,
    date_time_ymd,
};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

pub struct Authority {
    root: CertifiedIssuer<'static, KeyPair>,
    intermediate: CertifiedIssuer<'static, KeyPair>,
}

pub struct Issued {
    pub chain: String,
    pub key: String,
    serial: u64,
}

pub struct Wanted {
    common_name: String,
    names: Vec<String>,
    purpose: ExtendedKeyUsagePurpose,
    years: (i32, i32),
}

impl Wanted {
    /// One for a server of these names and addresses.
    pub fn server(names: &[&str]) -> Wanted {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        let common_name = "a server".to_owned();
        Wanted { common_name, names, purpose: ExtendedKeyUsagePurpose::ServerAuth, years: (2020, 2900) }
    }

    /// One for a client, which logs in as its common name.
    pub fn client(common_name: &str) -> Wanted {
        let purpose = ExtendedKeyUsagePurpose::ClientAuth;
        Wanted { common_name: common_name.to_owned(), names: Vec::new(), purpose, years: (2020, 2900) }
    }

    /// The same, valid from the first day of one year to that of another.
    pub fn years(mut self, from: i32, to: i32) -> Wanted {
        self.years = (from, to);
        self
    }

    fn params(&self, serial: u64) -> CertificateParams {
        let mut params = CertificateParams::new(self.names.clone()).unwrap();
        params.distinguished_name.push(DnType::CommonName, self.common_name.clone());
        params.extended_key_usages = vec![self.purpose.clone()];
        params.serial_number = Some(SerialNumber::from(serial));
        (params.not_before, params.not_after) = (date_time_ymd(self.years.0, 1, 1), date_time_ymd(self.years.1, 1, 1));
        params
    }
}

/// No two certificates have the same number: lists of revoked ones name them by it.
fn next_serial() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(1000);
    LAST.fetch_add(1, Ordering::SeqCst)
}

fn authority_params(name: &str, serial: u64) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params.serial_number = Some(SerialNumber::from(serial));
    params
}

impl Authority {
    pub fn new(name: &str) -> Authority {
        let key = || KeyPair::generate().unwrap();
        let root = CertifiedIssuer::self_signed(authority_params(name, next_serial()), key()).unwrap();
        let params = authority_params(&format!("{name}, intermediate"), next_serial());
        let intermediate = CertifiedIssuer::signed_by(params, key(), &root).unwrap();
        Authority { root, intermediate }
    }

    pub fn root(&self) -> String {
        self.root.pem()
    }

    pub fn issue(&self, wanted: &Wanted) -> Issued {
        let (serial, key) = (next_serial(), KeyPair::generate().unwrap());
        let certificate = wanted.params(serial).signed_by(&key, &self.intermediate).unwrap();
        Issued { chain: certificate.pem() + &self.intermediate.pem(), key: key.serialize_pem(), serial }
    }

    /// The root's list of revoked certificates, with none on it, and the intermediate's, with these on it; to be
    /// renewed in that year.
    pub fn lists(&self, revoked: &[&Issued], renewed: i32) -> (String, String) {
        (list(&self.root, &[], renewed), list(&self.intermediate, revoked, renewed))
    }
}

fn list(issuer: &CertifiedIssuer<'static, KeyPair>, revoked: &[&Issued], renewed: i32) -> String {
    let this_update = date_time_ymd(2020, 1, 1);
    let revoked = revoked.iter().map(|issued| RevokedCertParams {
        serial_number: SerialNumber::from(issued.serial),
        revocation_time: this_update,
        reason_code: None,
        invalidity_date: None,
    });
    let params = CertificateRevocationListParams {
        this_update,
        next_update: date_time_ymd(renewed, 1, 1),
        crl_number: SerialNumber::from(1),
        issuing_distribution_point: None,
        revoked_certs: revoked.collect(),
        key_identifier_method: KeyIdMethod::Sha256,
    };
    params.signed_by(issuer).unwrap().pem().unwrap()
}

/// A certificate that signed itself and calls itself an authority, as `openssl req -x509` makes them.
pub fn self_signed(names: &[&str]) -> Issued {
    let (serial, key) = (next_serial(), KeyPair::generate().unwrap());
    let mut params = Wanted::server(names).params(serial);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.extended_key_usages = Vec::new();
    Issued { chain: params.self_signed(&key).unwrap().pem(), key: key.serialize_pem(), serial }
}

/// Writes a file with that mode and gives back where it is.
pub fn write(path: &Path, text: &str, mode: u32) -> PathBuf {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    path.to_owned()
}
