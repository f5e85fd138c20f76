//! The JSON config of rls_experimental, as grpc-java reads it (RlsProtoConverters
//! `RouteLookupConfigConverter`).

use std::collections::BTreeSet;

use serde_json::Value;

use super::json::{JavaObject, JavaParsed};
use super::uri::Uri;

/// Checks the config, except for the child policy.
pub(super) fn read(config: JavaObject<'_>) -> JavaParsed {
    let Some(lookup) = config.object("routeLookupConfig")? else {
        return Err("routeLookupConfig is missing".to_owned());
    };
    let builders = lookup.objects("grpcKeybuilders")?.unwrap_or_default();
    if builders.is_empty() {
        return Err("grpcKeybuilders is missing or empty".to_owned());
    }
    let mut names = BTreeSet::new();
    for builder in builders {
        key_builder(builder, &mut names)?;
    }
    let service = lookup.text("lookupService")?.unwrap_or_default();
    if service.is_empty() || Uri::parse(service).is_none() {
        return Err(format!("lookupService `{service}` is no URI"));
    }
    let timeout = lookup.duration("lookupServiceTimeout")?;
    if timeout.is_some_and(|timeout| timeout <= 0) {
        return Err("lookupServiceTimeout is not above 0".to_owned());
    }
    let (max_age, stale_age) = (lookup.duration("maxAge")?, lookup.duration("staleAge")?);
    if max_age.is_none() && stale_age.is_some() {
        return Err("staleAge is there without maxAge".to_owned());
    }
    if lookup.long("cacheSizeBytes")?.is_some_and(|size| size <= 0) {
        return Err("cacheSizeBytes is not above 0".to_owned());
    }
    lookup.text("defaultTarget")?;
    config.object("routeLookupChannelServiceConfig").map(drop)
}

/// Checks a key builder (`GrpcKeyBuilderConverter.convert`). No other builder may have one of its
/// names.
fn key_builder<'v>(builder: JavaObject<'v>, taken: &mut BTreeSet<(&'v str, Option<&'v str>)>) -> JavaParsed {
    let names = builder.objects("names")?.unwrap_or_default();
    if names.is_empty() {
        return Err("a key builder has no name".to_owned());
    }
    let mut own = Vec::with_capacity(names.len());
    for name in names {
        let service = name.text("service")?.unwrap_or_default();
        if service.is_empty() {
            return Err("the name of a key builder has no service".to_owned());
        }
        own.push((service, name.text("method")?));
    }
    let mut keys = BTreeSet::from(["host", "service", "method"]);
    let mut add = |key: &'v str| match !key.is_empty() && keys.insert(key) {
        true => Ok(()),
        false => Err(format!("key `{key}` is empty, or there twice")),
    };
    for header in builder.objects("headers")?.unwrap_or_default() {
        if header.bool("requiredMatch")? == Some(true) {
            return Err("requiredMatch is true".to_owned());
        }
        let key = header.text("key")?;
        let names = header.list("names")?;
        let (Some(key), Some(names)) = (key, names) else {
            return Err("a header of a key builder has no key or no names".to_owned());
        };
        if names.iter().any(Value::is_null) {
            return Err("a name of a header is null".to_owned());
        }
        add(key)?;
    }
    if let Some(extra) = builder.object("extraKeys")? {
        for field in ["host", "service", "method"] {
            extra.text(field)?;
        }
    }
    if let Some(constants) = builder.object("constantKeys")? {
        for (key, value) in constants.0 {
            if value.is_null() {
                return Err(format!("the value of `{key}` is null"));
            }
            add(key)?;
        }
    }
    if own.into_iter().all(|name| taken.insert(name)) {
        Ok(())
    } else {
        Err("two key builders have one name".to_owned())
    }
}
