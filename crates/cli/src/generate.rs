//! `xdsctl generate`: man pages and shell completions, written to files that packages ship.

use std::fs;
use std::path::Path;

use clap_complete::Shell;

use super::args::{GenerateArgs, Generated, command};
use super::{Error, Io};

/// Shells with completions.
const SHELLS: [Shell; 5] = [Shell::Bash, Shell::Elvish, Shell::Fish, Shell::PowerShell, Shell::Zsh];

pub(super) fn run(args: &GenerateArgs, io: &mut Io<'_>) -> Result<u8, Error> {
    let files = match args.what {
        Generated::Man => man_pages()?,
        Generated::Completions => completions(),
    };
    let dir = args
        .out
        .as_deref()
        .unwrap_or_else(|| Path::new(args.what.default_dir()));
    fs::create_dir_all(dir).map_err(|source| Error::Io {
        what: "create",
        name: dir.display().to_string(),
        source,
    })?;
    for (name, text) in files {
        let path = dir.join(name);
        fs::write(&path, text).map_err(|source| Error::Io {
            what: "write",
            name: path.display().to_string(),
            source,
        })?;
        writeln!(io.err, "wrote {}", path.display())?;
    }
    Ok(0)
}

/// The man pages by file name: `xdsctl.1` and one per subcommand.
///
/// # Errors
/// None in practice: the writer is a buffer.
pub fn man_pages() -> std::io::Result<Vec<(String, Vec<u8>)>> {
    let mut root = command().disable_help_subcommand(true);
    root.build();
    let mut pages = Vec::new();
    pages.push(("xdsctl.1".to_owned(), man_page(&root, "xdsctl".to_owned())?));
    for sub in root.get_subcommands().filter(|c| !c.is_hide_set()) {
        let title = format!("xdsctl-{}", sub.get_name());
        let page = man_page(sub, title.clone())?;
        pages.push((format!("{title}.1"), page));
    }
    Ok(pages)
}

fn man_page(command: &clap::Command, title: String) -> std::io::Result<Vec<u8>> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone())
        .title(title)
        .source(SOURCE)
        .manual("xdsctl")
        .render(&mut page)?;
    page.extend_from_slice(COMMON_SECTIONS.as_bytes());
    Ok(page)
}

/// What a man page says about where it comes from.
const SOURCE: &str = concat!("xdsctl ", env!("CARGO_PKG_VERSION"));

/// The sections at the end of every man page.
const COMMON_SECTIONS: &str = r#".SH "EXIT STATUS"
.TP
0
No finding is as bad as \fB\-\-fail\-on\fR says; the RPCs asked about work.
.TP
1
There are findings at or above \fB\-\-fail\-on\fR; the RPCs asked about fail; the answer rests on input that could not be read in full.
.TP
2
Wrong usage, input that cannot be read, or nothing in it that could be checked.
.SH ENVIRONMENT
.TP
NO_COLOR
If not empty: no colour, unless \fB\-\-color always\fR is given.
.TP
FORCE_COLOR, CLICOLOR_FORCE
If neither empty nor 0: colour also without a terminal.
.TP
TERM
If \fBdumb\fR: no colour.
.TP
COLUMNS
Width of the report, 40 to 400.
.PP
The switches of the client are taken from \fB\-\-env\fR alone, never from the environment.
"#;

/// The completion scripts by file name.
pub fn completions() -> Vec<(String, Vec<u8>)> {
    SHELLS
        .iter()
        .map(|&shell| {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut command(), "xdsctl", &mut script);
            let name = match shell {
                Shell::Bash => "xdsctl.bash",
                Shell::Elvish => "xdsctl.elv",
                Shell::Fish => "xdsctl.fish",
                Shell::PowerShell => "_xdsctl.ps1",
                _ => "_xdsctl",
            };
            (name.to_owned(), script)
        })
        .collect()
}
