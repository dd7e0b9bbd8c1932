#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| jobdoctor_fuzz::inputs::snapshot_file::holds(bytes));
