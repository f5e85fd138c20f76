"""Listeners that change, go away and come back, and certificates that are rotated."""
from .build import LISTENER, call, chain, cidr, connect, host, known, listener, mtls, permitted, rbac, route, row, rules, shows, tls

NAME = LISTENER.rsplit("/", 1)[1] + "/grpc/server?address=0.0.0.0:PORT"
METHODS = ["/pkg.Service/Method", "/pkg.Service/Other"]
DENIES = rbac(rules({}))


def asked(id, about, resources, *steps, **more):
    return row("update-" + id, about, resources, *steps, **more)


def gone(name="a", **more):
    return {"state": name, "timeout": 1, **more}


def changes():
    plain, now = [connect(), call()], [gone(), call(), connect("b"), call("b")]
    for id, about, first, second in (
            ("same", "the same Listener again", listener(), listener()),
            ("same-rbac", "the same Listener again, with RBAC", listener([chain(filters=[rbac()])]), listener([chain(filters=[rbac()])])),
            ("name", "a chain with another name", listener(), listener([chain(name="other")])),
            ("unread", "a field that gRPC does not read", listener(), listener(traffic_direction="INBOUND")),
            ("route", "other routes", listener(), listener([chain(hosts=[host([route({"path": METHODS[1]})])])])),
            ("route-action", "routes that do not serve any more", listener(), listener([chain(hosts=[host([route(None, {"route": {"cluster": "c"}})])])])),
            ("rbac", "RBAC that denies", listener(), listener([chain(filters=[DENIES])])),
            ("rbac-off", "RBAC that denied is taken away", listener([chain(filters=[DENIES])]), listener()),
            ("added", "a chain more, which takes other connections", listener([chain()]), listener([chain(), chain({"source_prefix_ranges": [cidr("127.5.0.0/16")]}, name="other")])),
            ("default", "a default chain more", listener([chain()]), listener([chain()], chain(name="default", filters=[DENIES]))),
            ("moved", "the same chain becomes the default", listener([chain()]), listener(None, chain())),
            ("no-chain", "no chain takes the connection any more", listener(), listener([chain({"source_prefix_ranges": [cidr("10.0.0.0/8")]})])),
            ("tls", "plaintext becomes TLS", listener(), listener([chain(tls=mtls())])),
            ("address", "another address", listener(), {**listener(), "address": {"socket_address": {"address": "127.0.0.9", "port_value": "PORT"}}}),
            ("rejected", "a Listener that is rejected", listener(), listener([])),
            ("rejected-filter", "a Listener with a filter that is unknown", listener(), listener([chain(filters=[{"name": "x"}])]))):
        yield asked(id, about, first, *plain, {"update": [second]}, *now)
        yield asked(id + "-back", about + ", and back", first, *plain, {"update": [second]}, gone(), {"update": [first]}, connect("b"), call("b"))


    secured = [connect(tls=shows("client-uri")), call()]
    later = [gone(), call(), connect("b"), call("b"), connect("c", tls=shows("client-uri")), call("c")]
    yield asked("tls-gone", "TLS becomes plaintext", listener([chain(tls=mtls())]), *secured, {"update": [listener()]}, *later)
    yield asked("tls-gone-route", "TLS becomes plaintext, with other routes", listener([chain(tls=mtls())]), *secured,
                {"update": [listener([chain(hosts=[host([route({"path": METHODS[0]})])])])]}, *later)
    yield asked("tls-gone-then-rbac", "TLS becomes plaintext, and then RBAC denies", listener([chain(tls=mtls())]), *secured,
                {"update": [listener()]}, gone(), {"update": [listener([chain(filters=[DENIES])])]}, *later[1:])
    yield asked("removed-and-other", "a Listener that goes away, and another comes", listener(), *plain, {"remove": [NAME]}, gone(),
                {"update": [listener([chain(filters=[DENIES])])]}, connect("b"), call("b"))
    yield asked("rejected-filter-other", "a Listener with a filter that is unknown, and then another", listener(), *plain,
                {"update": [listener([chain(filters=[{"name": "x"}])])]}, gone(), {"update": [listener([chain(filters=[DENIES])])]}, connect("b"), call("b"))


def flights():
    """A call in flight while the Listener changes."""
    hold = {"headers": [["x-hold", "3"]]}
    begun = [connect(), {"begin": "a", "method": METHODS[0], **hold}, {"sleep": 0.5}]
    for id, about, second in (("same", "the same Listener", listener()), ("rbac", "RBAC that denies", listener([chain(filters=[DENIES])])),
                              ("no-chain", "no chain takes it", listener([chain({"source_prefix_ranges": [cidr("10.0.0.0/8")]})])), ("tls", "TLS", listener([chain(tls=mtls())])),
                              ("rejected", "a Listener that is rejected", listener([]))):
        yield asked(f"flight-{id}", f"a call in flight ends before its connection does: {about}", listener(), *begun, {"update": [second]}, {"state": "a", "timeout": 0.3}, {"finish": "a"}, gone())
    yield asked("flight-removed", "a call in flight while the Listener goes away", listener(), *begun, {"remove": [NAME]}, {"state": "a", "timeout": 0.3}, {"finish": "a"}, gone())
    grace = {"cpp": [["grpc.experimental.server_config_change_drain_grace_time_ms", 500]], "node": {"drainGraceTimeMs": 500}}
    yield asked("flight-grace", "a call in flight for longer than the grace time of half a second, where a server has one", listener(), *begun,
                {"update": [listener([chain(filters=[DENIES])])]}, {"state": "a", "timeout": 0.3}, {"finish": "a"}, gone(), options=grace)


def absences():
    steps = [connect(), call()]
    yield asked("missing", "no Listener", [], *steps)
    yield asked("missing-then-there", "a Listener that comes after it was missed", [], *steps, {"update": [listener()]}, connect("b"), call("b"))
    yield asked("late", "a Listener that comes before it is missed", [], *steps, {"update": [listener()]}, connect("b"), call("b"), patience=2)
    yield asked("removed", "a Listener that goes away", listener(), *steps, {"remove": [NAME]}, gone(), call(), connect("b"), call("b"))
    yield asked("removed-and-back", "a Listener that goes away and comes back", listener(), *steps, {"remove": [NAME]}, gone(), {"update": [listener()]}, connect("b"), call("b"))
    yield asked("removed-kept", "a Listener that goes away where the bootstrap ignores deletions", listener(), *steps, {"remove": [NAME]}, gone(), call(), connect("b"), call("b"),
                bootstrap={"server_features": ["xds_v3", "ignore_resource_deletion"]})
    yield asked("removed-failing", "a Listener that goes away where the bootstrap has fail_on_data_errors", listener(), *steps, {"remove": [NAME]}, gone(), call(), connect("b"), call("b"),
                bootstrap={"server_features": ["xds_v3", "fail_on_data_errors"]})
    yield asked("rejected-first", "a Listener that is rejected from the start", listener([]), *steps, {"update": [listener()]}, connect("b"), call("b"))
    yield asked("client-listener", "a Listener for clients", {"@type": LISTENER, "name": "grpc/server?address=0.0.0.0:PORT", "api_listener": {"api_listener": {
        "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", "http_filters": [chain()["filters"][0]["typed_config"]["http_filters"][0]],
        "route_config": {"name": "r", "virtual_hosts": [host([route(None, {"route": {"cluster": "c"}})])]}}}}, *steps)
    yield asked("no-template", "a bootstrap without a template", listener(), *steps, bootstrap={"server_listener_resource_name_template": None})
    yield asked("template-plain", "a template without %s", {**listener(), "name": "all"}, *steps, bootstrap={"server_listener_resource_name_template": "all"})
    yield asked("template-twice", "a template with two %s", {**listener(), "name": "0.0.0.0:PORT/0.0.0.0:PORT"}, *steps, bootstrap={"server_listener_resource_name_template": "%s/%s"})
    yield asked("template-new", "a template of xdstp", {**listener(), "name": "xdstp://a.test/envoy.config.listener.v3.Listener/0.0.0.0:PORT"}, *steps, bootstrap={
        "server_listener_resource_name_template": "xdstp://a.test/envoy.config.listener.v3.Listener/%s", "authorities": {"a.test": {}}})


def rotations():
    """What a provider reads every second."""
    sides = lambda name, **more: [connect(name, tls=shows("client-uri", **more)), call(name)]
    secure = listener([chain(tls=mtls())])
    next_one = {"server.pem": "server-next.pem", "server.key": "server-next.key"}
    yield asked("rotate-identity", "the server's certificate is another one: new connections see it, old ones stay", secure, *sides("a"), {"rotate": next_one},
                gone(), call(), *sides("b"), *sides("c", server_name="next.test"))
    yield asked("rotate-server-only", "the server's certificate is another one, and clients show none", listener([chain(tls=tls())]), *sides("a"), {"rotate": next_one},
                call(), *sides("b"), *sides("c", server_name="next.test"))
    yield asked("rotate-both", "the server's certificate and the roots are others", secure, *sides("a"), {"rotate": {**next_one, "ca.pem": "other-ca.pem"}},
                call(), *sides("b", server_name="next.test"), connect("c", tls=shows("client-other", server_name="next.test")), call("c"))
    yield asked("rotate-touched", "the server's certificate is another one, and the roots are written again as they were", secure, *sides("a"),
                {"rotate": {**next_one, "ca.pem": "ca.pem"}}, call(), *sides("b"), *sides("c", server_name="next.test"))
    yield asked("rotate-roots", "the roots are others: who was let in is not let in any more", secure, *sides("a"), {"rotate": {"ca.pem": "other-ca.pem"}},
                call(), *sides("b"), connect("c", tls=shows("client-other")), call("c"))
    yield asked("rotate-half", "the certificate is rotated and its key is not", secure, *sides("a"), {"rotate": {"server.pem": "server-next.pem"}},
                *sides("b"), *sides("c", server_name="next.test"))
    yield asked("rotate-bad", "the certificate becomes a file that has none", secure, *sides("a"), {"rotate": {"server.pem": "server.key"}}, *sides("b"))
    yield asked("rotate-expired", "the certificate becomes one that has expired", secure, *sides("a"), {"rotate": {"server.pem": "client-expired.pem", "server.key": "client-expired.key"}},
                *sides("b", roots="", server_name="x"))
    missing = listener([chain(tls=tls(identity="missing"))])
    yield asked("rotate-there", "files that were not there", missing, connect("a", tls=shows()), {"rotate": {"missing.pem": "server.pem", "missing.key": "server.key", "missing-ca.pem": "ca.pem"}},
                connect("b", tls=shows()), call("b"))


def rows():
    for part in (changes, flights, absences, rotations):
        yield from part()
