//! Reads the repository's own text, so that its house rules can be tests.

use std::fs;
use std::path::{Path, PathBuf};

/// A Rust file of the project.
pub struct Source {
    /// Its path from the project's root, with `/`.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// The project's root.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every `.rs` file under `services/` and `tests/`, and the build script.
#[must_use]
pub fn sources() -> Vec<Source> {
    let mut paths = vec![root().join("build.rs")];
    for folder in ["services", "tests"] {
        walk(&root().join(folder), &mut paths);
    }
    paths.sort();
    paths
        .into_iter()
        .filter(|path| path.extension().is_some_and(|ext| ext == "rs"))
        .map(|path| {
            let short = path.strip_prefix(root()).unwrap_or(&path).to_string_lossy().replace('\\', "/");
            Source { text: read(&path), path: short }
        })
        .collect()
}

/// The files beside the folders.
const TOP: [&str; 11] = [
    ".dockerignore",
    ".gitignore",
    "CHANGELOG.md",
    "Cargo.toml",
    "README.md",
    "SECURITY.md",
    "build.rs",
    "clippy.toml",
    "deny.toml",
    "rust-toolchain.toml",
    "rustfmt.toml",
];

/// Every file of the project that people read or run, build output left out.
#[must_use]
pub fn texts() -> Vec<(String, String)> {
    let mut paths = Vec::new();
    for name in ["services", "tests", "proto", "deploy", ".ci"] {
        walk(&root().join(name), &mut paths);
    }
    paths.extend(TOP.iter().map(|name| root().join(name)));
    paths
        .into_iter()
        .filter_map(|path| {
            let text = fs::read_to_string(&path).ok()?;
            let short = path.strip_prefix(root()).unwrap_or(&path).to_string_lossy().into_owned();
            Some((short, text))
        })
        .collect()
}

/// A file's text; a missing one is a failure of the test that asks.
///
/// # Panics
/// If it cannot be read.
#[must_use]
pub fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            if path.file_name().is_some_and(|name| name != "target") {
                walk(&path, found);
            }
        } else {
            found.push(path);
        }
    }
}

/// A function's name, first line (from 1) and length in lines.
pub struct Function {
    /// Its name.
    pub name: String,
    /// Where it begins.
    pub line: usize,
    /// How long it is.
    pub lines: usize,
}

/// The functions of a formatted file: from `fn` to the closing brace at the same indentation.
#[must_use]
pub fn functions(text: &str) -> Vec<Function> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        let Some(name) = function_name(code) else {
            continue;
        };
        let indent = line.len() - code.len();
        let closing = format!("{}}}", " ".repeat(indent));
        let header =
            lines[at..].iter().position(|l| l.ends_with('{') || l.ends_with(';') || l.ends_with('}'));
        let opens = header.is_some_and(|offset| lines[at + offset].ends_with('{'));
        let end = lines[at..].iter().position(|l| **l == closing);
        if let (true, Some(length)) = (opens, end) {
            found.push(Function { name: name.to_string(), line: at + 1, lines: length + 1 });
        }
    }
    found
}

fn function_name(code: &str) -> Option<&str> {
    let mut rest = code;
    for word in ["pub ", "pub(crate) ", "pub(super) ", "const ", "async "] {
        rest = rest.strip_prefix(word).unwrap_or(rest);
    }
    let name = rest.strip_prefix("fn ")?;
    name.split(['(', '<']).next()
}
