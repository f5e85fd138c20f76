//! Makes LB policies in every spelling.

use serde_json::{Value, json};

use super::chance::Chance;
use super::make::TYPE;

/// Makes a policy as an entry of `load_balancing_policy`.
fn entry(type_name: &str, mut config: Value) -> Value {
    config["@type"] = json!(format!("{TYPE}envoy.extensions.load_balancing_policies.{type_name}"));
    wrapped(config)
}

fn wrapped(config: Value) -> Value {
    json!({"typed_extension_config": {"name": "n", "typed_config": config}})
}

/// Makes a policy by gRPC's own name.
pub fn custom(chance: &mut Chance, name: &str, value: Value) -> Value {
    let outer = chance.one(&["xds.type.v3.TypedStruct", "udpa.type.v1.TypedStruct"]);
    wrapped(json!({"@type": format!("{TYPE}{outer}"), "type_url": format!("{TYPE}{name}"), "value": value}))
}

/// Makes a policy for endpoints.
fn endpoint_policy(chance: &mut Chance) -> Value {
    match chance.below(8) {
        0 | 1 => entry("round_robin.v3.RoundRobin", json!({})),
        2 => entry(
            "pick_first.v3.PickFirst",
            chance.of(&[json!({}), json!({"shuffle_address_list": true})]),
        ),
        3 => entry("least_request.v3.LeastRequest", json!({"choice_count": 2})),
        4 => {
            let config = [
                json!({}),
                json!({"blackout_period": "0s", "weight_update_period": "0.1s"}),
                json!({"error_utilization_penalty": 0.5, "weight_expiration_period": "180s"}),
            ];
            entry(
                "client_side_weighted_round_robin.v3.ClientSideWeightedRoundRobin",
                chance.of(&config),
            )
        }
        5 => custom(chance, "round_robin", json!({})),
        6 => custom(chance, "pick_first", json!({"shuffleAddressList": false})),
        _ => custom(chance, "weighted_round_robin", json!({})),
    }
}

fn unknown(chance: &mut Chance) -> Value {
    if chance.percent(50) {
        entry("maglev.v3.Maglev", json!({}))
    } else {
        custom(chance, "example.Unheard", json!({"a": 1}))
    }
}

fn rings(chance: &mut Chance) -> Value {
    chance.of(&[
        json!({}),
        json!({"minimum_ring_size": 10, "maximum_ring_size": 300}),
        json!({"minimum_ring_size": 1, "maximum_ring_size": 8388608}),
        json!({"minimum_ring_size": 1024}),
    ])
}

fn list(chance: &mut Chance) -> Value {
    let mut policies = Vec::new();
    if chance.percent(15) {
        policies.push(unknown(chance));
    }
    policies.push(match chance.below(5) {
        0 => {
            let mut config = rings(chance);
            if chance.percent(50) {
                config["hash_function"] = json!("XX_HASH");
            }
            entry("ring_hash.v3.RingHash", config)
        }
        1 => custom(
            chance,
            "ring_hash_experimental",
            json!({"minRingSize": 16, "maxRingSize": 64}),
        ),
        2 | 3 => {
            let inner = endpoint_policy(chance);
            entry(
                "wrr_locality.v3.WrrLocality",
                json!({"endpoint_picking_policy": {"policies": [inner]}}),
            )
        }
        _ => endpoint_policy(chance),
    });
    if chance.percent(15) {
        policies.push(endpoint_policy(chance));
    }
    json!({"policies": policies})
}

/// Gives a cluster a policy, or leaves the default.
pub fn choose(chance: &mut Chance, cluster: &mut Value) {
    match chance.below(10) {
        0 | 1 => {
            cluster["lb_policy"] = json!("RING_HASH");
            if chance.percent(50) {
                cluster["ring_hash_lb_config"] = rings(chance);
            }
        }
        2 => cluster["lb_policy"] = json!("ROUND_ROBIN"),
        3..=6 => cluster["load_balancing_policy"] = list(chance),
        _ => {}
    }
}

/// Makes odd policies: they nest, name each other, or are not meant for endpoints.
pub fn odd(chance: &mut Chance, cluster: &str) -> Value {
    let child = json!([{"round_robin": {}}]);
    let custom = |chance: &mut Chance, name: &str, value: Value| custom(chance, name, value);
    let policy = match chance.below(16) {
        0 => {
            let weight = chance.of(&[0, 1, 3]);
            custom(
                chance,
                "weighted_target_experimental",
                json!({"targets": {"t": {"weight": weight, "childPolicy": child}}}),
            )
        }
        1 => custom(chance, "weighted_target_experimental", json!({"targets": {}})),
        2 => custom(
            chance,
            "priority_experimental",
            json!({"children": {"p": {"config": child}}, "priorities": ["p"]}),
        ),
        3 => custom(
            chance,
            "priority_experimental",
            json!({"children": {}, "priorities": []}),
        ),
        4 => custom(chance, "outlier_detection_experimental", json!({"childPolicy": child})),
        5 => custom(
            chance,
            "xds_cluster_impl_experimental",
            json!({"clusterName": cluster, "childPolicy": child}),
        ),
        6 => custom(
            chance,
            "xds_cluster_manager_experimental",
            json!({"children": {"x": {"childPolicy": child}}}),
        ),
        7 => custom(
            chance,
            "xds_override_host_experimental",
            json!({"clusterName": cluster, "childPolicy": child}),
        ),
        8 => custom(chance, "xds_wrr_locality_experimental", json!({"childPolicy": child})),
        9 => custom(chance, "cds_experimental", json!({"cluster": cluster})),
        10 => custom(chance, "cds_experimental", json!({"cluster": "c0"})),
        11 => custom(
            chance,
            "ring_hash_experimental",
            json!({"minRingSize": chance_ring(cluster)}),
        ),
        12 => entry(
            "wrr_locality.v3.WrrLocality",
            json!({"endpoint_picking_policy": {"policies": [entry("ring_hash.v3.RingHash", json!({}))]}}),
        ),
        13 => custom(chance, "grpclb", json!({"childPolicy": child})),
        14 => {
            let mut policy = endpoint_policy(chance);
            for _ in 0..chance.of(&[1, 14, 15, 16]) {
                policy = entry(
                    "wrr_locality.v3.WrrLocality",
                    json!({"endpoint_picking_policy": {"policies": [policy]}}),
                );
            }
            policy
        }
        _ => unknown(chance),
    };
    json!({"policies": [policy]})
}

/// Returns a ring size that depends on the name, so that it differs between worlds.
fn chance_ring(name: &str) -> usize {
    [0, 1, 4096, 8_388_608, 8_388_609][name.len() % 5]
}
