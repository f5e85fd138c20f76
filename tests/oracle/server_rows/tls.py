"""Who gets through the handshake, and what a server asks for."""
from .build import call, chain, cidr, connect, known, listener, mtls, row, shows, tls

CERTIFICATES = ["client-dns", "client-uri", "client-email", "client-ip", "client-none"]


def asked(id, about, chains, *sides, default=None, **more):
    """A connection and a call for each side: None for plaintext, or what it shows."""
    steps = []
    for number, side in enumerate(sides):
        steps += [connect(f"c{number}", tls=side), call(f"c{number}")]
    return row("tls-" + id, about, listener(chains, default), *steps, **more)


def whoever(*certificates):
    return [shows(certificate) for certificate in certificates]


def requests():
    sides = [None, shows(), *whoever("client-uri", "client-none", "client-other", "client-self", "client-expired", "client-future", "client-chain", "client-usage")]
    yield asked("plain", "no transport socket: plaintext, and TLS fails", [chain()], *sides[:3])
    yield asked("server-only", "TLS without roots: any peer, or none", [chain(tls=tls())], *sides)
    yield asked("server-only-not-required", "TLS without roots, no certificate required", [chain(tls=tls(require=False))], *sides[:5])
    yield asked("required-no-roots", "a certificate is required, and there are no roots", [chain(tls=tls(require=True))], *sides[:5])
    yield asked("roots", "roots, and no certificate required", [chain(tls=tls(roots="server"))], *sides)
    yield asked("roots-not-required", "roots, and require_client_certificate false", [chain(tls=tls(roots="server", require=False))], *sides)
    yield asked("required", "roots and a certificate required", [chain(tls=mtls())], *sides)
    yield asked("required-combined", "roots in a combined validation context", [chain(tls=mtls(combined=True))], *sides[:5])
    yield asked("required-only-roots", "roots of a provider that has roots only", [chain(tls=mtls(roots="roots"))], *sides[:5])
    yield asked("required-other-roots", "other roots", [chain(tls=mtls(roots="other-roots"))], *sides)
    yield asked("roots-unknown", "roots of a provider that the bootstrap does not have", [chain(tls=mtls(roots="unknown"))], *sides[:3])
    yield asked("identity-unknown", "a certificate of a provider that the bootstrap does not have", [chain(tls=tls(identity="unknown"))], *sides[:3])
    yield asked("identity-none", "no certificate for the server", [chain(tls=tls(identity=None))], *sides[:3])
    yield asked("identity-roots", "a certificate of a provider that has roots only", [chain(tls=tls(identity="roots"))], *sides[:3])
    yield asked("files-missing", "the provider's files are not there", [chain(tls=tls(identity="missing"))], *sides[:3])
    yield asked("roots-files-missing", "the file with the roots is not there", [chain(tls=mtls(roots="missing"))], *sides[:3])
    yield asked("insecure-server", "a server without xDS credentials does not read the transport socket", [chain(tls=mtls())], *sides[:3], credentials="insecure")
    yield asked("sni", "any server name is taken", [chain(tls=tls())], shows(server_name="next.test", roots=""), shows(server_name="", roots=""))
    yield asked("sni-required", "require_sni", [chain(tls=tls(require_sni=True))], shows())
    yield asked("alpn-none", "the peer offers no protocol", [chain(tls=tls())], shows(protocols=[]))
    yield asked("alpn-other", "the peer offers another protocol", [chain(tls=tls())], shows(protocols=["http/1.1"]))
    yield asked("alpn-grpc", "the peer offers grpc-exp and h2", [chain(tls=tls())], shows(protocols=["grpc-exp", "h2"]))
    yield asked("split", "plaintext from one network, mutual TLS from another",
                [chain({"source_prefix_ranges": [cidr("127.0.0.0/16")]}, name="plain"), chain({"source_prefix_ranges": [cidr("127.1.0.0/16")]}, tls=mtls(), name="tls")],
                None, shows("client-uri"))
    yield row("tls-split-both", "the chain is chosen before a byte is read: plaintext and TLS meet the same one", listener(
        [chain({"source_prefix_ranges": [cidr("127.0.0.0/16")]}, name="plain"), chain({"source_prefix_ranges": [cidr("127.1.0.0/16")]}, tls=mtls(), name="tls")]),
        connect("a", source="127.0.0.2"), call("a"), connect("b", source="127.1.0.2"), call("b"), connect("c", source="127.1.0.2", tls=shows("client-uri")), call("c"),
        connect("d", source="127.0.0.2", tls=shows("client-uri")), call("d"))
    yield asked("default", "TLS in the default chain", None, *sides[:3], default=chain(tls=mtls()))
    yield asked("starttls", "another transport socket than TLS", [{**chain(), "transport_socket": {
        "name": "x", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer"}}}], *sides[:2])
    yield asked("untyped", "a transport socket without a config", [{**chain(), "transport_socket": {"name": "envoy.transport_sockets.tls"}}], *sides[:2])
    for name, more in {"ciphers": {"cipher_suites": ["ECDHE-RSA-AES128-GCM-SHA256"]}, "1.2": {"tls_maximum_protocol_version": "TLSv1_2"}, "1.3": {"tls_minimum_protocol_version": "TLSv1_3"}}.items():
        context = tls()
        context["common_tls_context"]["tls_params"] = more
        yield asked("params-" + name, f"tls_params {more}", [chain(tls=context)], *sides[1:3])
    context = tls()
    context["common_tls_context"]["alpn_protocols"] = ["http/1.1"]
    yield asked("alpn-config", "alpn_protocols of the context are not read", [chain(tls=context)], shows())


SANS = {
    "exact-uri": {"exact": "spiffe://test/ns/default/sa/client"}, "exact-dns": {"exact": "a.client.test"}, "exact-email": {"exact": "client@test"},
    "exact-ip": {"exact": "10.1.2.3"}, "exact-none": {"exact": "none"}, "exact-subject": {"exact": "client-none"}, "prefix": {"prefix": "spiffe://test/"},
    "suffix": {"suffix": "client"}, "contains": {"contains": "client"}, "regex": {"safe_regex": {"regex": "spiffe://.*/sa/client"}},
    "regex-part": {"safe_regex": {"regex": "client"}}, "upper": {"exact": "SPIFFE://TEST/NS/DEFAULT/SA/CLIENT"},
    "ignore-case": {"exact": "SPIFFE://TEST/NS/DEFAULT/SA/CLIENT", "ignore_case": True}, "prefix-empty": {"prefix": ""}, "exact-empty": {"exact": ""},
    "wildcard": {"exact": "*.client.test"}, "dns-upper": {"exact": "A.CLIENT.TEST"},
}


def names():
    sides = [None, shows(), *whoever(*CERTIFICATES, "client-wildcard", "client-all", "client-nameless", "client-upper", "client-uris")]
    for name, matcher in SANS.items():
        yield asked(f"san-{name}", f"a server's match_subject_alt_names {matcher}", [chain(tls=mtls(sans=[matcher]))], *sides)
    yield asked("san-two", "two matchers: one of them is enough", [chain(tls=mtls(sans=[SANS["exact-dns"], SANS["exact-uri"]]))], *sides)
    yield asked("san-not-required", "a matcher, and no certificate required", [chain(tls=mtls(require=False, sans=[SANS["exact-uri"]]))], *sides)
    yield asked("san-no-roots", "a matcher without roots", [chain(tls=tls(sans=[SANS["exact-uri"]]))], *sides[:4])


def identities():
    """What RBAC takes for the name of a peer is in rbac.py; here whether it is known at all."""
    for name, context in {"mutual": mtls(), "not-required": mtls(require=False), "server-only": tls(), "plain": None}.items():
        for what, principal in {"any": {}, "uri": {"principal_name": {"exact": "spiffe://test/ns/default/sa/client"}}, "empty": {"principal_name": {"exact": ""}}}.items():
            yield asked(f"identity-{name}-{what}", f"authenticated ({what}) where TLS is {name}", [chain(tls=context, filters=[known({"authenticated": principal})])],
                        *([None] if context is None else [shows(), *whoever(*CERTIFICATES)]))


def forgeries():
    """Names that are in certificates which nobody has vouched for."""
    forged = ["client-uri", "client-other", "client-self", "client-expired", "client-chain"]
    for name, context in {"mutual": mtls(), "not-required": mtls(require=False), "unset": tls(roots="server"), "server-only": tls(), "other-roots": mtls(roots="other-roots", require=False)}.items():
        for what, matcher in {"client": {"exact": "spiffe://test/ns/default/sa/client"}, "any": {"prefix": "spiffe://"}}.items():
            yield asked(f"forged-{name}-{what}", f"authenticated ({what}) by certificates that are not to be trusted, where TLS is {name}",
                        [chain(tls=context, filters=[known({"authenticated": {"principal_name": matcher}})])], shows(), *whoever(*forged))
        yield asked(f"forged-{name}-deny", f"a policy that denies everybody but one, where TLS is {name}",
                    [chain(tls=context, filters=[known({"not_id": {"authenticated": {"principal_name": {"exact": "spiffe://test/ns/default/sa/client"}}}}, "DENY")])], shows(), *whoever(*forged))


def rows():
    for part in (requests, names, identities, forgeries):
        yield from part()
