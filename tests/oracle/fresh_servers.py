#!/usr/bin/env python3
"""Makes 200 rows of servers from a seed, the same ones on every machine: fresh_servers.py SEED > rows. See README.md.

They say how far what was learnt from the tables of server_rows/ holds for others. The seed is the hash of the commit that has this file.
"""
import json
import random
import sys

from server_rows import build
from server_rows.build import call, chain, cidr, connect, host, listener, mtls, override, policy, route, routes, row, rules, shows, tls

METHODS = ["/pkg.Service/Method", "/pkg.Service/Other", "/admin.Console/Delete"]
SOURCES = ["127.0.0.1", "127.0.0.2", "127.0.1.7", "127.0.1.8", "127.4.0.1", "127.200.3.3"]
TARGETS = ["127.0.0.1", "127.0.0.2", "127.0.9.1", "127.0.9.130", "127.77.0.1"]
NETWORKS = ["127.0.0.0/8", "127.0.0.0/16", "127.0.1.0/24", "127.0.1.7/32", "127.0.0.2/32", "127.4.0.0/15", "127.128.0.0/9", "127.0.9.0/24", "127.0.9.128/25",
            "127.77.0.0/16", "0.0.0.0/0", "10.0.0.0/8", "127.0.0.1/32"]
CERTIFICATES = ["client-uri", "client-uris", "client-dns", "client-email", "client-ip", "client-none", "client-all", "client-wildcard", "client-nameless", "client-chain",
                "client-other", "client-expired", None]
NAMES = ["spiffe://test/ns/default/sa/client", "spiffe://test/ns/default/sa/second", "a.client.test", "client@test", "CN=client-none,OU=Unit,O=Test", "client-none",
         "all.test", "spiffe://test/all", "nameless.test", "*.client.test", "spiffe://test/chain", "CN=client-email,O=Test"]
HEADERS = {"x-user": ["ann", "bob", "Ann", "", "an,bo"], "x-level": ["5", "15", "-3", "0x5", "15.5"], "x-team": ["red", "blue", "red-2"], "x-raw-bin": ["YWJj", "AAAA"]}
AUTHORITIES = ["server.test", "api.server.test", "other.test", "Server.Test", "server.test:8080"]


class Maker:
    """Chance with a seed, and what is made by it."""

    def __init__(self, seed):
        self.chance = random.Random(seed)
        self.some = self.chance.choice

    def odds(self, percent):
        return self.chance.random() * 100 < percent

    def several(self, of, least=1, most=3):
        return self.chance.sample(of, min(len(of), self.chance.randint(least, most)))

    # --- matchers ---

    def string(self, values):
        value = self.some(values)
        start, length = self.chance.randrange(max(1, len(value))), self.chance.randint(1, 6)
        part = value[start:start + length] or value
        made = self.some([{"exact": value}, {"exact": value}, {"prefix": value[:length + 2]}, {"suffix": value[-length:]}, {"contains": part}, {"safe_regex": {"regex": self.regex(value)}}])
        if "safe_regex" not in made:
            (kind, text), = made.items()
            if self.odds(25):
                made = {kind: text.swapcase(), "ignore_case": self.odds(70)}
            elif not text:
                made = {"exact": ""}
        return made

    def regex(self, value):
        plain = "".join("\\" + each if each in ".*+?()[]{}|^$\\" else each for each in value)
        return self.some([plain, ".*", f"{plain}|none", f"{plain[:3]}.*" if "\\" not in plain[:3] else ".+", f".*{value[-2:]}" if value[-2:].isalnum() else ".*", "[a-z]+", f"(?i){plain.upper() if chr(92) not in plain else plain}"])

    def header(self):
        name = self.some([*HEADERS, *HEADERS, "x-none", ":path", ":method", ":authority", "content-type", "user-agent"])
        values = {":path": METHODS, ":method": ["POST", "GET"], ":authority": AUTHORITIES, "content-type": ["application/grpc"], "user-agent": ["caller"], "x-none": ["x"]}.get(name) or HEADERS[name]
        if name == "x-level" and self.odds(50):
            start = self.some([-5, 0, 5, 15])
            made = {"range_match": {"start": start, "end": start + self.some([0, 1, 10])}}
        else:
            value = self.some(values)
            made = self.some([{"exact_match": value}, {"string_match": self.string(values)}, {"string_match": self.string(values)}, {"present_match": self.odds(70)},
                              {"prefix_match": value[:2] or "a"}, {"suffix_match": value[-2:] or "b"}, {"contains_match": value[1:3] or "n"}, {"safe_regex_match": {"regex": self.regex(value)}}])
        return {"name": name, **made, **({"invert_match": True} if self.odds(20) else {})}

    def network(self):
        return cidr(self.some(NETWORKS))

    # --- RBAC ---

    def permission(self, depth=0):
        if depth < 3 and self.odds(35):
            return self.some([lambda: {"and_rules": {"rules": [self.permission(depth + 1) for _ in range(self.chance.randint(1, 3))]}},
                              lambda: {"or_rules": {"rules": [self.permission(depth + 1) for _ in range(self.chance.randint(1, 3))]}},
                              lambda: {"not_rule": self.permission(depth + 1)}])()
        return self.some([
            lambda: {"any": True}, lambda: {"header": self.header()}, lambda: {"header": self.header()}, lambda: {"url_path": {"path": self.string(METHODS)}},
            lambda: {"url_path": {"path": self.string(METHODS)}}, lambda: {"destination_ip": self.network()}, lambda: {"destination_port": self.some(["PORT", "NEXT PORT", 80])},
            *[lambda: {"destination_port_range": self.some([{"start": 7000, "end": 9001}, {"start": 80, "end": "PORT"}, {"start": "PORT", "end": "NEXT PORT"}])}]
            * self.odds(10),  # which C-core does not have
            lambda: {"metadata": {"filter": "f", "path": [{"key": "k"}], "value": {"present_match": True}, "invert": self.odds(50)}},
            lambda: {"requested_server_name": self.some([{"exact": "server.test"}, {"exact": ""}, {"prefix": "s"}, {"safe_regex": {"regex": ".*"}}])}])()

    def principal(self, depth=0, is_secure=False):
        if depth < 3 and self.odds(35):
            return self.some([lambda: {"and_ids": {"ids": [self.principal(depth + 1, is_secure) for _ in range(self.chance.randint(1, 3))]}},
                              lambda: {"or_ids": {"ids": [self.principal(depth + 1, is_secure) for _ in range(self.chance.randint(1, 3))]}},
                              lambda: {"not_id": self.principal(depth + 1, is_secure)}])()
        named = lambda: {"authenticated": {"principal_name": self.string(NAMES)}}
        return self.some([
            lambda: {"any": True}, lambda: {"header": self.header()}, lambda: {"url_path": {"path": self.string(METHODS)}}, lambda: {"direct_remote_ip": self.network()},
            lambda: {"source_ip": self.network()}, lambda: {"remote_ip": self.network()}, lambda: {"metadata": {"filter": "f", "path": [{"key": "k"}], "value": {"present_match": True}, "invert": self.odds(50)}},
            *[named] * (8 if is_secure else 1), lambda: {"authenticated": {}}])()

    def rules(self, is_secure=False):
        made = [policy([self.permission() for _ in range(self.chance.randint(1, 2))], [self.principal(0, is_secure) for _ in range(self.chance.randint(1, 2))])
                for _ in range(self.some([0, 1, 1, 1, 2, 3]))]
        return rules(made, self.some(["ALLOW", "ALLOW", "ALLOW", "DENY", "DENY", "LOG"]))

    def filters(self, is_secure=False):
        names = ["first", "second"][:self.some([1, 1, 1, 2])]
        return [build.rbac(self.rules(is_secure), name, **({"shadow_rules": self.rules(is_secure)} if self.odds(15) else {})) for name in names]

    # --- routes ---

    def route(self, last=False):
        match = {"prefix": ""} if last else self.some([
            {"prefix": "/pkg."}, {"prefix": ""}, {"path": self.some(METHODS)}, {"path": self.some(METHODS).lower(), "case_sensitive": False},
            {"safe_regex": {"regex": self.regex(self.some(METHODS))}}, {"prefix": "/admin"}])
        match = dict(match)
        if not last and self.odds(35):
            match["headers"] = [self.header()]
        if not last and self.odds(10):
            match["runtime_fraction"] = {"default_value": {"numerator": self.some([0, 100]), "denominator": "HUNDRED"}}
        more = override(self.some([None, self.rules()]), self.some(["first", "first", "second"])) if self.odds(25) else {}
        return route(match, {"route": {"cluster": "c"}} if self.odds(25) else None, **more)

    def hosts(self):
        domains = self.some([["*"], ["*"], ["server.test"], ["*.server.test", "server.test"], ["server.*"]])
        made = [host([*(self.route() for _ in range(self.chance.randint(1, 3))), *([self.route(True)] if self.odds(60) else [])], domains)]
        if domains != ["*"] and self.odds(60):
            made.append(host([self.route(self.odds(50))], ["*"], **(override(self.rules(), "first") if self.odds(20) else {})))
        return made

    # --- chains ---

    def match(self):
        made = {"transport_protocol": "raw_buffer"} if self.odds(50) else {}
        if self.odds(45):
            made["prefix_ranges"] = [cidr(text) for text in self.several(NETWORKS, 1, 2)]
        if self.odds(30):
            made["source_type"] = self.some(["ANY", "SAME_IP_OR_LOOPBACK", "EXTERNAL"])
        if self.odds(50):
            made["source_prefix_ranges"] = [cidr(text) for text in self.several(NETWORKS, 1, 2)]
        if self.odds(20):
            made["source_ports"] = self.several([5001, 5002, 5003], 1, 2)
        if self.odds(8):
            made.update(self.some([{"server_names": ["server.test"]}, {"application_protocols": ["h2"]}, {"transport_protocol": "tls"}, {"destination_port": "PORT"}]))
        return made

    def context(self):
        return self.some([lambda: mtls(), lambda: mtls(), lambda: mtls(require=False), lambda: tls(), lambda: mtls(roots="roots"), lambda: mtls(combined=True), lambda: mtls(roots="other-roots")])()

    # --- what happens ---

    def call(self, name):
        sent = [(header, self.some(HEADERS[header])) for header in self.several(list(HEADERS), 0, 3)]
        if sent and self.odds(10):
            sent.append((sent[0][0], self.some(HEADERS[sent[0][0]])))
        more = {"authority": self.some(AUTHORITIES)} if self.odds(50) else {}
        return call(name, self.some(METHODS) if self.odds(70) else METHODS[0], sent, **more)

    def visits(self, is_secure, number, begin=0):
        for visit in range(begin, begin + number):
            source = self.some(SOURCES)
            if self.odds(15):
                source += f":{self.some([5001, 5002, 5003]) + 10 * visit}"
            certificate = self.some(CERTIFICATES)
            side = shows(certificate, **({"roots": ""} if self.odds(10) else {})) if is_secure and self.odds(92) or self.odds(4) else None
            yield connect(f"c{visit}", source, self.some(TARGETS), side)
            for _ in range(self.some([1, 2, 3])):
                yield self.call(f"c{visit}")


def chains(make):
    named = ["served", "denied", "unrouted", "served", "denied"]
    from server_rows.chains import tells
    number = make.chance.randint(1, 5)
    made = [tells(named[index], make.match() if index or make.odds(60) else None) for index in range(number)]
    if make.odds(30):
        make.chance.shuffle(made)
    steps, taken = [], set()
    for visit in range(8):
        source, to = make.some(SOURCES) + (f":{make.some([5001, 5002, 5003])}" if make.odds(25) else ""), make.some(TARGETS)
        if (source, to) in taken:  # the connection is open, and its port with it
            source = source.partition(":")[0]
        taken.add((source, to))
        steps += [connect(f"c{visit}", source, to), call(f"c{visit}")]
    return listener(made, tells(make.some(named)) if make.odds(40) else None), steps


def secured(make):
    context = make.context()
    filters = make.filters(True) if make.odds(50) else []
    made = [chain(tls=context, filters=filters)]
    if make.odds(35):
        made.append(chain({"source_prefix_ranges": [make.network()], "transport_protocol": "raw_buffer"}, tls=make.some([None, make.context()]), name="other", filters=make.filters(True) if make.odds(40) else []))
        made[0]["filter_chain_match"] = {"transport_protocol": "raw_buffer"}
    return listener(made), list(make.visits(True, 6))


def denied(make):
    is_secure = make.odds(45)
    made = chain(tls=mtls(require=make.odds(50)) if is_secure else None, filters=make.filters(is_secure))
    return listener([made]), list(make.visits(is_secure, 4))


def routed(make):
    filters = make.filters() if make.odds(60) else [build.rbac(rules(), "first")]
    hosts = make.hosts()
    if make.odds(30):
        return [listener([chain(rds="routes", filters=filters)]), routes(hosts)], list(make.visits(False, 3))
    return listener([chain(hosts=hosts, filters=filters)]), list(make.visits(False, 3))


def updated(make):
    def one():
        return make.some([lambda: listener([chain(filters=make.filters())]), lambda: listener([chain(hosts=make.hosts(), filters=[build.rbac(rules(), "first")])]),
                          lambda: listener([chain(make.match())], chain(name="default") if make.odds(50) else None), lambda: listener([chain(tls=make.context())])])()

    begin = one()
    steps = list(make.visits(False, 2))
    gone = build.LISTENER.rsplit("/", 1)[1] + "/grpc/server?address=0.0.0.0:PORT"
    for number in range(make.chance.randint(1, 2)):
        steps.append(make.some([{"update": [one()]}, {"update": [one()]}, {"update": [begin]}, {"remove": [gone]}, {"update": [listener([])]}]))
        steps += [{"state": "c0", "timeout": 1}, make.call("c0"), *make.visits(make.odds(30), 2, 2 + 2 * number)]
    return begin, steps


def mixed(make):
    is_secure = make.odds(60)
    made = [chain(make.match() if index else None, tls=make.context() if is_secure and index != 1 else None, filters=make.filters(is_secure), hosts=make.hosts() if make.odds(60) else None, name=f"chain-{index}")
            for index in range(make.chance.randint(2, 3))]
    return listener(made, chain(name="default", filters=make.filters()) if make.odds(30) else None), list(make.visits(is_secure, 7))


KINDS = {"chains": (chains, 45), "tls": (secured, 30), "rbac": (denied, 60), "routes": (routed, 30), "updates": (updated, 15), "mixed": (mixed, 20)}


def rows(seed):
    for kind, (make, number) in KINDS.items():
        for index in range(number):
            resources, steps = make(Maker(f"{seed} {kind} {index}"))
            yield row(f"fresh-{kind}-{seed[:8]}-{index}", f"fresh: {kind}", resources, *steps)


if __name__ == "__main__":
    for made in rows(sys.argv[1]):
        print(json.dumps(made, separators=(",", ":")))
