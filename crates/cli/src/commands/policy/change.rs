//! Copies of a resource with one value changed, for the rejected case of a new policy.

use serde_json::{Value as Json, json};

/// The most changed copies that are made of a resource.
const MAX_CHANGES: usize = 64;

/// Returns copies of the resource in which one value of this key below the pointer is changed.
pub(super) fn changes(json: &Json, pointer: &str, key: &str) -> Vec<Json> {
    let mut places = Vec::new();
    if let Some(part) = json.pointer(pointer) {
        collect(part, key, false, pointer, &mut places);
    }
    if places.is_empty() {
        places.push(format!("{pointer}/{key}"));
    }
    let of_place = |place: &String| {
        let others = others(json.pointer(place)).into_iter().map(Some).chain([None]);
        let changed = others.filter_map(|other| changed(json, place, other));
        changed.collect::<Vec<_>>()
    };
    places
        .iter()
        .take(MAX_CHANGES)
        .flat_map(of_place)
        .take(MAX_CHANGES)
        .collect()
}

/// Adds the pointers of the values of a key, and of the values inside them.
fn collect(json: &Json, key: &str, is_below: bool, pointer: &str, places: &mut Vec<String>) {
    let mut each = |name: &str, value: &Json| {
        let at = format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"));
        let is_below = is_below || name == key;
        collect(value, key, is_below, &at, places);
        if is_below {
            places.push(at);
        }
    };
    match json {
        Json::Object(fields) => fields.iter().for_each(|(name, value)| each(name, value)),
        Json::Array(list) => list
            .iter()
            .enumerate()
            .for_each(|(number, value)| each(&number.to_string(), value)),
        _ => {}
    }
}

/// Returns other values that may take the place of a value.
fn others(value: Option<&Json>) -> Vec<Json> {
    match value {
        Some(Json::Bool(flag)) => vec![json!(!flag)],
        Some(Json::Number(number)) => {
            let number = number.as_u64().unwrap_or_default();
            vec![json!(number.saturating_add(1)), json!(0)]
        }
        Some(Json::String(text)) => match text.strip_suffix('s').map(str::parse::<f64>) {
            Some(Ok(seconds)) => vec![json!(format!("{}s", seconds + 60.0)), json!("0.001s")],
            _ => vec![json!(format!("{text}-other"))],
        },
        Some(Json::Array(_)) => vec![json!([]), json!(["other.example"])],
        Some(Json::Object(_)) => vec![json!({})],
        Some(Json::Null) | None => vec![json!("other"), json!(true), json!(2), json!(1_000)],
    }
}

/// Returns a copy with another value at a place, or without a value there.
fn changed(json: &Json, place: &str, other: Option<Json>) -> Option<Json> {
    let (holder, name) = place.rsplit_once('/')?;
    let mut json = json.clone();
    match (json.pointer_mut(holder)?, other) {
        (Json::Object(fields), Some(other)) => {
            fields.insert(name.to_owned(), other);
        }
        (Json::Object(fields), None) => {
            fields.remove(name)?;
        }
        (Json::Array(list), Some(other)) => *list.get_mut(name.parse::<usize>().ok()?)? = other,
        (Json::Array(_), None) => return None,
        _ => return None,
    }
    Some(json)
}
