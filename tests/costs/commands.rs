//! The commands that every input is given to: a new one is one line.

/// Arguments; the input's file follows, or takes the place of `FILE`.
pub const COMMANDS: &[&[&str]] = &[
    &["validate"],
    &["validate", "--all", "--min-severity=note", "--color=always"],
    &["validate", "--format=json"],
    &["validate", "--format=json", "--min-severity=note", "--show=parsed"],
    &["validate", "--show=parsed", "--target=xds:///l"],
    &["validate", "--format=sarif"],
    &["validate", "--format=github"],
    &["validate", "--format=junit"],
    &["validate", "--format=markdown"],
    &["validate", "--as=bootstrap"],
    &["validate", "--bootstrap=FILE"],
    &["tree"],
    &["tree", "--all", "--layout=a37", "--color=always"],
    &["tree", "--format=json"],
    &["tree", "--format=dot"],
    &["tree", "--format=mermaid"],
    &["tree", "--format=svg"],
    &["tree", "--cluster=c"],
    &["route"],
    &["route", "--format=json"],
    &["pick"],
    &["pick", "--explain", "--format=json"],
    &["pick", "--count=1000"],
    &["pick", "--down=c", "--count=3"],
    &["pick", "--address=10.0.0.1:80"],
    &["pick", "--bootstrap=FILE"],
    &["test", "--init"],
    &["test", "--record"],
    &["retry"],
    &["retry", "--format=json"],
];

/// Arguments of `pick` for each script, which takes the place of `FILE`.
pub const SCRIPTED: &[&[&str]] = &[
    &["pick", "--requests=FILE"],
    &["pick", "--requests=FILE", "--format=json"],
];
