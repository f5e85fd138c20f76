#!/usr/bin/env python3
"""Fresh bootstraps from a seed, most of them with a fault: fresh_bootstraps.py SEED [COUNT] > rows. See README.md.

The rows of a seed are the same on every machine. Each begins with a good bootstrap that has nearly every key, and one to three things
are changed in it: a value at any place, a key, the text itself, or something that a client gives a meaning (credentials, providers,
authorities, templates, features). A row has `bootstrap`, or `bootstrap_b64` if the text is not UTF-8.
"""
import argparse
import base64
import json
import random

DEEP = (20, 120, 126, 127, 128, 200, 250, 253, 254, 255, 256, 300)
# Values as they stand in the text.
VALUES = ["null", "true", "false", "0", "1", "-1", "1.5", "1e400", "-0", "1E2", "123456789012345678901234567890", "1e-400", '""', '"x"',
          '"1s"', '"-1s"', '"0s"', '"1.5s"', '"5"', '"true"', "[]", "[null]", "[1]", '["x"]', "[{}]", "[[]]", "{}", '{"a":1}',
          '{"a":null}', '{"type":"insecure"}', '"tls"', '"insecure"', '"file_watcher"', '{"":""}']
NO_JSON = ["NaN", "Infinity", "-Infinity", "undefined", "TRUE", "False", "NULL", "nUll", "01", "1.", ".5", "+1", "0x1", "-", "-01", "1e", "1e+", "'x'",
           "x", "", "-.5", "1_000", "tru", '"\\x41"', "\"\\'\"", '"\\u12"', '"\\ud800"', '"\\udc00\\ud800"', '"\\ud83d\\ude00"', '"\\u0000"',
           '"a\nb"', '"a\tb"', '"a\x7fb"', '"\\\n"', '"\\/"', '"\\v"', '"\\U0041"', '"a" "b"', "[1,]", "[,1]", "[1 2]", '{"a":1,}', '{"a":}',
           '{"a"}', "{a:1}", '{"a" 1}', '{"a"=1}', "{,}", '{"a":1;"b":2}', "[1;2]", '{"a":1,"a":2}', '{"a":1,"\\u0061":null}']
KEYS = ["xds_servers", "server_uri", "channel_creds", "type", "config", "call_creds", "server_features", "node", "id", "cluster", "locality",
        "region", "zone", "sub_zone", "metadata", "certificate_providers", "plugin_name", "certificate_file", "private_key_file",
        "ca_certificate_file", "refresh_interval", "server_listener_resource_name_template", "authorities",
        "client_listener_resource_name_template", "client_default_listener_resource_name_template", "allowed_grpc_services"]
TYPES = ["insecure", "tls", "google_default", "fake", "unknown", "", "TLS", "Insecure", "xds", "alts", "jwt_token_file"]
URIS = ["127.0.0.1:1", "", "http://127.0.0.1:1", "https://127.0.0.1:1", "dns:///127.0.0.1:1", "unix:///x", "xds.example.com:443", "a b",
        "://x", "HTTPS://127.0.0.1:1", "x", "127.0.0.1", "[::1]:1", "/x", "ipv4:127.0.0.1:1", "https://", "127.0.0.1:99999", "é:1", "%"]


class Raw(str):
    """A value as it stands in the text."""


def write(value):
    """The text of a value; an object is a list of pairs in `Pairs`."""
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, Pairs):
        return "{" + ", ".join(f"{key if isinstance(key, Raw) else json.dumps(key)}: {write(inner)}" for key, inner in value) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(write, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


class Pairs(list):
    """An object: its pairs in order, so that a key may stand in it twice."""

    def get(self, name):
        return next((value for key, value in self if key == name), None)

    def put(self, name, value):
        self[:] = [(key, inner) for key, inner in self if key != name] + [(name, value)]


def pairs(value):
    if isinstance(value, dict):
        return Pairs((key, pairs(inner)) for key, inner in value.items())
    return [pairs(inner) for inner in value] if isinstance(value, list) else value


def server(**more):
    return {"server_uri": "127.0.0.1:1", "channel_creds": [{"type": "insecure"}], **more}


def base(chance):
    """A bootstrap that every client takes, with some of the keys that there are."""
    files = {"certificate_file": "/c/cert.pem", "private_key_file": "/c/key.pem", "ca_certificate_file": "/c/ca.pem", "refresh_interval": "600s"}
    document = {"xds_servers": [server()], "node": {"id": "n", "cluster": "c", "locality": {"region": "r", "zone": "z", "sub_zone": "s"},
                                                    "metadata": {"a": {"b": [1, "x", None, True]}}}}
    has = lambda percent: chance.randrange(100) < percent
    if has(60):
        document["xds_servers"][0]["server_features"] = chance.choice([["xds_v3"], ["ignore_resource_deletion"], [], ["trusted_xds_server", "x"]])
    if has(40):
        document["xds_servers"][0]["channel_creds"].insert(chance.randrange(2), chance.choice([
            {"type": "unknown", "config": {"a": 1}}, {"type": "google_default"}, {"type": "fake", "config": {}}]))
    if has(25):
        document["xds_servers"].append(server())
    if has(50):
        document["certificate_providers"] = {"id": {"plugin_name": "file_watcher", "config": files}}
    if has(50):
        document["authorities"] = {"a": {"client_listener_resource_name_template": "xdstp://a/envoy.config.listener.v3.Listener/%s",
                                         "xds_servers": [server()]}, "b": {}}
    if has(40):
        document["server_listener_resource_name_template"] = "grpc/server?address=%s"
    if has(40):
        document["client_default_listener_resource_name_template"] = "%s"
    if has(25):
        document["allowed_grpc_services"] = {"dns:///a:1": {"channel_creds": [{"type": "insecure"}]}}
    if has(25):
        document["xds_servers"][0]["call_creds"] = [{"type": "jwt_token_file", "config": {"jwt_token_file": "/c/jwt"}}]
    return pairs(document)


def places(value, found=None):
    """Each (container, index) below a value."""
    found = [] if found is None else found
    for index, inner in enumerate(value):
        found.append((value, index))
        inner = inner[1] if isinstance(value, Pairs) else inner
        if isinstance(inner, (Pairs, list)):
            places(inner, found)
    return found


def objects(value):
    """All objects of a value, itself first."""
    found = [value] if isinstance(value, Pairs) else []
    for inner in ([inner for _, inner in value] if isinstance(value, Pairs) else value if isinstance(value, list) else []):
        found += objects(inner)
    return found


def put(place, value):
    container, index = place
    container[index] = (container[index][0], value) if isinstance(container, Pairs) else value


def nested(chance):
    depth, inner = chance.choice(DEEP), chance.choice(["", "1", "null"])
    return Raw("[" * depth + inner + "]" * depth) if chance.randrange(2) else Raw('{"a":' * depth + (inner or "1") + "}" * depth)


def cased(chance, key):
    return chance.choice([key.upper(), key.title(), key.title().replace("_", ""), key[0] + key.title().replace("_", "")[1:], key + " ",
                          key.replace("s", "\u017f", 1), key.replace("_", ""), key[:-1], key + "s", key.replace("k", "\u212a", 1)])


# --- what is changed ---------------------------------------------------------------------------------------------------------------


def a_value(chance, document):
    put(chance.choice(places(document)), Raw(chance.choice(VALUES)))


def a_value_gone(chance, document):
    container, index = chance.choice(places(document))
    del container[index]


def a_key_cased(chance, document):
    container = chance.choice([found for found in objects(document) if found])
    index = chance.randrange(len(container))
    container[index] = (cased(chance, container[index][0]), container[index][1])


def a_key_cased_beside(chance, document):
    container = chance.choice(objects(document))
    key = chance.choice([key for key, _ in container] or KEYS)
    container.insert(chance.randrange(len(container) + 1), (cased(chance, key), Raw(chance.choice(VALUES))))


def a_key_twice(chance, document):
    container = chance.choice([found for found in objects(document) if found])
    key, value = chance.choice(container)
    value = value if chance.randrange(2) else Raw(chance.choice(VALUES))
    container.insert(chance.randrange(len(container) + 1), (key, value))


def a_key_more(chance, document):
    key = chance.choice(KEYS + ["x", "", "__proto__", "sub-zone", "spiffe_trust_bundle_map_file", "fallback_on_reachability_only",
                                "spiffe_bundle_map_file", "user_agent_name", "build_version", "userAgentName", "client_features"])
    chance.choice(objects(document)).append((key, Raw(chance.choice(VALUES))))


def no_json(chance, document):
    """What is no JSON or an odd one, as a value anywhere or below a key that nobody reads."""
    text = Raw(chance.choice(NO_JSON))
    if chance.randrange(2):
        put(chance.choice(places(document)), text)
    else:
        chance.choice(objects(document)).append((chance.choice(["x", "metadata", "config"]), text))


def deep(chance, document):
    where = chance.randrange(4)
    if where == 0:
        document.append(("x", nested(chance)))
    elif where == 1:
        document.get("node").get("metadata").append(("deep", nested(chance)))
    elif where == 2:
        document.get("xds_servers")[0].get("channel_creds").append(Pairs([("type", "x"), ("config", nested(chance))]))
    else:
        put(chance.choice(places(document)), nested(chance))


def metadata(chance, document):
    """Values that a Struct has to hold."""
    value = Raw(chance.choice(VALUES + NO_JSON)) if chance.randrange(3) else Raw('{"k":1,"k":"x"}')
    document.get("node").put("metadata", Pairs([("a", value)]) if chance.randrange(2) else Pairs([("a", [value, value])]))


def credentials(chance, document):
    files = {name: chance.choice(["/c/x.pem", "", "/d/x.pem", "x", None, 5, []])
             for name in ["certificate_file", "private_key_file", "ca_certificate_file", "spiffe_trust_bundle_map_file"] if chance.randrange(2)}
    if chance.randrange(2):
        files["refresh_interval"] = durations(chance)
    entries = []
    for _ in range(chance.randint(0, 3)):
        entry = Pairs([("type", chance.choice(TYPES[:3] if chance.randrange(2) else TYPES))])
        if chance.randrange(2):
            entry.append(("config", pairs(files) if chance.randrange(3) else Raw(chance.choice(VALUES))))
        if not chance.randrange(8):
            entry[0] = ("type", Raw(chance.choice(VALUES)))
        entries.append(entry)
    place = chance.choice([document.get("xds_servers")] * 3 + [(document.get("authorities") or Pairs()).get("a")])
    inside = place[0] if isinstance(place, list) and not isinstance(place, Pairs) else place
    inside = inside.get("xds_servers")[0] if isinstance(inside, Pairs) and inside.get("xds_servers") else inside
    (inside if isinstance(inside, Pairs) else document.get("xds_servers")[0]).put("channel_creds", entries)
    if chance.randrange(3) == 0:
        document.get("xds_servers")[0].put("server_uri", chance.choice(URIS))


def durations(chance):
    return chance.choice(["1s", "0s", "-1s", "1.5s", "1", "s", "1.0000000001s", "1.s", ".5s", " 1s", "1 s", "1m", "315576000001s", "+1s", "1e3s",
                          "0.000000001s", "01s", "1.5.5s", "-0s", "-0.5s", "1.123456789s", 5, None, {}, "315576000000.999s", "1s\n"])


def providers(chance, document):
    config = {name: chance.choice(["/c/x.pem", "/c/y.pem", "", "/d/x.pem", "x.pem", "./x.pem", None, 5])
              for name in ["certificate_file", "private_key_file", "ca_certificate_file", "spiffe_trust_bundle_map_file", "spiffe_bundle_map_file"]
              if chance.randrange(3)}
    if chance.randrange(4):
        config["refresh_interval"] = durations(chance)
    provider = {"plugin_name": chance.choice(["file_watcher"] * 5 + ["", "x", "File_Watcher", None, 5, "toString"])}
    if chance.randrange(6):
        provider["config"] = config if chance.randrange(5) else Raw(chance.choice(VALUES))
    if not chance.randrange(8):
        del provider["plugin_name"]
    document.put("certificate_providers", pairs({chance.choice(["id", "", "a.b"]): provider}))


def authorities(chance, document):
    name = chance.choice(["a", "", "a b", "a/b", "A", "é", "a%20b", "xds.example.com:80", "a?b"])
    prefix = chance.choice([f"xdstp://{name}/", f"xdstp://{name}", "xdstp://", "xdstp:///", "xdstp://a/", f"XDSTP://{name}/", "xdstp://a%20b/",
                            "xdstp://a%2Fb/", "xdstp://%C3%A9/"])
    authority = {"client_listener_resource_name_template": chance.choice([prefix + "envoy.config.listener.v3.Listener/%s", prefix, "", None, "%s"])}
    if chance.randrange(2):
        authority["xds_servers"] = chance.choice([[], None, [server()], [server(server_uri="")], [server(channel_creds=[])], [server(), {}], [None], {}])
    if not chance.randrange(4):
        authority = Raw(chance.choice(VALUES))
    document.put("authorities", pairs({name: authority, "z": {}}))


def servers(chance, document):
    good, bad = server(), chance.choice([{}, None, server(server_uri=""), server(channel_creds=[]), server(channel_creds=[{"type": "x"}]),
                                         server(server_features=[5]), server(server_features=None), server(server_features="x"),
                                         server(call_creds=None), server(call_creds=[{"type": "jwt_token_file"}]), server(call_creds=5),
                                         server(server_uri=chance.choice(URIS))])
    document.put("xds_servers", pairs(chance.choice([[bad], [good, bad], [bad, good], [], None, {}, [[]], good])))


def services(chance, document):
    creds = chance.choice([[{"type": "insecure"}], [], None, [{"type": "x"}], [{}], [{"type": "insecure", "config": 5}], {}, [{"type": "tls"}]])
    service = {"channel_creds": creds}
    if chance.randrange(2):
        service["call_creds"] = chance.choice([[], None, 5, [None], [{}], [{"type": "jwt_token_file"}], [{"type": "jwt_token_file", "config": {"jwt_token_file": 5}}],
                                               [{"type": "x", "config": 5}]])
    document.put("allowed_grpc_services", chance.choice([pairs({"dns:///a": service}), pairs({"": service}), pairs({"a": chance.choice([None, {}, 5, []])}),
                                                         Raw(chance.choice(VALUES))]))


CHANGES = [(a_value, 22), (a_value_gone, 8), (a_key_cased, 6), (a_key_cased_beside, 4), (a_key_twice, 6), (a_key_more, 6), (no_json, 8), (deep, 3),
           (metadata, 4), (credentials, 10), (providers, 9), (authorities, 6), (servers, 6), (services, 4)]


def whole(chance, text):
    """Something changed in the text as a whole."""
    at = chance.randrange(len(text))
    gap = text.find(" ", at)
    inside = lambda more: text if gap < 0 else text[:gap] + more + text[gap:]
    quote = text.find('"', at) + 1
    return chance.choice([
        lambda: "\ufeff" + text, lambda: text + chance.choice(["x", "{}", ",", "\x00", "//", "]", "}", "\ufeff", " \n\t\r", "\x0c"]),
        lambda: chance.choice(["//c\n", "/*c*/", "#c\n", " \r\n", "\x0b", "\u00a0", ")]}'\n"]) + text,
        lambda: inside(chance.choice(["//c\n", "/*c*/", "#c\n", "\x0c", "\u00a0", ",", "\x00", "\u2028"])),
        lambda: text[:at], lambda: text[:at] + text[at + 1:], lambda: text.replace('"', "'"), lambda: chance.choice(["", " ", "null", "[]", "5", '"x"', "{}", "true"]),
        lambda: f"[{text}]", lambda: text.replace("}", ",}", 1), lambda: text.replace("]", ",]", 1), lambda: text.encode("utf-16"),
        lambda: text[:quote].encode() + chance.choice([b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xc0\x80"]) + text[quote:].encode(),
    ])()


def row(seed, number):
    chance = random.Random(f"{seed}/{number}")
    document, names = base(chance), []
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        change, = chance.choices([change for change, _ in CHANGES], [weight for _, weight in CHANGES])
        try:
            change(chance, document)
            names.append(change.__name__)
        except (AttributeError, IndexError, TypeError):
            pass  # what it changes is gone
    text = write(document)
    if chance.randrange(100) < 8:
        text = whole(chance, text)
        names.append("whole")
    raw = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    found = {"id": f"{number}-{'-'.join(names)}"}
    try:
        found["bootstrap"] = raw.decode("utf-8")
    except UnicodeDecodeError:
        found["bootstrap_b64"] = base64.b64encode(raw).decode()
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seed")
    parser.add_argument("count", nargs="?", type=int, default=300)
    args = parser.parse_args()
    for number in range(args.count):
        print(json.dumps(row(args.seed, number), ensure_ascii=False))


if __name__ == "__main__":
    main()
