//! Load reports by address, as the step `orca` sets them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::value::{Located, address_key, members, object, wrong};
use xdsctl_document::source::node::JsonNode;
use xdsctl_lb::policy::LoadReport;

/// The members of a load report, named as in `xds.data.orca.v3.OrcaLoadReport`.
const REPORT: [&str; 7] = [
    "cpu_utilization",
    "mem_utilization",
    "application_utilization",
    "rps_fractional",
    "eps",
    "named_metrics",
    "utilization",
];

/// Reads load reports by address. Their fields are named as in `xds.data.orca.v3.OrcaLoadReport`.
///
/// # Errors
/// What is wrong, and where.
pub fn load_reports(node: &JsonNode) -> Result<BTreeMap<String, Arc<LoadReport>>, Located> {
    let reports = object("orca", node, "an object of reports by address")?;
    reports
        .iter()
        .map(|member| {
            address_key("orca", member)?;
            Ok((member.name.clone(), report(&member.node)?))
        })
        .collect()
}

/// Reads a load report.
pub(super) fn report(node: &JsonNode) -> Result<Arc<LoadReport>, Located> {
    members("orca", node, &REPORT)?;
    Ok(Arc::new(LoadReport {
        cpu_utilization: number(node, "cpu_utilization")?,
        mem_utilization: number(node, "mem_utilization")?,
        application_utilization: number(node, "application_utilization")?,
        qps: number(node, "rps_fractional")?,
        eps: number(node, "eps")?,
        named_metrics: numbers(node, "named_metrics")?,
        utilization: numbers(node, "utilization")?,
    }))
}

fn number(node: &JsonNode, member: &'static str) -> Result<f64, Located> {
    node.get(member).map_or(Ok(0.0), |value| {
        value.number().ok_or_else(|| wrong(member, value, "a number"))
    })
}

fn numbers<T: FromIterator<(String, f64)>>(node: &JsonNode, member: &'static str) -> Result<T, Located> {
    let Some(value) = node.get(member) else {
        return Ok(std::iter::empty().collect());
    };
    let numbers = value.map().and_then(|map| {
        map.iter()
            .map(|one| Some((one.name.clone(), one.node.number()?)))
            .collect::<Option<T>>()
    });
    numbers.ok_or_else(|| wrong(member, value, "an object of numbers by name"))
}
