/// A way out of an error by an option or a command of jobdoctor. Lower layers return it; `output` words it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    GivePassword,
    AllowMoreTime,
    LimitJobs,
    AllowNetworkFiles,
    /// Use a SQLite file by its other name, or allow the second one.
    AllowSecondName {
        /// True if the file itself is a mount point.
        is_mount: bool,
    },
    /// Write, so that SQLite rolls a journal back.
    Write,
    ApplyInstead,
    WaitForSweepLock,
    NameOrMap {
        /// True if the error names the preset that the tables resemble most.
        has_nearest: bool,
    },
    MakeLedger,
}
