//! What backends do from now on, as the step `backend` and the `backends` of a scenario say.

use std::net::SocketAddr;
use std::sync::Arc;

use super::orca;
use super::value::{Located, address_key, contradict, members, object, seconds, share, wrong};
use crate::sim::{Backend, BackendAnswer, Loss, MIN_REPORT_MS, Network, Reachability, Reports, Unprocessed};
use xdsctl_document::source::Span;
use xdsctl_document::source::node::{JsonMember, JsonNode};
use xdsctl_lb::policy::LoadReport;
use xdsctl_model::status::Code;

/// The name that stands for all backends that are not named.
pub const OTHERS: &str = "default";

const MEMBERS: [&str; 10] = [
    "reach",
    "connect",
    "latency",
    "status",
    "share",
    "methods",
    "unprocessed",
    "load",
    "reports",
    "report_period",
];
const UNPROCESSED: [&str; 2] = ["by", "count"];
const ANSWER: [&str; 3] = ["latency", "status", "share"];

/// What one backend does, or all that are not named.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// The backend's address; `None` for all that are not named.
    pub address: Option<SocketAddr>,
    /// The bytes of the document in which the setting is written.
    pub span: Span,
    /// Whether it accepts connections; `None` to leave that as it is.
    pub reach: Option<Reachability>,
    /// How the backend answers.
    pub backend: Backend,
    /// Its load report; `None` to leave that as it is.
    pub load: Option<Arc<LoadReport>>,
}

impl Setting {
    /// Applies the setting to a network.
    pub fn apply(&self, network: &mut Network) {
        let Some(address) = self.address else {
            network.default = self.reach.unwrap_or(network.default);
            network.other_backends = self.backend.clone();
            return;
        };
        if let Some(reach) = self.reach {
            network.addresses.insert(address, reach);
        }
        if let Some(load) = &self.load {
            network.load.insert(address.to_string(), load.clone());
        }
        network.backends.insert(address, self.backend.clone());
    }
}

/// Reads the settings of backends by address.
///
/// # Errors
/// What is wrong, and where.
pub fn settings(member: &'static str, node: &JsonNode) -> Result<Vec<Setting>, Located> {
    let map = object(member, node, "an object of backends by address")?;
    map.iter().map(setting).collect()
}

fn setting(member: &JsonMember) -> Result<Setting, Located> {
    let address = match member.name.as_str() {
        OTHERS => None,
        _ => Some(address_key("backend", member)?),
    };
    let node = &member.node;
    members("backend", node, &MEMBERS)?;
    let load = node.get("load");
    if let (Some(load), None) = (load, address) {
        return Err(contradict("load", OTHERS, load));
    }
    let methods = node.get("methods");
    let methods = methods.map(|methods| object("methods", methods, "an object by method"));
    Ok(Setting {
        span: member.at,
        address,
        reach: node.get("reach").map(reach).transpose()?,
        backend: Backend {
            connect_ms: seconds(node, "connect")?,
            answer: answer(node)?,
            unprocessed: node.get("unprocessed").map(unprocessed).transpose()?,
            reports: reports(node)?,
            methods: methods
                .transpose()?
                .unwrap_or_default()
                .iter()
                .map(|method| {
                    members("methods", &method.node, &ANSWER)?;
                    Ok((method.name.clone(), answer(&method.node)?))
                })
                .collect::<Result<_, Located>>()?,
        },
        load: load.map(orca::report).transpose()?,
    })
}

fn reach(node: &JsonNode) -> Result<Reachability, Located> {
    match node.text() {
        Some("accept") => Ok(Reachability::Accepts),
        Some("refuse") => Ok(Reachability::Refuses),
        Some("silent") => Ok(Reachability::Hangs),
        _ => Err(wrong("reach", node, "`accept`, `refuse` or `silent`")),
    }
}

/// Reads which calls are not processed: all, or the first ones.
fn unprocessed(node: &JsonNode) -> Result<Unprocessed, Located> {
    let whole = "`goaway`, `refused_stream` or `close`, or an object with that as `by` and a `count`";
    let by = |node: &JsonNode| match node.text() {
        Some("goaway") => Ok(Loss::Goaway),
        Some("refused_stream") => Ok(Loss::RefusedStream),
        Some("close") => Ok(Loss::Close),
        _ => Err(wrong("unprocessed", node, whole)),
    };
    if node.map().is_none() {
        let by = by(node)?;
        return Ok(Unprocessed { by, left: u64::MAX });
    }
    members("unprocessed", node, &UNPROCESSED)?;
    let left = node.get("count").map(|count| {
        let number = count.whole();
        number.ok_or_else(|| wrong("count", count, "a number of calls"))
    });
    Ok(Unprocessed {
        by: by(node.get("by").unwrap_or(node))?,
        left: left.transpose()?.unwrap_or(u64::MAX),
    })
}

/// Reads how load is reported: in both ways unless the setting says otherwise.
fn reports(node: &JsonNode) -> Result<Reports, Located> {
    let period = seconds(node, "report_period")?;
    let out_of_band = Some(period.unwrap_or(MIN_REPORT_MS));
    let Some(how) = node.get("reports") else {
        return Ok(Reports {
            in_trailers: true,
            out_of_band,
        });
    };
    let (in_trailers, is_out_of_band) = match how.text() {
        Some("both") => (true, true),
        Some("trailers") => (true, false),
        Some("out_of_band") => (false, true),
        Some("none") => (false, false),
        _ => return Err(wrong("reports", how, "`both`, `trailers`, `out_of_band` or `none`")),
    };
    if let (false, Some(period)) = (is_out_of_band, node.get("report_period")) {
        return Err(wrong("report_period", period, "beside reports out of band"));
    }
    Ok(Reports {
        in_trailers,
        out_of_band: out_of_band.filter(|_| is_out_of_band),
    })
}

fn answer(node: &JsonNode) -> Result<BackendAnswer, Located> {
    let code = node.get("status").map(|status| code("status", status)).transpose()?;
    let part = node.get("share").map(|part| share("share", part)).transpose()?;
    if let (Some(_), None, Some(part)) = (part, code, node.get("share")) {
        return Err(wrong("share", part, "beside a `status`"));
    }
    Ok(BackendAnswer {
        latency_ms: seconds(node, "latency")?,
        code: code.filter(|code| *code != Code::Ok),
        share: part.unwrap_or(1.0),
    })
}

/// Reads a status code by its name.
///
/// # Errors
/// The value is not a status code.
pub fn code(member: &str, node: &JsonNode) -> Result<Code, Located> {
    let code = node.text().and_then(|text| Code::from_name(&text.to_ascii_uppercase()));
    code.ok_or_else(|| wrong(member, node, "a status code like OK or UNAVAILABLE"))
}
