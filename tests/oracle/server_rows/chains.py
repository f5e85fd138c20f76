"""Which filter chain takes a connection: destination, source type, source prefix, source port, the rest, the default chain."""
from .build import PORT, call, chain, cidr, connect, host, listener, rbac, route, row, rules


def tells(name, match=None, **more):
    """A chain that says by its code which one it is: `served` serves, `denied` denies, `unrouted` has no route."""
    if name == "served":
        return chain(match, name=name, **more)
    if name == "denied":
        return chain(match, name=name, filters=[rbac(rules({}))], **more)
    return chain(match, name=name, hosts=[host([route({"prefix": "/none"})])], **more)


def asks(*pairs):
    """Connects from and to these addresses, and calls once on each connection."""
    for number, (source, to) in enumerate(pairs):
        yield connect(f"c{number}", source=source, to=to)
        yield call(f"c{number}")


def asked(id, about, chains, *pairs, default=None, **more):
    return row("chain-" + id, about, listener(chains, default, **more), *asks(*pairs))


US, OTHER = ("127.0.0.2", "127.0.0.1"), ("127.0.1.9", "127.0.0.1")


def destinations():
    yield asked("all", "a chain without a match takes every connection", [tells("served")], US, OTHER, ("127.0.0.1", "127.0.0.1"))
    yield asked("match-empty", "an empty match takes every connection", [tells("served", {})], US, OTHER)
    for length in (0, 1, 7, 8, 9, 15, 16, 24, 25, 30, 31, 32):
        yield asked(f"to-{length}", f"a destination prefix of {length} bits", [tells("served", {"prefix_ranges": [cidr(f"127.0.5.129/{length}")]})],
                    ("127.0.0.2", "127.0.5.129"), ("127.0.0.2", "127.0.5.128"), ("127.0.0.2", "127.0.5.130"), ("127.0.0.2", "127.0.5.1"),
                    ("127.0.0.2", "127.0.4.129"), ("127.0.0.2", "127.1.5.129"), ("127.0.0.2", "127.128.5.129"))
    yield asked("to-no-length", "a destination prefix without a length has length 0", [tells("served", {"prefix_ranges": [cidr("127.0.5.1")]})],
                ("127.0.0.2", "127.0.5.1"), ("127.0.0.2", "127.0.5.2"))
    yield asked("to-too-long", "a destination prefix of 33 bits", [tells("served", {"prefix_ranges": [cidr("127.0.5.1/33")]})],
                ("127.0.0.2", "127.0.5.1"), ("127.0.0.2", "127.0.5.2"))
    yield asked("to-6", "a destination prefix of IPv6 takes no connection of IPv4", [tells("served", {"prefix_ranges": [cidr("::/0")]})], US)
    yield asked("to-mapped", "a destination prefix of IPv4 addresses in IPv6", [tells("served", {"prefix_ranges": [cidr("::ffff:127.0.0.1/128")]})], US)
    yield asked("to-several", "one of two destination prefixes is enough",
                [tells("served", {"prefix_ranges": [cidr("127.0.5.0/24"), cidr("127.0.6.0/24")]})],
                ("127.0.0.2", "127.0.5.1"), ("127.0.0.2", "127.0.6.1"), ("127.0.0.2", "127.0.7.1"))
    yield asked("to-longest", "the longest destination prefix wins, in whatever order",
                [tells("served", {"prefix_ranges": [cidr("127.0.0.0/8")]}), tells("denied", {"prefix_ranges": [cidr("127.0.5.0/24")]}),
                 tells("unrouted", {"prefix_ranges": [cidr("127.0.5.9/32")]})],
                ("127.0.0.2", "127.0.5.1"), ("127.0.0.2", "127.0.5.9"), ("127.0.0.2", "127.0.6.1"))
    yield asked("to-no-way-back", "a chain with the longest destination prefix that fails on its source leads to no shorter one",
                [tells("served", {"prefix_ranges": [cidr("127.0.0.0/8")]}),
                 tells("denied", {"prefix_ranges": [cidr("127.0.5.0/24")], "source_prefix_ranges": [cidr("127.0.0.9/32")]})],
                ("127.0.0.2", "127.0.5.1"), ("127.0.0.9", "127.0.5.1"), ("127.0.0.2", "127.0.6.1"))
    yield asked("to-no-way-back-default", "then the default chain takes it",
                [tells("served", {"prefix_ranges": [cidr("127.0.0.0/8")]}),
                 tells("denied", {"prefix_ranges": [cidr("127.0.5.0/24")], "source_prefix_ranges": [cidr("127.0.0.9/32")]})],
                ("127.0.0.2", "127.0.5.1"), ("127.0.0.9", "127.0.5.1"), ("127.0.0.2", "127.0.6.1"), default=tells("unrouted"))
    yield asked("to-none-or-some", "a chain without destination prefixes takes what no prefix takes",
                [tells("served"), tells("denied", {"prefix_ranges": [cidr("127.0.5.0/24")]})],
                ("127.0.0.2", "127.0.5.1"), ("127.0.0.2", "127.0.6.1"))
    yield asked("to-zero-beats-none", "a prefix of length 0 is longer than none", [tells("served"), tells("denied", {"prefix_ranges": [cidr("0.0.0.0/0")]})], US)
    yield asked("to-address-suffix", "address_suffix is not read", [tells("served", {"address_suffix": "127.0.9.9", "suffix_len": 32})], US)
    yield asked("to-bad", "a destination prefix that is no address", [tells("served", {"prefix_ranges": [cidr("server.test/32")]})], US)


def ports():
    yield asked("port-right", "destination_port is the server's port: the chain is never used", [tells("served", {"destination_port": "PORT"})], US)
    yield asked("port-other", "destination_port is another port", [tells("served", {"destination_port": "NEXT PORT"})], US)
    yield asked("port-zero", "destination_port is 0", [tells("served", {"destination_port": 0})], US)
    yield asked("port-default", "the default chain takes what a chain with destination_port does not",
                [tells("served", {"destination_port": "PORT"})], US, default=tells("denied"))
    yield asked("port-beside", "a chain without destination_port beside one with it",
                [tells("denied", {"destination_port": "PORT"}), tells("served", {"prefix_ranges": [cidr("127.0.0.1/32")]})], US)
    yield asked("port-prefix", "a chain with destination_port and the longest prefix: the prefix is not kept",
                [tells("denied", {"destination_port": "PORT", "prefix_ranges": [cidr("127.0.0.1/32")]}), tells("served")], US)


def source_types():
    pairs = [("127.0.0.2", "127.0.0.1"), ("127.0.0.1", "127.0.0.1"), ("127.0.0.1", "127.0.0.2"), ("127.0.0.2", "127.0.0.2"), ("127.9.9.9", "127.0.0.1")]
    for kind in ("ANY", "SAME_IP_OR_LOOPBACK", "EXTERNAL"):
        yield asked("type-" + kind.lower(), f"source_type {kind}", [tells("served", {"source_type": kind})], *pairs)
    yield asked("type-both", "SAME_IP_OR_LOOPBACK before ANY",
                [tells("served", {"source_type": "ANY"}), tells("denied", {"source_type": "SAME_IP_OR_LOOPBACK"})], *pairs)
    yield asked("type-external-any", "EXTERNAL before ANY", [tells("denied", {"source_type": "EXTERNAL"}), tells("served")], *pairs)
    yield asked("type-all", "all three source types",
                [tells("served", {"source_type": "EXTERNAL"}), tells("denied", {"source_type": "SAME_IP_OR_LOOPBACK"}), tells("unrouted")], *pairs)
    yield asked("type-no-way-back", "a source type that fails on its source prefix leads to no chain for any type",
                [tells("served"), tells("denied", {"source_type": "SAME_IP_OR_LOOPBACK", "source_prefix_ranges": [cidr("127.0.0.9/32")]})],
                ("127.0.0.2", "127.0.0.1"), ("127.0.0.9", "127.0.0.1"))
    yield asked("type-unknown", "source_type 7", [tells("served", {"source_type": 7})], US)
    yield asked("type-to", "the destination prefix comes before the source type",
                [tells("served", {"source_type": "SAME_IP_OR_LOOPBACK"}), tells("denied", {"prefix_ranges": [cidr("127.0.5.0/24")]})],
                ("127.0.0.1", "127.0.5.1"), ("127.0.0.1", "127.0.0.1"))


def sources():
    for length in (0, 1, 8, 9, 16, 23, 24, 31, 32):
        yield asked(f"from-{length}", f"a source prefix of {length} bits",
                    [tells("served", {"source_prefix_ranges": [cidr(f"127.0.6.200/{length}")]})],
                    *[(source, "127.0.0.1") for source in ("127.0.6.200", "127.0.6.201", "127.0.7.200", "127.0.6.2", "127.5.6.200", "127.0.0.1")])
    yield asked("from-several", "one of two source prefixes is enough",
                [tells("served", {"source_prefix_ranges": [cidr("127.0.6.0/24"), cidr("127.0.7.0/24")]})],
                ("127.0.6.1", "127.0.0.1"), ("127.0.7.1", "127.0.0.1"), ("127.0.8.1", "127.0.0.1"))
    yield asked("from-longest", "the longest source prefix wins",
                [tells("unrouted", {"source_prefix_ranges": [cidr("127.0.6.7/32")]}), tells("served", {"source_prefix_ranges": [cidr("127.0.0.0/8")]}),
                 tells("denied", {"source_prefix_ranges": [cidr("127.0.6.0/24")]})],
                ("127.0.6.1", "127.0.0.1"), ("127.0.6.7", "127.0.0.1"), ("127.0.7.7", "127.0.0.1"))
    yield asked("from-none-or-some", "a chain without source prefixes takes the rest",
                [tells("served"), tells("denied", {"source_prefix_ranges": [cidr("127.0.6.0/24")]})], ("127.0.6.1", "127.0.0.1"), ("127.0.7.1", "127.0.0.1"))
    yield asked("from-zero-beats-none", "a source prefix of length 0 is longer than none",
                [tells("served"), tells("denied", {"source_prefix_ranges": [cidr("0.0.0.0/0")]})], US)
    yield asked("from-6", "a source prefix of IPv6", [tells("served", {"source_prefix_ranges": [cidr("::/0")]})], US)
    yield asked("from-direct", "direct_source_prefix_ranges are not read",
                [tells("served", {"direct_source_prefix_ranges": [cidr("10.0.0.0/8")]})], US)
    yield asked("from-bad", "a source prefix that is no address", [tells("served", {"source_prefix_ranges": [cidr("10.0.0/8")]})], US)
    yield asked("from-no-way-back", "the longest source prefix fails on its port, and no shorter one is tried",
                [tells("served", {"source_prefix_ranges": [cidr("127.0.0.0/8")]}),
                 tells("denied", {"source_prefix_ranges": [cidr("127.0.6.0/24")], "source_ports": [5001]})],
                ("127.0.6.1", "127.0.0.1"), ("127.0.6.1:5001", "127.0.0.1"), ("127.0.7.1", "127.0.0.1"))


def source_ports():
    pairs = [("127.0.0.2:5001", "127.0.0.1"), ("127.0.0.2:5002", "127.0.0.1"), ("127.0.0.2", "127.0.0.1")]
    yield asked("source-port", "one source port", [tells("served", {"source_ports": [5001]})], *pairs)
    yield asked("source-ports", "two source ports", [tells("served", {"source_ports": [5001, 5002]})], *pairs)
    yield asked("source-port-or-any", "a source port before none", [tells("served"), tells("denied", {"source_ports": [5001]})], *pairs)
    yield asked("source-port-split", "chains that differ by source port", [tells("served", {"source_ports": [5001]}), tells("denied", {"source_ports": [5002]})], *pairs)
    yield asked("source-port-default", "no source port: the default chain", [tells("served", {"source_ports": [5001]})], *pairs, default=tells("denied"))
    yield asked("source-port-zero", "source port 0", [tells("served", {"source_ports": [0]})], *pairs)
    yield asked("source-port-large", "source port 65536", [tells("served", {"source_ports": [65536]})], *pairs)
    yield asked("source-port-large-or-any", "source port 70537, which is 5001 in 16 bits",
                [tells("served", {"source_ports": [70537]}), tells("denied", {"source_ports": [5002]})], *pairs)


def rest():
    for name, match in {
            "raw": {"transport_protocol": "raw_buffer"}, "tls": {"transport_protocol": "tls"}, "other": {"transport_protocol": "quic"},
            "names": {"server_names": ["server.test"]}, "name-any": {"server_names": ["*.test"]},
            "protocols": {"application_protocols": ["h2"]}, "protocols-http": {"application_protocols": ["http/1.1", "h2c"]}}.items():
        text = next(iter(match))
        yield asked(name, f"{text} {match[text]} alone", [tells("served", match)], US)
        yield asked(name + "-default", f"{text} {match[text]} with a default chain", [tells("served", match)], US, default=tells("denied"))
        yield asked(name + "-beside", f"{text} {match[text]} beside a chain without it", [tells("denied", match), tells("served")], US)
        yield asked(name + "-after", f"{text} {match[text]} after a chain without it", [tells("served"), tells("denied", match)], US)
        yield asked(name + "-prefix", f"{text} {match[text]} with a longer prefix", [tells("denied", {**match, "prefix_ranges": [cidr("127.0.0.1/32")]}), tells("served")], US)
    yield asked("raw-names", "raw_buffer with server_names", [tells("denied", {"transport_protocol": "raw_buffer", "server_names": ["server.test"]}), tells("served")], US)
    yield asked("raw-protocols", "raw_buffer with application_protocols, which makes the other chain unused as well in some clients",
                [tells("denied", {"transport_protocol": "raw_buffer", "application_protocols": ["h2"]}), tells("served")], US)
    yield asked("raw-port", "raw_buffer with destination_port", [tells("denied", {"transport_protocol": "raw_buffer", "destination_port": "PORT"}), tells("served")], US)
    yield asked("raw-duplicate", "two chains that differ by raw_buffer alone, before and after", [
        tells("served", {"transport_protocol": "raw_buffer", "source_prefix_ranges": [cidr("127.0.0.0/8")]}),
        tells("denied", {"source_prefix_ranges": [cidr("127.0.0.0/16")]})], US, OTHER)


def whole():
    yield asked("default-alone", "a default chain alone", None, US, default=tells("served"))
    yield asked("default-match", "the match of the default chain is not read", None, US, default=tells("served", {"source_ports": [9]}))
    yield asked("none", "no chain at all", [], US)
    yield asked("none-matches", "no chain matches and there is no default", [tells("served", {"source_prefix_ranges": [cidr("10.0.0.0/8")]})], US, OTHER)
    yield asked("duplicate", "two chains with the same match", [tells("served"), tells("denied")], US)
    yield asked("duplicate-default", "two chains with the same match and a default", [tells("served"), tells("denied")], US, default=tells("unrouted"))
    yield asked("duplicate-masked", "two chains whose prefixes are the same after masking",
                [tells("served", {"prefix_ranges": [cidr("127.0.0.1/8")]}), tells("denied", {"prefix_ranges": [cidr("127.9.9.9/8")]})], US)
    yield asked("duplicate-one", "two chains that share one of two prefixes",
                [tells("served", {"prefix_ranges": [cidr("127.0.5.0/24"), cidr("127.0.6.0/24")]}),
                 tells("denied", {"prefix_ranges": [cidr("127.0.6.0/24"), cidr("127.0.7.0/24")]})], ("127.0.0.2", "127.0.6.1"), ("127.0.0.2", "127.0.5.1"))
    yield asked("duplicate-port", "two chains that share a source port",
                [tells("served", {"source_ports": [1, 2]}), tells("denied", {"source_ports": [2, 3]})], US)
    yield asked("duplicate-self", "a chain that has a prefix twice", [tells("served", {"prefix_ranges": [cidr("127.0.0.0/8"), cidr("127.0.0.0/8")]})], US)
    yield asked("duplicate-dropped", "a chain twice that is never used", [
        tells("denied", {"server_names": ["a"]}), tells("unrouted", {"server_names": ["a"]}), tells("served")], US)
    yield asked("several", "destination, type, source and port together",
                [tells("served", {"prefix_ranges": [cidr("127.0.5.0/24")], "source_type": "EXTERNAL", "source_prefix_ranges": [cidr("127.0.6.0/24")],
                                  "source_ports": [5001]}), tells("denied")],
                ("127.0.6.1:5001", "127.0.5.1"), ("127.0.6.1:5002", "127.0.5.1"), ("127.0.7.1:5001", "127.0.5.1"), ("127.0.6.1:5001", "127.0.4.1"))
    yield row("chain-address-exact", "the server listens on one address", listener([tells("served")], address="127.0.0.1"), *asks(US), address="127.0.0.1")
    yield row("chain-address-6", "IPv6: a destination and a source prefix",
              listener([tells("served", {"prefix_ranges": [cidr("::1/128")]}), tells("denied", {"source_prefix_ranges": [cidr("::1/128")]})], address="::"),
              *asks(("::1", "::1")), address="::")
    yield row("chain-address-6-any", "IPv6: a source prefix of length 0", listener([tells("served", {"source_prefix_ranges": [cidr("::/0")]})], address="::"),
              *asks(("::1", "::1")), address="::")
    yield row("chain-address-6-type", "IPv6: the source type of loopback",
              listener([tells("served", {"source_type": "EXTERNAL"}), tells("denied", {"source_type": "SAME_IP_OR_LOOPBACK"})], address="::"), *asks(("::1", "::1")), address="::")
    yield row("chain-address-6-4", "a server on [::] and a connection by IPv4",
              listener([tells("served", {"source_prefix_ranges": [cidr("127.0.0.0/8")]}), tells("denied", {"source_prefix_ranges": [cidr("::/0")]})], address="::"),
              *asks(US), address="::")
    yield row("chain-address-wrong", "the Listener has another address than the server",
              listener([tells("served")], **{"address": "127.0.0.9"}) | {"name": "grpc/server?address=0.0.0.0:PORT"}, *asks(US))
    yield asked("original-dst", "use_original_dst", [tells("served")], US, use_original_dst=True)
    yield asked("listener-filter", "a listener filter", [tells("served")], US, listener_filters=[{"name": "x"}])
    yield asked("access-log", "what gRPC does not read is not read", [tells("served")], US, per_connection_buffer_limit_bytes=5, traffic_direction="INBOUND", drain_type="MODIFY_ONLY")


def moved(value, port):
    """A resource of another row, for the port of this one."""
    if isinstance(value, dict):
        return {key: moved(each, port) for key, each in value.items()}
    if isinstance(value, list):
        return [moved(each, port) for each in value]
    if value == port:
        return PORT
    return value.replace(f":{port}", ":" + PORT) if isinstance(value, str) else value


def raw(chains):
    """The same chains for raw_buffer, which makes no difference except where a server takes no other chain with a match."""
    for each in chains:
        match = each.get("filter_chain_match")
        yield each if not match or "transport_protocol" in match else {**each, "filter_chain_match": {"transport_protocol": "raw_buffer", **match}}


def rows():
    for part in (destinations, ports, source_types, sources, source_ports, rest, whole):
        yield from part()
    for part in (destinations, source_types, sources, source_ports):
        for made in part():
            listener = made["resources"][0]
            listener = {**listener, "filter_chains": list(raw(listener["filter_chains"]))}
            if listener != made["resources"][0]:
                name = made["id"].replace("chain-", "chain-raw-", 1)
                yield row(name, made["about"] + ", for raw_buffer", moved(listener, listener["address"]["socket_address"]["port_value"]), *made["steps"])
