"""A kind of fresh scenarios in which all is drawn at once, and changes again and again between RPCs. See fresh.py.

`w` is a World: what is drawn, and the row in the making. A route's deadline is never a second or less: on a busy machine it would be
over before the first configuration is there.
"""
from fresh_mixed import aggregate, begin, change, start, stop
from names import ADS, CDS, EDS, HEALTH, METHODS, RDS, endpoint, policy

NAMES = ["c", "d", "e", "g"]
EJECTION = {"interval": "0.5s", "base_ejection_time": "0.5s", "max_ejection_percent": 100, "enforcing_failure_percentage": 100,
            "failure_percentage_threshold": 50, "failure_percentage_minimum_hosts": 1, "failure_percentage_request_volume": 2}
PICKING = ["pick_first.v3.PickFirst", "round_robin.v3.RoundRobin", "least_request.v3.LeastRequest",
           "client_side_weighted_round_robin.v3.ClientSideWeightedRoundRobin"]


def balanced(w):
    """Fields of a cluster that say how its RPCs are balanced."""
    return w.one({}, {}, {"lb_policy": "RING_HASH"}, {"lb_policy": "LEAST_REQUEST"}, {
        "lb_policy": "RING_HASH", "ring_hash_lb_config": {"minimum_ring_size": w.between(1, 64), "maximum_ring_size": w.between(64, 128)}},
                 *({"load_balancing_policy": policy(name)} for name in PICKING[:2]),
                 {"load_balancing_policy": policy("ring_hash.v3.RingHash", hash_function="XX_HASH")},
                 {"load_balancing_policy": policy("wrr_locality.v3.WrrLocality", endpoint_picking_policy=policy(w.one(*PICKING)))},
                 {"outlier_detection": EJECTION}, {"circuit_breakers": {"thresholds": [{"max_requests": w.between(0, 2)}]}})


def listed(w, seen):
    """An endpoint at an address that the assignment does not have yet; None if it has."""
    address = w.address(is_dead=w.percent(20)) if w.percent(50) or not w.taken else w.one(*w.taken)
    if address in seen:
        return None
    seen.add(address)
    made = endpoint(address, **w.one({}, {}, {}, {"health_status": w.one(*HEALTH)}, {"load_balancing_weight": w.between(1, 4)}))
    if w.percent(10):
        more = endpoint(w.address(is_dead=w.percent(50)))["endpoint"]
        made["endpoint"]["additional_addresses"] = [more]
    return made


def assignment(w, name):
    """Endpoints in up to three localities and priorities."""
    seen, localities, priority = set(), [], 0
    for number in range(w.one(1, 1, 2, 2, 3)):
        priority += bool(number) and w.percent(50)
        inner = [listed(w, seen) for _ in range(w.one(1, 1, 1, 2))]
        localities.append(w.locality([one for one in inner if one], f"r{number}", priority, w.one(1, 1, 2, 3)))
    return w.endpoints(name, localities, **w.one({}, {}, {}, {}, {"policy": {"drop_overloads": [
        {"category": "x", "drop_percentage": {"numerator": w.one(0, 100)}}]}}))


def cluster(w, name, kind):
    if kind == "EDS":
        service = {"service_name": w.one(*NAMES)} if w.percent(20) else {}
        return {"@type": CDS, "name": name, "type": "EDS", "eds_cluster_config": {"eds_config": ADS, **service}, **balanced(w)}
    if kind == "DNS":
        inner = {"cluster_name": name, "endpoints": [{"lb_endpoints": [endpoint(w.address(w.percent(20)))]}]}
        return {"@type": CDS, "name": name, "type": "LOGICAL_DNS", "load_assignment": inner, **w.one({}, {"lb_policy": "RING_HASH"})}
    below = [other for other in NAMES if other > name]
    return aggregate(name, w.chance.sample(below, w.between(1, len(below))), **w.one({}, {"lb_policy": "RING_HASH"}))


def action(w):
    """Where a route leads, and what it does on the way."""
    entry = lambda name, weight: {"name": name, "weight": weight}
    weighted = [*(entry(name, w.between(0, 2)) for name in w.chance.sample(NAMES, 2)), entry("c", 1)]
    return {**w.one({"cluster": w.one(*NAMES)}, {"cluster": w.one(*NAMES)}, {"weighted_clusters": {"clusters": weighted}}),
            **w.one({}, {}, {"retry_policy": {"retry_on": "unavailable,internal", "num_retries": w.between(1, 3),
                                              "retry_back_off": {"base_interval": "0.05s"}}}),
            **w.one({}, {"hash_policy": [{"header": {"header_name": "x-user"}}]}),
            **w.one({}, {}, {}, {"max_stream_duration": {"max_stream_duration": w.one("3s", "6s")}})}


def table(w):
    routes = [{"match": {"path": method}, "route": action(w)} for method in METHODS[1:] if w.percent(70)]
    if w.percent(20):
        header = {"name": "x-user", "string_match": {"exact": "u1"}}
        routes.append({"match": {"prefix": "/", "headers": [header]}, "route": action(w)})
    routes.append({"match": {"prefix": "/"}, "route": action(w)})
    return {"@type": RDS, "name": "drawn", "virtual_hosts": [{"name": "v", "domains": w.one(["*"], ["svc"]), "routes": routes}]}


def picks(w):
    for method in w.chance.sample(METHODS, w.between(1, 2)):
        headers = [("x-user", f"u{w.between(0, 5)}")]
        if w.percent(15):
            headers.append((w.one("x-fail", "x-fail-late"), f"{w.one('UNAVAILABLE', 'INTERNAL')}:{w.one(1, 2, 9)}"))
        w.pick(w.between(1, 3), headers, method=method, timeout=w.one(2, 3, 3, 8), **w.one({}, {}, {}, {"wait_for_ready": True}))


def all_changes(w):
    """Clusters of all kinds below routes of all kinds, with four to seven changes of any of them. C-core dies of some."""
    w.extra["rds"] = "drawn"
    kinds = {"c": w.one("EDS", "EDS", "aggregate", "aggregate"), "d": w.one("EDS", "aggregate", "DNS"), "e": w.one("EDS", "EDS", "DNS"),
             "g": w.one("EDS", "EDS", None)}
    if w.percent(20):
        w.extra["bootstrap"] = {"server_features": ["xds_v3", w.one("ignore_resource_deletion", "fail_on_data_errors")]}
    for name, kind in kinds.items():
        if kind:
            w.put(cluster(w, name, kind))
        if w.percent(92):
            w.put(assignment(w, name))
    w.put(table(w))
    picks(w)
    stopped, has_begun = [], False
    for _ in range(w.between(4, 7)):
        name = w.one(*NAMES)
        again = lambda: cluster(w, name, kinds[name] or "EDS")
        what = w.one("cluster", "cluster", "kind", "endpoints", "endpoints", "endpoints", "routes", "routes", "all", "remove", "stop", "start",
                     "backend", "begin")
        if what == "kind":
            kinds[name] = w.one("EDS", "aggregate", "DNS") if name != "g" else "EDS"
        if what in ("cluster", "kind"):
            change(w, again())
        elif what == "endpoints":
            change(w, assignment(w, name))
        elif what == "routes":
            change(w, table(w))
        elif what == "all":
            change(w, assignment(w, name), again(), table(w))
        elif what == "remove":
            w.step(remove=[[w.one(CDS, CDS, EDS), name]])
            w.step(sleep=0.8)
        elif what == "stop":
            stop(w, stopped)
        elif what == "start":
            start(w, stopped)
        elif what == "backend" and w.taken:
            w.step(backend={w.one(*w.taken): w.one({"status": "UNAVAILABLE"}, {})})
        elif what == "begin" and not has_begun:
            has_begun = True
            begin(w)
        picks(w)
    if has_begun:
        w.step(finish="b")


KINDS = [all_changes]
