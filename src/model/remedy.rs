/// A way out of an error by an option or a command of jobdoctor. Lower layers return it; `output` words it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    GivePassword,
    AllowMoreTime,
    LimitJobs,
    AllowNetworkFiles,
    AllowSecondName { is_mount: bool },
    Write,
    WaitForSweepLock,
    NameOrMap { has_nearest: bool },
    MakeLedger,
}
