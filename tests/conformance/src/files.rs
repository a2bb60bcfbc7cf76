//! Where the recorded hands lie, and how their lines are read.

use std::env;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

/// The files to replay.
pub struct Files {
    /// All of them, in the order of their names.
    pub paths: Vec<PathBuf>,
    /// Whether they are only the sample that lies in this repository, because the folder has none.
    pub only_sample: bool,
}

impl Files {
    /// Every `*.jsonl` and `*.jsonl.gz` in the folder `CONFORMANCE_DIR` (seen from the project's root; without the
    /// variable `../shared/conformance`). If there is none: the sample in `tests/data`.
    ///
    /// # Errors
    /// If there is none although `CI=true`: a build that is to be trusted may not compare a sample only.
    pub fn find() -> io::Result<Files> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let folder = env::var_os("CONFORMANCE_DIR").unwrap_or("../shared/conformance".into());
        let folder = root.join(folder);
        let paths = records_in(&folder)?;
        if !paths.is_empty() {
            return Ok(Files { paths, only_sample: false });
        }
        if env::var_os("CI").is_some_and(|ci| ci == "true") {
            let message = format!("no *.jsonl and no *.jsonl.gz in {}", folder.display());
            return Err(io::Error::new(io::ErrorKind::NotFound, message));
        }
        let paths = records_in(&root.join("tests/data"))?;
        Ok(Files { paths, only_sample: true })
    }
}

/// The files of records in a folder; none if there is no such folder.
fn records_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let name = path.to_string_lossy();
        if name.ends_with(".jsonl") || name.ends_with(".jsonl.gz") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// The lines of a file, unpacked if need be, each with its number from 1; empty ones are left out.
///
/// # Errors
/// If the file cannot be read; a line that cannot is an error of its own.
pub fn lines(path: &Path) -> io::Result<impl Iterator<Item = (usize, io::Result<String>)>> {
    let file = File::open(path)?;
    let bytes: Box<dyn Read> = if path.extension().is_some_and(|ending| ending == "gz") {
        Box::new(MultiGzDecoder::new(file))
    } else {
        Box::new(file)
    };
    let numbered = (1..).zip(BufReader::new(bytes).lines());
    Ok(numbered.filter(|(_, line)| !line.as_ref().is_ok_and(|line| line.trim().is_empty())))
}
