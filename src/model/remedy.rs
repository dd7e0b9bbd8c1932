/// A way out of an error by an option or a command of jobdoctor. Lower layers return it; `output` words it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// Give a password.
    GivePassword,
    /// Allow more time.
    AllowMoreTime,
    /// Move fewer jobs at once.
    LimitJobs,
    /// Allow writing on a network file system.
    AllowNetworkFiles,
    /// Use a SQLite file by its other name, or allow the second one.
    AllowSecondName {
        /// True if the file itself is a mount point.
        is_mount: bool,
    },
    /// Write, so that SQLite rolls a journal back.
    Write,
    /// Apply a plan instead of printing it as SQL.
    ApplyInstead,
    /// Wait for the sweep lock.
    WaitForSweepLock,
    /// Name a preset, or draft a mapping of the table.
    NameOrMap {
        /// True if the error names the preset that the tables resemble most.
        has_nearest: bool,
    },
    /// Make a new ledger.
    MakeLedger,
}
