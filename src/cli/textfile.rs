//! The file that node_exporter's textfile collector reads: replaced whole or not at all, readable by everybody.

use super::error::CliError;
use super::exit::Exit;
use rustix::process::geteuid;
use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A larger file is none of ours: 200 queues take some 200 kB.
const LARGEST: u64 = 16 << 20;
/// The bit of a directory's mode.
const STICKY: u32 = 0o1000;
/// How a file of ours begins.
const BEGINNING: &str = "# HELP jobdoctor_";

/// See the module.
pub struct Textfile {
    path: PathBuf,
}

/// What the file said before this run.
#[derive(Debug, Default, PartialEq)]
pub struct Former {
    /// What its target was called.
    pub target: Option<String>,
    /// When the last run that ended with 0 did so, in seconds since 1970.
    pub last_success_at: Option<f64>,
}

impl Textfile {
    /// Makes sure that it can be written, while nothing has been done yet.
    ///
    /// # Errors
    /// When it cannot, or something else is there.
    pub fn at(path: &Path) -> Result<Textfile, CliError> {
        let textfile = Textfile { path: path.to_owned() };
        if path.symlink_metadata().is_ok() && !textfile.is_ours() {
            let message = format!("--textfile {}: something else is there", path.display());
            return Err(CliError::new(Exit::Usage, message)
                .hint("name a file that is not there yet; only a file of jobdoctor's own metrics is replaced"));
        }
        textfile.temporary().and_then(|_| textfile.may_be_replaced()).map_err(|error| textfile.cannot(&error))?;
        Ok(textfile)
    }

    /// What it says now. A file that cannot be read says nothing.
    pub fn former(&self, last_success: &str, command: &str) -> Former {
        self.text().map(|text| former(&text, last_success, command)).unwrap_or_default()
    }

    /// Replaces it.
    ///
    /// # Errors
    /// When it cannot be written; it is then as it was.
    pub fn write(&self, text: &str) -> Result<(), CliError> {
        self.replace(text).map_err(|error| self.cannot(&error))
    }

    fn replace(&self, text: &str) -> io::Result<()> {
        let mut file = self.temporary()?;
        file.write_all(text.as_bytes())?;
        // The collector runs as another user, whatever our umask.
        file.as_file().set_permissions(Permissions::from_mode(0o644))?;
        // Without this the name may survive a crash of the machine and the text not.
        file.as_file().sync_all()?;
        file.persist(&self.path).map_err(|error| error.error)?;
        Ok(())
    }

    /// In the same directory, for a rename is atomic within a file system only; by a name that no collector reads.
    fn temporary(&self) -> io::Result<NamedTempFile> {
        tempfile::Builder::new().prefix(".jobdoctor-metrics-").tempfile_in(self.directory())
    }

    /// In a sticky directory, like /tmp, others may add files and not replace each other's.
    fn may_be_replaced(&self) -> io::Result<()> {
        let Ok(file) = self.path.symlink_metadata() else { return Ok(()) };
        let directory = self.directory().metadata()?;
        let user = geteuid().as_raw();
        let is_free = directory.mode() & STICKY == 0 || [0, file.uid(), directory.uid()].contains(&user);
        if is_free { Ok(()) } else { Err(io::ErrorKind::PermissionDenied.into()) }
    }

    fn directory(&self) -> &Path {
        self.path.parent().filter(|directory| !directory.as_os_str().is_empty()).unwrap_or(Path::new("."))
    }

    fn cannot(&self, error: &io::Error) -> CliError {
        let exit = if error.kind() == io::ErrorKind::PermissionDenied { Exit::NoPermission } else { Exit::Config };
        // The temporary file's name would only confuse.
        CliError::new(exit, format!("the textfile {} cannot be written: {}", self.path.display(), error.kind())).hint(
            format!(
                "the directory {} must be there, and writable for the user who runs this",
                self.directory().display()
            ),
        )
    }

    /// An empty file is anybody's.
    fn is_ours(&self) -> bool {
        self.text().is_ok_and(|text| text.is_empty() || text.starts_with(BEGINNING))
    }

    /// Neither through a link, which the new file would replace, nor waiting for a pipe.
    fn text(&self) -> io::Result<String> {
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW;
        let file: File = OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(&self.path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::other("it is no file"));
        }
        let mut bytes = Vec::new();
        file.take(LARGEST).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// Reads the one sample that outlives a run. Anything that is not as this program writes it counts as not there.
fn former(text: &str, name: &str, command: &str) -> Former {
    let sample = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix("{target=\""));
    let Some((target, rest)) = sample.and_then(label) else { return Former::default() };
    let at = rest.strip_prefix(&format!(",command=\"{command}\"}} ")).and_then(|at| at.parse().ok());
    // Between 2000 and 2100, or it is no instant.
    let last_success_at = at.filter(|at: &f64| (946_684_800.0..4_102_444_800.0).contains(at));
    Former { target: Some(target), last_success_at }
}

/// The value of a label, up to its closing quote, and what comes after it.
fn label(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut characters = text.char_indices();
    while let Some((at, c)) = characters.next() {
        match c {
            '"' => return Some((value, text.get(at + 1..)?)),
            '\\' => value.push(match characters.next()?.1 {
                'n' => '\n',
                other => other,
            }),
            other => value.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: &str = "last_success";

    #[test]
    fn what_is_kept_is_read_strictly() {
        let good = "# HELP last_success x\nup{target=\"a\"} 1\nlast_success{target=\"a\\\"\\\\\\n}\",command=\"sweep\"} 1795168800.25\n";
        let target = Some("a\"\\\n}".to_owned());
        assert_eq!(
            former(good, NAME, "sweep"),
            Former { target: target.clone(), last_success_at: Some(1_795_168_800.25) }
        );
        for bad in ["NaN", "inf", "1e300", "0", "-1", "1795168800 1795168800", "soon", ""] {
            let text = good.replace("1795168800.25", bad);
            assert_eq!(former(&text, NAME, "sweep"), Former { target: target.clone(), last_success_at: None }, "{bad}");
        }
        assert_eq!(former(good, NAME, "stats").last_success_at, None, "another command's success is not ours");
        for none in ["", "last_success 1795168800\n", "last_success{target=\"a", "last_success{target=\"a\\"] {
            assert_eq!(former(none, NAME, "sweep"), Former::default(), "{none}");
        }
    }
}
