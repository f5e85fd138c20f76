//! Load reports by address, as `orca` sets them.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::StepError;
use super::fault::wrong;
use super::read::members;
use crate::lb::policy::LoadReport;

/// Members of a load report, named as in `xds.data.orca.v3.OrcaLoadReport`.
const REPORT: [&str; 7] = [
    "cpu_utilization",
    "mem_utilization",
    "application_utilization",
    "rps_fractional",
    "eps",
    "named_metrics",
    "utilization",
];

/// Reads load reports by address, fields named as in `xds.data.orca.v3.OrcaLoadReport`.
///
/// # Errors
/// What is wrong.
pub fn load_reports(value: &Value) -> Result<BTreeMap<String, Arc<LoadReport>>, StepError> {
    let reports = value
        .as_object()
        .ok_or_else(|| wrong("orca", value, "an object of reports by address"))?;
    reports
        .iter()
        .map(|(address, report)| {
            if address.parse::<SocketAddr>().is_err() {
                let name = Value::String(address.clone());
                return Err(wrong("orca", &name, "reports by addresses like 10.0.0.1:80"));
            }
            let map = members("orca", report, &REPORT)?;
            let report = LoadReport {
                cpu_utilization: number(map, "cpu_utilization")?,
                mem_utilization: number(map, "mem_utilization")?,
                application_utilization: number(map, "application_utilization")?,
                qps: number(map, "rps_fractional")?,
                eps: number(map, "eps")?,
                named_metrics: numbers(map, "named_metrics")?,
                utilization: numbers(map, "utilization")?,
            };
            Ok((address.clone(), Arc::new(report)))
        })
        .collect()
}

fn number(map: &Map<String, Value>, member: &'static str) -> Result<f64, StepError> {
    map.get(member).map_or(Ok(0.0), |value| {
        value.as_f64().ok_or_else(|| wrong(member, value, "a number"))
    })
}

fn numbers<T: FromIterator<(String, f64)>>(map: &Map<String, Value>, member: &'static str) -> Result<T, StepError> {
    let Some(value) = map.get(member) else {
        return Ok(std::iter::empty().collect());
    };
    let numbers = value.as_object().and_then(|map| {
        map.iter()
            .map(|(name, value)| Some((name.clone(), value.as_f64()?)))
            .collect::<Option<T>>()
    });
    numbers.ok_or_else(|| wrong(member, value, "an object of numbers by name"))
}
