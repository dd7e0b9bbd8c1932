//! Network file systems, on which SQLite's locks are unreliable: other hosts may have the file open too, and a WAL
//! needs shared memory.

use std::path::Path;

/// The name of a network file system, by its number from `statfs`.
fn named(magic: u32) -> Option<&'static str> {
    Some(match magic {
        0x6969 => "NFS",
        0x517B | 0xFE53_4D42 => "SMB",
        0xFF53_4D42 => "CIFS",
        0x0102_1997 => "9p",
        0x6573_5546 => "FUSE",
        0x5346_414F | 0x6B41_4653 => "AFS",
        0x7375_7245 => "Coda",
        0x00C3_6400 => "Ceph",
        0x0BD0_0BD0 => "Lustre",
        0x0116_1970 => "GFS2",
        0x7461_636F => "OCFS2",
        0x4750_4653 => "GPFS",
        0x1983_0326 => "BeeGFS",
        0x786F_4256 => "vboxsf",
        0xBACB_ACBC => "VMHGFS",
        0x7C7C_6673 => "Parallels",
        0x564C => "NCP",
        _ => return None,
    })
}

/// The name of the network file system that a path lies on, if any.
#[cfg(target_os = "linux")]
pub(super) fn beneath(path: &Path) -> Option<&'static str> {
    // The field's width and sign depend on the platform; the numbers have 32 bits.
    named(rustix::fs::statfs(path).ok()?.f_type as u32)
}

/// Other systems have no such numbers.
#[cfg(not(target_os = "linux"))]
pub(super) fn beneath(_path: &Path) -> Option<&'static str> {
    let _ = named;
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_systems_of_this_host() {
        // ext4, xfs, btrfs, zfs, tmpfs, overlayfs, f2fs, squashfs, ramfs.
        let local = [
            0xEF53,
            0x5846_5342,
            0x9123_683E,
            0x2FC1_2FC1,
            0x0102_1994,
            0x794C_7630,
            0xF2F5_2010,
            0x7371_7368,
            0x8584_58F6,
        ];
        local.iter().for_each(|magic| assert_eq!(named(*magic), None, "{magic:#x}"));
        assert_eq!(named(0x6969), Some("NFS"));
        // Whatever the temporary directory is on, what is not there is on nothing.
        assert_eq!(beneath(Path::new("/none/of/this/is/there")), None);
    }
}
