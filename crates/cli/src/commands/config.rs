//! `xdsctl config show`: every setting, its value, and where it comes from.

use std::io::Write as _;

use comfy_table::{ContentArrangement, Table, presets};
use serde_json::{Value, json};

use crate::args::{ConfigShowArgs, Format, Level, ReportFormat, WorldMode};
use crate::config::policies::NamedPolicies;
use crate::config::{ProjectConfig, Setting};
use crate::{Error, Io};
use clap::ValueEnum;
use xdsctl_model::profile::Client;
use xdsctl_report::edge::visible_line;

/// The name of the schema of the JSON form.
const SCHEMA: &str = "xdsctl.config/v1";

struct SettingRow {
    name: String,
    value: Value,
    line: Option<usize>,
}

impl SettingRow {
    fn new<T>(name: &str, setting: Option<&Setting<T>>, default: &str, value: impl Fn(&T) -> Value) -> SettingRow {
        SettingRow {
            name: name.to_owned(),
            value: match setting {
                Some(setting) => value(&setting.value),
                None if default.is_empty() => Value::Null,
                None => Value::from(default),
            },
            line: setting.map(|setting| setting.line),
        }
    }
}

/// Prints the settings.
pub fn run(args: &ConfigShowArgs, io: &mut Io<'_>) -> Result<u8, Error> {
    let config = ProjectConfig::of(&args.config, io)?;
    let rows = rows(&config);
    let file = config.file.as_ref().map(|file| file.display().to_string());
    if args.format == Format::Json {
        let from = |row: &SettingRow| {
            row.line
                .map_or(json!("default"), |line| json!({ "file": file, "line": line }))
        };
        let settings: Vec<Value> = rows
            .iter()
            .map(|row| json!({ "name": row.name, "value": row.value, "from": from(row) }))
            .collect();
        let document = json!({ "schema": SCHEMA, "file": file, "settings": settings });
        writeln!(io.out, "{document:#}")?;
        return Ok(0);
    }
    let file = match file {
        Some(file) => file,
        None => {
            writeln!(
                io.err,
                "no {} here or around: these are the defaults",
                crate::config::FILE_NAME
            )?;
            String::new()
        }
    };
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled);
    for row in &rows {
        let value = match &row.value {
            Value::Null => "none".to_owned(),
            Value::String(text) => visible_line(text).into_owned(),
            other => other.to_string(),
        };
        let from = row.line.map_or("default".to_owned(), |line| format!("{file}:{line}"));
        let (name, from) = (visible_line(&row.name), visible_line(&from));
        table.add_row([&*name, value.as_str(), &*from]);
    }
    for line in table.lines() {
        writeln!(io.out, "{}", line.trim())?;
    }
    Ok(0)
}

fn rows(config: &ProjectConfig) -> Vec<SettingRow> {
    let level = |level: &Level| named(*level);
    let reference = Client::REFERENCE.to_string();
    let mut rows = vec![
        SettingRow::new("bootstrap", config.bootstrap.as_ref(), "", |path| {
            path.display().to_string().into()
        }),
        SettingRow::new("worlds", config.worlds.as_ref(), "auto", |world: &WorldMode| {
            named(*world)
        }),
        SettingRow::new("complete", config.complete.as_ref(), "false", |complete| {
            complete.to_string().into()
        }),
        SettingRow::new("clients", config.clients.as_ref(), &reference, |clients| {
            clients.join(", ").into()
        }),
        SettingRow::new("fail-on", config.fail_on.as_ref(), "error", |fail_on| {
            fail_on.to_string().into()
        }),
        SettingRow::new("min-severity", config.min_severity.as_ref(), "warning", level),
        SettingRow::new("format", config.format.as_ref(), "human", |format: &ReportFormat| {
            named(*format)
        }),
        SettingRow::new("baseline", config.baseline.as_ref(), "", |path| {
            path.display().to_string().into()
        }),
    ];
    let policies = &config.policies;
    let line = |at: usize| 1 + config.text.bytes().take(at).filter(|byte| *byte == b'\n').count();
    rows.extend(policies.named.iter().map(|NamedPolicies { path, at, ids }| SettingRow {
        name: "policies".to_owned(),
        value: format!("{path}: {}", ids.join(", ")).into(),
        line: Some(line(*at)),
    }));
    let own = config.file.as_ref().map(|file| file.display().to_string());
    let of_file = policies.files.iter().filter(|file| Some(&file.name) == own.as_ref());
    rows.extend(of_file.flat_map(|file| &file.policies).filter_map(|(number, at)| {
        Some(SettingRow {
            name: "policy".to_owned(),
            value: policies.policies.list.get(*number)?.rule.id.into(),
            line: Some(line(at.start)),
        })
    }));
    rows.extend(config.rules.iter().map(|setting| SettingRow {
        name: format!("rules.\"{}\"", setting.value.text),
        value: setting.value.severity.map_or("off", |severity| severity.name()).into(),
        line: Some(setting.line),
    }));
    rows.extend(config.ignores.iter().map(|setting| {
        let ignore = &setting.value.ignore;
        let mut value = setting.value.text.clone();
        let conditions = [
            ("resource", ignore.resource.as_ref().map(ToString::to_string)),
            ("path", ignore.path.as_ref().map(ToString::to_string)),
            ("file", ignore.file.as_ref().map(ToString::to_string)),
            ("until", ignore.until.map(|day| day.to_string())),
        ];
        for (name, condition) in conditions {
            if let Some(condition) = condition {
                value.push_str(&format!(", {name} {condition}"));
            }
        }
        value.push_str(&format!(": {}", ignore.reason));
        SettingRow {
            name: "ignore".to_owned(),
            value: value.into(),
            line: Some(setting.line),
        }
    }));
    rows
}

/// Returns the word for a value of an argument.
fn named(value: impl ValueEnum) -> Value {
    value
        .to_possible_value()
        .map_or(Value::Null, |value| value.get_name().into())
}
