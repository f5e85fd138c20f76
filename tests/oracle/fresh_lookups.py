"""A kind of fresh scenarios in which lookups (RLS), their answers and the clusters that they name change between RPCs. See fresh.py.

`w` is a World: what is drawn, and the row in the making.
"""
from fresh_changes import assignment, balanced
from fresh_mixed import change, eds, start, stop
from names import CDS, EDS, METHODS, RDS, TYPE

NAMES = ["c", "d", "e"]
SERVICE = "127.0.9.9:7999"


def plugin(w):
    ages = w.one({}, {}, {"max_age": "2s"}, {"max_age": "6s", "stale_age": "2s"})
    config = {"@type": TYPE + "grpc.lookup.v1.RouteLookupClusterSpecifier", "route_lookup_config": {
        "lookup_service": SERVICE, "cache_size_bytes": w.one("1000", "1000", "1000", "60"), "grpc_keybuilders": [{
            "names": [{"service": "pkg.Service"}], "headers": [{"key": "u", "names": ["x-user"]}],
            **w.one({}, {}, {"constant_keys": {"k": "v"}}, {"extra_keys": {"method": "m"}})}],
        **ages, **w.one({}, {"default_target": w.one(*NAMES, "gone")}), **w.one({}, {"lookup_service_timeout": "0.5s"})}}
    return {"extension": {"name": "rls", "typed_config": config}}


def table(w):
    routed = {"cluster_specifier_plugin": "rls"}
    retried = w.one({}, {}, {"retry_policy": {"retry_on": "unavailable", "num_retries": 2, "retry_back_off": {"base_interval": "0.05s"}}})
    routes = [{"match": {"prefix": "/pkg"}, "route": {**w.one(routed, routed, routed, {"cluster": w.one(*NAMES)}), **retried}},
              {"match": {"prefix": ""}, "route": {"cluster": w.one(*NAMES)}}]
    return {"@type": RDS, "name": "looked", "cluster_specifier_plugins": [plugin(w)], "virtual_hosts": [
        {"name": "v", "domains": ["*"], "routes": routes}]}


def answers(w):
    """What the lookup service says: for some users one thing, for all others another, or nothing."""
    of = lambda keys: {**({"keys": keys} if keys else {}), **w.one(
        {"targets": [w.one(*NAMES)]}, {"targets": [w.one(*NAMES)]}, {"targets": w.chance.sample([*NAMES, "gone"], 2)}, {"targets": ["gone"]},
        {"targets": [w.one(*NAMES)], "header_data": "h"}, {"status": w.one("UNAVAILABLE", "NOT_FOUND", "INTERNAL")},
        {"targets": [w.one(*NAMES)], "delay": w.one(0.2, 1.0)})}
    return [*(of({"u": f"u{number}"}) for number in range(3) if w.percent(60)), *w.one([], [of(None)])]


def picks(w):
    for _ in range(w.between(1, 3)):
        w.pick(w.between(1, 2), [("x-user", f"u{w.between(0, 3)}")], method=w.one(*METHODS[:2], METHODS[0], METHODS[2]), timeout=w.one(2, 3),
               **w.one({}, {}, {}, {"wait_for_ready": True}))


def all_lookups(w):
    """Lookups with four to eight changes of the answers, the routes, the clusters, and of what listens."""
    w.extra.update(lookup_service=SERVICE, lookups=answers(w), rds="looked")
    w.extra["with"] = "rls"
    for name in NAMES:
        w.put(eds(name, **balanced(w)))
        w.put(assignment(w, name))
    w.put(table(w))
    w.pick(1, [("x-user", "u0")], timeout=6)
    picks(w)
    stopped = []
    for _ in range(w.between(4, 8)):
        name = w.one(*NAMES)
        what = w.one("answers", "answers", "answers", "routes", "cluster", "endpoints", "wait", "wait", "remove", "stop", "start", "service")
        if what == "answers":
            w.step(lookups=answers(w))
        elif what == "routes":
            change(w, table(w))
        elif what == "cluster":
            change(w, eds(name, **balanced(w)))
        elif what == "endpoints":
            change(w, assignment(w, name))
        elif what == "wait":
            w.step(sleep=w.one(2.6, 7.0))
        elif what == "remove":
            w.step(remove=[[w.one(CDS, EDS), name]])
            w.step(sleep=0.8)
        elif what == "stop":
            stop(w, stopped)
        elif what == "service" and SERVICE not in stopped:
            stopped.append(SERVICE)
            w.step(stop=SERVICE)
            w.step(sleep=0.8)
        elif what == "start":
            start(w, stopped)
        picks(w)


KINDS = [all_lookups]
