//! Runs a target on files: `cargo run -p xdsctl-fuzz --example replay -- TARGET FILE...`. Needs no
//! fuzzer.

fn main() -> std::io::Result<()> {
    let mut args = std::env::args().skip(1);
    let target = args.next().unwrap_or_default();
    for path in args {
        println!("{path}");
        xdsctl_fuzz::run(&target, &std::fs::read(path)?);
    }
    Ok(())
}
