//! What `clients` prints: the profiles, and the versions since which clients have features. It is
//! the same data by which the converters decide.

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::write_table;
use xdsctl_model::profile::{self, Client, ClientStanding, Family, Feature, FeatureChange, Version, VersionStep};

/// Writes the tables of clients and features.
///
/// # Errors
/// If writing to `out` fails.
pub fn write(width: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
    let mut table = crate::table(width, &["CLIENT", "PROJECT", "MEASURED", "RESOURCES", "RPCS", "HOW"]);
    for family in Family::ALL {
        let measured = family.measured();
        let range = match (measured.first(), measured.last()) {
            (Some(first), Some(last)) if first != last => format!("{first} to {last}, {} versions", measured.len()),
            (Some(first), _) => first.to_string(),
            _ => String::new(),
        };
        let how = family.measurement();
        table.add_row([
            family.name().to_owned(),
            family.project().to_owned(),
            range,
            how.resources.to_string(),
            versions(family.picked()).join(", "),
            how.with.to_owned(),
        ]);
    }
    write_table(&table, out)?;
    writeln!(out)?;
    let names = Family::ALL.map(Family::name);
    let header: Vec<&str> = names.into_iter().chain(["WHAT", "SWITCH"]).collect();
    let mut table = crate::table(width, &header);
    for &feature in Feature::ALL {
        let since = Family::ALL.map(|family| since(feature, family));
        let what = [
            feature.summary().trim().to_owned(),
            feature.env().unwrap_or_default().to_owned(),
        ];
        table.add_row(since.into_iter().chain(what));
    }
    write_table(&table, out)?;
    writeln!(out)?;
    let mut table = crate::table(width, &["SWITCH WHOSE EFFECT IS NOT KNOWN HERE", "OF"]);
    for (name, of) in profile::unmodelled() {
        let of = of.iter().map(|(family, from, until)| match until {
            Some(until) => format!("{family} {from} until {until}"),
            None => format!("{family} {from}"),
        });
        table.add_row([name.to_owned(), of.collect::<Vec<_>>().join(", ")]);
    }
    write_table(&table, out)?;
    writeln!(out)?;
    writeln!(
        out,
        "`<=` is the oldest version that was asked, `-` that the client does not have it or that nothing hangs on it here. A version between two \
         that were asked is answered by the older where both agree, and `not known` otherwise; one beyond them is refused."
    )
}

fn versions(list: &[Version]) -> Vec<String> {
    list.iter().map(ToString::to_string).collect()
}

/// Says since which version a family has a feature: `1.66.1 (switch 1.63)`, `switch 1.71`, `1.56
/// until 1.57`, `-`.
fn since(feature: Feature, family: Family) -> String {
    let newest = Client {
        family,
        version: family.newest(),
    };
    let name = |step: &VersionStep| {
        let client = Client {
            family,
            version: step.0,
        };
        let text = step.0.to_string();
        let text = text.strip_suffix(".0").unwrap_or(&text);
        // A feature of the oldest measured version may be older than that version.
        let is_first = family.measured().first().is_some_and(|first| first.is_of_minor(step.0))
            || client.standing() == ClientStanding::Unknown;
        if is_first { format!("<={text}") } else { text.to_owned() }
    };
    let steps: Vec<VersionStep> = feature.history(family).collect();
    let on = steps
        .iter()
        .find(|(_, change)| matches!(change, FeatureChange::On | FeatureChange::Always));
    let off = steps.iter().find(|(_, change)| *change == FeatureChange::Off);
    match (on, off, steps.last()) {
        (Some(on), Some(off), Some(last)) if last.1 == FeatureChange::Off => {
            format!("{} until {} (switch)", name(on), name(off))
        }
        (Some(on), _, Some(last)) if last.1 == FeatureChange::Gone => format!("{} until {}", name(on), name(last)),
        (Some(on), Some(off), _) => format!("{} (switch {})", name(on), name(off)),
        (Some(on), None, _) => {
            let switch = if feature.has_switch(newest) { " (switch)" } else { "" };
            format!("{}{switch}", name(on))
        }
        (None, Some(off), _) => format!("switch {}", name(off)),
        (None, None, _) => "-".to_owned(),
    }
}

const fn word(change: FeatureChange) -> &'static str {
    match change {
        FeatureChange::Off => "off",
        FeatureChange::On => "on",
        FeatureChange::Always => "always",
        FeatureChange::Gone => "gone",
    }
}

/// Writes the clients and features as JSON, schema `xdsctl.clients/v1`.
///
/// # Errors
/// If writing to `out` fails.
pub fn write_json(out: &mut dyn Write) -> io::Result<()> {
    let clients: Vec<_> = Family::ALL
        .iter()
        .map(|family| {
            let how = family.measurement();
            serde_json::json!({
                "client": family.name(),
                "project": family.project(),
                "measured": versions(family.measured()),
                "rpcs": versions(family.picked()),
                "resources": how.resources,
                "how": how.with,
            })
        })
        .collect();
    let features: Vec<_> = Feature::ALL
        .iter()
        .map(|feature| {
            let of = |family: Family| -> Vec<_> {
                let row = |(version, change): VersionStep| serde_json::json!({ "version": version.to_string(), "state": word(change) });
                feature.history(family).map(row).collect()
            };
            let history: BTreeMap<&str, _> = Family::ALL.iter().map(|family| (family.name(), of(*family))).collect();
            serde_json::json!({ "summary": feature.summary().trim(), "switch": feature.env(), "history": history })
        })
        .collect();
    let switches: Vec<_> = profile::unmodelled()
        .map(|(name, of)| {
            let of = of.iter().map(|(family, from, until)| {
                serde_json::json!({
                    "client": family.name(), "from": from.to_string(), "until": until.map(|until| until.to_string()),
                })
            });
            serde_json::json!({ "switch": name, "of": of.collect::<Vec<_>>() })
        })
        .collect();
    let document = serde_json::json!({
        "schema": "xdsctl.clients/v1", "clients": clients, "features": features, "not_known": switches,
    });
    crate::write_json(&document, out)
}
