//! The program: hands the arguments to the command line layer and returns its exit code.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    jobdoctor::cli::main(std::env::args_os())
}
