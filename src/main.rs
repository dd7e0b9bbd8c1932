//! The program: hands the arguments to the command line layer and returns its exit code.

fn main() {}
