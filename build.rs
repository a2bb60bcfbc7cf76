//! Compiles `proto/` without protoc: messages, clients and servers of every package found there, and the descriptor
//! sets of the public contracts, which reflection serves.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The root of all imports.
const ROOT: &str = "proto";
/// What others may see: what we serve, and what a wallet serves. Stored records are compiled, but never described to
/// anybody.
const PUBLIC: [(&str, &str); 2] =
    [("proto/fulcrum/v1", "fulcrum.v1.binpb"), ("proto/fulcrum/wallet/v1", "fulcrum.wallet.v1.binpb")];
/// Messages that hold cards of one player only: their `Debug` is written by hand, in `services/pb.rs`.
const PRIVATE: [&str; 5] = [
    ".fulcrum.v1.HandSeat",
    ".fulcrum.v1.HoleCardsDealt",
    ".fulcrum.v1.PivotPicked",
    ".fulcrum.v1.SelectPivotRequest",
    ".fulcrum.v1.SelectPivotResponse",
];
/// Large messages in a oneof whose other messages are small.
const BOXED: [&str; 3] = [
    ".fulcrum.v1.TableMessage.content.snapshot",
    ".fulcrum.v1.TableEvent.event.table_opened",
    ".fulcrum.v1.TableEvent.event.config_changed",
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed={ROOT}");
    tell_the_build()?;
    let out = PathBuf::from(env::var("OUT_DIR")?);

    for (folder, name) in PUBLIC {
        let mut public = compiler()?;
        public.open_files(proto_files(Path::new(folder))?)?;
        // tonic's build step writes no descriptor set; protox's own encoding also keeps the comments.
        fs::write(out.join(name), public.encode_file_descriptor_set())?;
    }

    let mut all = compiler()?;
    all.open_files(proto_files(Path::new(ROOT))?)?;
    let mut generator = tonic_prost_build::configure().skip_debug(PRIVATE);
    for field in BOXED {
        generator = generator.boxed(field);
    }
    generator.compile_fds(all.file_descriptor_set())?;
    Ok(())
}

/// What the program says of how it was built. The revision is told by whoever builds, as images do: were it read from the
/// repository, every commit would build everything anew.
fn tell_the_build() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-env-changed=FULCRUM_REVISION");
    let compiler = Command::new(env::var("RUSTC")?).arg("--version").output()?;
    // PROFILE is `release` for every profile that inherits it; the folder has the name.
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let profile = out.ancestors().nth(3).and_then(Path::file_name).ok_or("OUT_DIR is too short")?;
    let facts = [
        ("REVISION", env::var("FULCRUM_REVISION").unwrap_or_default()),
        ("COMPILER", String::from_utf8(compiler.stdout)?.trim().to_owned()),
        ("PROFILE", profile.to_string_lossy().into_owned()),
        ("TARGET", env::var("TARGET")?),
    ];
    for (name, fact) in facts {
        println!("cargo:rustc-env=FULCRUM_BUILD_{name}={fact}");
    }
    Ok(())
}

fn compiler() -> Result<protox::Compiler, protox::Error> {
    let mut compiler = protox::Compiler::new([ROOT])?;
    compiler.include_imports(true).include_source_info(true);
    Ok(compiler)
}

/// Every `.proto` file below a folder, in the same order on every machine.
fn proto_files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(proto_files(&path)?);
        } else if path.extension().is_some_and(|ext| ext == "proto") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
