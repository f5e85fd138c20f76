//! The configs of LB policies as JSON, as the policies of grpc-js read them (`createFromJson` of
//! each load-balancer-*.ts).

mod older;

use prost_types::value::Kind;
use prost_types::{ListValue, Struct, Value};

use super::OBJECT_PROTOTYPE;
use super::cluster::MAX_RING_SIZE;
use xdsctl_model::profile::{Feature, Profile};
use xdsctl_model::resource::MAX_DURATION_SECONDS;

/// A value, or why a parser throws an exception.
type Parsed<T = ()> = Result<T, String>;

/// A policy that is registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Policy {
    Cds,
    ClusterImpl,
    ClusterManager,
    ClusterResolver,
    OutlierDetection,
    PickFirst,
    Priority,
    RingHash,
    /// This policy accepts any config.
    RoundRobin,
    WeightedRoundRobin,
    WeightedTarget,
    WrrLocality,
}

impl Policy {
    fn by_name(name: &str, profile: &Profile) -> Option<Self> {
        Some(match name {
            "cds" => Policy::Cds,
            "xds_cluster_impl" => Policy::ClusterImpl,
            "xds_cluster_manager" => Policy::ClusterManager,
            "xds_cluster_resolver" if profile.has(Feature::ClusterResolverPolicy) => Policy::ClusterResolver,
            "outlier_detection" if profile.has(Feature::OutlierDetection) => Policy::OutlierDetection,
            "pick_first" => Policy::PickFirst,
            "priority" => Policy::Priority,
            "ring_hash" if profile.has(Feature::RingHashPolicy) => Policy::RingHash,
            "round_robin" => Policy::RoundRobin,
            "weighted_round_robin" if profile.has(Feature::WeightedRoundRobin) => Policy::WeightedRoundRobin,
            "weighted_target" => Policy::WeightedTarget,
            "xds_wrr_locality" => Policy::WrrLocality,
            _ => return None,
        })
    }
}

/// Says whether a name is in the client's registry, which is a JavaScript object
/// (`isLoadBalancerNameRegistered`).
pub(super) fn is_registered(name: &str, profile: &Profile) -> bool {
    Policy::by_name(name, profile).is_some() || OBJECT_PROTOTYPE.contains(&name)
}

/// Says whether a config has a Value without a kind anywhere (`flattenValue`).
pub(super) fn has_value_without_kind(config: &Struct) -> bool {
    fn is_without(value: &Value) -> bool {
        match &value.kind {
            None => true,
            Some(Kind::StructValue(inner)) => has_value_without_kind(inner),
            Some(Kind::ListValue(list)) => list.values.iter().any(is_without),
            Some(Kind::NullValue(_) | Kind::NumberValue(_) | Kind::StringValue(_) | Kind::BoolValue(_)) => false,
        }
    }
    config.fields.values().any(is_without)
}

/// Says whether a config of the priority policy names a child that it does not have. Its parser
/// does not check that.
pub(super) fn has_unknown_priority(name: &str, config: &Struct) -> bool {
    if name != "priority" {
        return false;
    }
    let kind = |field: &str| config.fields.get(field).and_then(|value| value.kind.as_ref());
    let (Some(Kind::StructValue(children)), Some(Kind::ListValue(priorities))) = (kind("children"), kind("priorities"))
    else {
        return false;
    };
    let names = priorities.values.iter().map(|value| &value.kind);
    names.into_iter().any(|name| match name {
        Some(Kind::StringValue(name)) => !children.fields.contains_key(name),
        _ => false,
    })
}

/// Reads a config with the parser of a registered policy.
///
/// # Errors
/// The reason why the parser throws an exception.
pub(super) fn parse(name: &str, config: &Struct, profile: &Profile) -> Parsed {
    policy(name, &Kind::StructValue(config.clone()), profile)
}

/// Reads the config of a policy, which may be any value in the list of another policy.
fn policy(name: &str, config: &Kind, profile: &Profile) -> Parsed {
    let Some(found) = Policy::by_name(name, profile) else {
        return Err(format!("`{name}` is no LB policy"));
    };
    if found == Policy::RoundRobin {
        return Ok(());
    }
    let config = JsonObject::new(config)?;
    match found {
        Policy::RoundRobin => Ok(()),
        Policy::Cds => config.text("cluster"),
        Policy::WrrLocality => config.list("child_policy").map(drop),
        Policy::PickFirst => match config.get("shuffleAddressList") {
            None | Some(Kind::BoolValue(_)) => Ok(()),
            Some(_) => Err("`shuffleAddressList` is not true or false".to_owned()),
        },
        Policy::RingHash => {
            ring_size(&config, "min_ring_size")?;
            ring_size(&config, "max_ring_size")
        }
        Policy::ClusterResolver => older::cluster_resolver(&config),
        Policy::ClusterImpl => {
            config.text("cluster")?;
            if !profile.has(Feature::ClusterImplSmall) {
                older::cluster_impl(&config)?;
            }
            select(config.list("child_policy")?, profile).map(drop)
        }
        Policy::ClusterManager => {
            let each = config.children("children")?.into_iter();
            each.map(JsonObject::new)
                .try_for_each(|child| select(child?.list("child_policy")?, profile).map(drop))
        }
        Policy::Priority => priority(&config, profile),
        Policy::WeightedTarget => weighted_target(&config, profile),
        Policy::OutlierDetection => outlier_detection(&config, profile),
        Policy::WeightedRoundRobin => weighted_round_robin(&config),
    }
}

/// Returns the first policy of a list that can be parsed (`selectLbConfigFromList`).
fn select<'c>(list: &'c ListValue, profile: &Profile) -> Parsed<&'c str> {
    for value in &list.values {
        let Some(Kind::StructValue(entry)) = &value.kind else {
            continue;
        };
        // An entry has exactly one key.
        let mut fields = entry.fields.iter();
        if let (Some((name, value)), None) = (fields.next(), fields.next())
            && let Some(config) = &value.kind
            && policy(name, config, profile).is_ok()
        {
            return Ok(name);
        }
    }
    Err("no entry of a list of policies can be used".to_owned())
}

fn ring_size(config: &JsonObject<'_>, field: &str) -> Parsed {
    #[expect(clippy::cast_precision_loss, reason = "2^23 is exact")]
    const MAX: f64 = MAX_RING_SIZE as f64;
    match config.get(field) {
        None => Ok(()),
        Some(Kind::NumberValue(size)) if *size > MAX => Err(format!("`{field}` is above {MAX_RING_SIZE}")),
        Some(Kind::NumberValue(_)) => Ok(()),
        Some(_) => Err(format!("`{field}` is not a number")),
    }
}

fn priority(config: &JsonObject<'_>, profile: &Profile) -> Parsed {
    let children = config.children("children")?;
    let priorities = config.list("priorities")?;
    let mut names = priorities.values.iter().map(|value| &value.kind);
    if !names.all(|name| matches!(name, Some(Kind::StringValue(_)))) {
        return Err("`priorities` is not a list of texts".to_owned());
    }
    for child in children {
        let child = JsonObject::new(child)?;
        let list = child.list("config")?;
        if !matches!(child.get("ignore_reresolution_requests"), Some(Kind::BoolValue(_))) {
            return Err("`ignore_reresolution_requests` is not true or false".to_owned());
        }
        select(list, profile)?;
    }
    Ok(())
}

fn weighted_target(config: &JsonObject<'_>, profile: &Profile) -> Parsed {
    for target in config.children("targets")? {
        let target = JsonObject::new(target)?;
        if !matches!(target.get("weight"), Some(Kind::NumberValue(_))) {
            return Err("`weight` is not a number".to_owned());
        }
        select(target.list("child_policy")?, profile)?;
    }
    Ok(())
}

fn outlier_detection(config: &JsonObject<'_>, profile: &Profile) -> Parsed {
    for field in ["interval", "base_ejection_time", "max_ejection_time"] {
        if let Some(value) = config.get(field) {
            nonnegative_duration(field, value)?;
        }
    }
    percentage(config, "max_ejection_percent")?;
    if let Some(value) = config.get("success_rate_ejection") {
        let ejection = JsonObject::new(value)?;
        number(&ejection, "stdev_factor")?;
        percentage(&ejection, "enforcement_percentage")?;
        number(&ejection, "minimum_hosts")?;
        number(&ejection, "request_volume")?;
    }
    if let Some(value) = config.get("failure_percentage_ejection") {
        let ejection = JsonObject::new(value)?;
        percentage(&ejection, "threshold")?;
        percentage(&ejection, "enforcement_percentage")?;
        number(&ejection, "minimum_hosts")?;
        number(&ejection, "request_volume")?;
    }
    if select(config.list("child_policy")?, profile)? == "pick_first" {
        return Err("`pick_first` cannot be below outlier_detection".to_owned());
    }
    Ok(())
}

/// Checks an object with `seconds` and `nanos` in the range of a Duration.
fn nonnegative_duration(field: &str, value: &Kind) -> Parsed {
    let (seconds, nanos) = duration(value).ok_or_else(|| format!("`{field}` has no numbers seconds and nanos"))?;
    if (0.0..=MAX_DURATION_SECONDS as f64).contains(&seconds) && (0.0..=999_999_999.0).contains(&nanos) {
        return Ok(());
    }
    Err(format!("`{field}` is out of range"))
}

/// Returns seconds and nanoseconds of a duration that is an object (`isDuration`).
fn duration(value: &Kind) -> Option<(f64, f64)> {
    let Kind::StructValue(fields) = value else { return None };
    match [fields.fields.get("seconds")?, fields.fields.get("nanos")?].map(|field| &field.kind) {
        [Some(Kind::NumberValue(seconds)), Some(Kind::NumberValue(nanos))] => Some((*seconds, *nanos)),
        _ => None,
    }
}

fn number(object: &JsonObject<'_>, field: &str) -> Parsed {
    match object.get(field) {
        None | Some(Kind::NumberValue(_)) => Ok(()),
        Some(_) => Err(format!("`{field}` is not a number")),
    }
}

fn percentage(object: &JsonObject<'_>, field: &str) -> Parsed {
    match object.get(field) {
        None => Ok(()),
        Some(Kind::NumberValue(number)) if (0.0..=100.0).contains(number) => Ok(()),
        Some(_) => Err(format!("`{field}` is not a number from 0 to 100")),
    }
}

fn weighted_round_robin(config: &JsonObject<'_>) -> Parsed {
    if !matches!(config.get("enable_oob_load_report"), None | Some(Kind::BoolValue(_))) {
        return Err("`enable_oob_load_report` is not true or false".to_owned());
    }
    number(config, "error_utilization_penalty")?;
    if matches!(config.get("error_utilization_penalty"), Some(Kind::NumberValue(penalty)) if *penalty < 0.0) {
        return Err("`error_utilization_penalty` is negative".to_owned());
    }
    for field in [
        "oob_load_reporting_period",
        "blackout_period",
        "weight_expiration_period",
        "weight_update_period",
    ] {
        let is_fine = match config.get(field) {
            None | Some(Kind::NullValue(_)) => true,
            Some(Kind::StringValue(text)) => is_duration_text(text),
            Some(value) => duration(value).is_some() || is_duration_message(value),
        };
        if !is_fine {
            return Err(format!("`{field}` is not a duration"));
        }
    }
    Ok(())
}

/// Says whether a value is a duration whose seconds are a text (`isDurationMessage`).
fn is_duration_message(value: &Kind) -> bool {
    let Kind::StructValue(fields) = value else { return false };
    let kind = |field: &str| fields.fields.get(field).and_then(|value| value.kind.as_ref());
    matches!(
        (kind("seconds"), kind("nanos")),
        (Some(Kind::StringValue(_)), Some(Kind::NumberValue(_)))
    )
}

/// Says whether a text is a duration like `1.5s` (`parseDuration`).
fn is_duration_text(text: &str) -> bool {
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let Some(number) = text.strip_suffix('s') else {
        return false;
    };
    match number.split_once('.') {
        Some((whole, fraction)) => is_digits(whole) && is_digits(fraction),
        None => is_digits(number),
    }
}

/// A value on which JavaScript's `in` and properties work: an object, or a list, which has no
/// properties that a parser asks for.
struct JsonObject<'c>(Option<&'c Struct>);

impl<'c> JsonObject<'c> {
    fn new(value: &'c Kind) -> Parsed<Self> {
        match value {
            Kind::StructValue(fields) => Ok(JsonObject(Some(fields))),
            Kind::ListValue(_) => Ok(JsonObject(None)),
            Kind::NullValue(_) | Kind::NumberValue(_) | Kind::StringValue(_) | Kind::BoolValue(_) => {
                Err("a config is not an object".to_owned())
            }
        }
    }

    fn get(&self, field: &str) -> Option<&'c Kind> {
        self.0?.fields.get(field)?.kind.as_ref()
    }

    fn text(&self, field: &str) -> Parsed {
        match self.get(field) {
            Some(Kind::StringValue(_)) => Ok(()),
            _ => Err(format!("`{field}` is not a text")),
        }
    }

    fn list(&self, field: &str) -> Parsed<&'c ListValue> {
        match self.get(field) {
            Some(Kind::ListValue(list)) => Ok(list),
            _ => Err(format!("`{field}` is not a list")),
        }
    }

    /// Returns the values of an object, or of a list, which is an object whose keys are numbers.
    fn children(&self, field: &str) -> Parsed<Vec<&'c Kind>> {
        let values: Vec<&Value> = match self.get(field) {
            Some(Kind::StructValue(fields)) => fields.fields.values().collect(),
            Some(Kind::ListValue(list)) => list.values.iter().collect(),
            _ => return Err(format!("`{field}` is not an object")),
        };
        Ok(values.into_iter().filter_map(|value| value.kind.as_ref()).collect())
    }
}
