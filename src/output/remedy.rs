use crate::model::Remedy;

/// The hint that names the option or the command.
pub fn remedy(remedy: Remedy) -> &'static str {
    match remedy {
        Remedy::GivePassword => "PGPASSWORD, a password file (~/.pgpass) or --password-file can give one",
        Remedy::AllowMoreTime => "allow more time with --timeout, or narrow the selection",
        Remedy::LimitJobs => "try again, perhaps with --limit",
        Remedy::AllowNetworkFiles => {
            "run it on the host that has the disk, or add --network-files if every process that opens the \
             file runs on this host"
        }
        Remedy::AllowSecondName { is_mount: true } => {
            "mount the directory instead of the file; or add --second-name if every process that uses the file opens it \
             by this path"
        }
        Remedy::AllowSecondName { is_mount: false } => {
            "remove the other name; or add --second-name if every process that uses the file opens it by this path"
        }
        Remedy::Write => "or run `jobdoctor reclaim --apply`",
        Remedy::ApplyInstead => "let jobdoctor do it: --apply instead of --emit-sql",
        Remedy::WaitForSweepLock => "or let this one wait with --lock-wait 30s",
        // The nearest preset refuses these tables when it is named, too.
        Remedy::NameOrMap { has_nearest: true } => {
            "draft a mapping of your own table with `jobdoctor adopt TABLE` (`jobdoctor help mapping`), or change the nearest \
             preset to fit (`jobdoctor presets show NAME` prints it in the format of a mapping)"
        }
        Remedy::NameOrMap { has_nearest: false } => {
            "draft a mapping of your own table with `jobdoctor adopt TABLE` (`jobdoctor help mapping`); or name a preset with \
             --preset (`jobdoctor presets` lists them)"
        }
        Remedy::MakeLedger => "then create the ledger again with `jobdoctor init --ledger`",
    }
}
