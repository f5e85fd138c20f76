//! `xdsctl completions` and `xdsctl generate`: print the completion script of a shell; write man
//! pages and completions for packages.

use std::fs;
use std::path::Path;

use clap::ValueEnum as _;
use clap_complete::{Generator as _, Shell};

use crate::args::{CompletionsArgs, GenerateArgs, Generated, command};
use crate::{Error, Io};

pub(super) fn print_completions(args: &CompletionsArgs, io: &mut Io<'_>) -> Result<u8, Error> {
    io.out.write_all(&completions(args.shell))?;
    Ok(0)
}

pub(super) fn run(args: &GenerateArgs, io: &mut Io<'_>) -> Result<u8, Error> {
    let files = match args.what {
        Generated::Man => man_pages()?,
        Generated::Completions => completion_scripts(),
    };
    let dir = args
        .out
        .as_deref()
        .unwrap_or_else(|| Path::new(args.what.default_dir()));
    fs::create_dir_all(dir).map_err(Error::io("create", dir.display()))?;
    for (name, text) in files {
        let path = dir.join(name);
        fs::write(&path, text).map_err(Error::io("write", path.display()))?;
        say!(io.err, "wrote {}", path.display())?;
    }
    Ok(0)
}

/// Returns the man pages by file name: `xdsctl.1`, and one for each subcommand.
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
    let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let man = clap_mangen::Man::new(command.clone());
    // clap_mangen's title line loses an empty date, so that the next field takes its place.
    let heading = format!(".TH {} 1 \"\" \"{SOURCE}\" \"xdsctl\"\n", title.to_uppercase());
    let mut page = [PREAMBLE, &heading].concat().into_bytes();
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    page.extend(examples_section(&examples).bytes().chain(COMMON_SECTIONS.bytes()));
    Ok(page)
}

/// Returns the examples at the end of a command's help as a section of its man page.
fn examples_section(examples: &str) -> String {
    let lines = examples.lines().skip(1).map(|line| {
        let text = line
            .trim()
            .replace('\\', "\\e")
            .replace('-', "\\-")
            .replace('\'', "\\(aq");
        format!("{text}\n")
    });
    format!(".SH EXAMPLES\n.nf\n{}.fi\n", lines.collect::<String>())
}

/// The definition that clap_mangen's sections rely on: the apostrophe of the formatter.
const PREAMBLE: &str = ".ie \\n(.g .ds Aq \\(aq\n.el .ds Aq '\n";

/// The source of a man page, in its footer.
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
Width of the report, 40 to 400; without it that of the terminal, and off a terminal nothing is wrapped.
.TP
GITHUB_STEP_SUMMARY
File that \fB\-\-format github\fR adds a summary to.
.TP
GITHUB_WORKSPACE, CI_PROJECT_DIR
Root of the repository, which reports for code hosts name files from.
.PP
The switches of the client are taken from \fB\-\-env\fR alone, never from the environment.
"#;

/// Returns the completion scripts of all shells, by the file name that each shell expects.
pub fn completion_scripts() -> Vec<(String, Vec<u8>)> {
    let shells = Shell::value_variants().iter();
    shells
        .map(|shell| (shell.file_name("xdsctl"), completions(*shell)))
        .collect()
}

/// Returns the completion script of a shell.
pub fn completions(shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command(), "xdsctl", &mut script);
    script
}
