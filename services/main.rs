//! The program.

use std::process::ExitCode;

/// Many small messages are made and dropped on many threads, where the system's allocator is slow.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    fulcrum::cli::main()
}
