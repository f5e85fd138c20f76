"""Control planes on a bad day, on the C-core server of grpcio: each says its port and then does what its name says."""
import concurrent.futures
import functools
import itertools
import socket
import struct
import threading
import time

import grpc
from control_plane import CDS, EDS, LDS, TYPE, pack
from envoy.service.discovery.v3 import discovery_pb2
from envoy.service.status.v3 import csds_pb2
from resources import ADS

METHODS = {
    "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources": grpc.stream_stream_rpc_method_handler,
    "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources": grpc.stream_stream_rpc_method_handler,
    "/envoy.service.status.v3.ClientStatusDiscoveryService/FetchClientStatus": grpc.unary_unary_rpc_method_handler,
}


def response(type_url, resources, version="1", nonce="1"):
    return discovery_pb2.DiscoveryResponse(type_url=type_url, resources=resources, version_info=version, nonce=nonce)


def cluster(name, **fields):
    return pack({"@type": CDS, "name": name, "type": "EDS", "eds_cluster_config": {"eds_config": ADS}, **fields})


def once(type_url, message):
    """Answers the first request of a type with these bytes, and nothing else."""
    def stream(requests, context):
        for request in requests:
            if discovery_pb2.DiscoveryRequest.FromString(request).type_url == type_url:
                yield message
                break
        time.sleep(3600)
    return stream


def slow(requests, context):
    next(requests)
    yield response(LDS, []).SerializeToString()
    time.sleep(3600)


def flood(requests, context):
    next(requests)
    for version in itertools.count(1):
        time.sleep(0.001)
        yield response(LDS, [], str(version), str(version)).SerializeToString()


def loop(requests, context):
    """Sends again what was rejected, at once, of two types."""
    bad = {LDS: pack({"@type": LDS, "name": "bad"}), CDS: cluster("bad", lb_policy="MAGLEV")}
    nonce = 0
    for request in requests:
        request = discovery_pb2.DiscoveryRequest.FromString(request)
        nonce += 1
        if request.type_url in bad and (not request.response_nonce or request.HasField("error_detail")):
            yield response(request.type_url, [bad[request.type_url]], "1", str(nonce)).SerializeToString()


def many(requests, context):
    """10,000 clusters, and endpoints for all that are asked for."""
    for request in requests:
        request = discovery_pb2.DiscoveryRequest.FromString(request)
        if request.response_nonce and request.type_url != EDS:
            continue
        if request.type_url == LDS:
            yield response(LDS, []).SerializeToString()
        elif request.type_url == CDS:
            yield response(CDS, [cluster(f"cluster-{i}") for i in range(10_000)]).SerializeToString()
        elif request.type_url == EDS and not request.response_nonce:
            yield response(EDS, [pack({"@type": EDS, "cluster_name": name}) for name in request.resource_names]).SerializeToString()


# A hundred thousand bytes in each of a thousand resources; the field is one that gRPC does not read.
COUNT, SIZE = 1000, 100_000


def large(number):
    return cluster(f"cluster-{number}", alt_stat_name=f"{number:08}" * (SIZE // 8), eds_cluster_config={"eds_config": ADS, "service_name": "e"})


def big(requests, context, is_delta):
    """100 MB in one message."""
    form = discovery_pb2.DeltaDiscoveryRequest if is_delta else discovery_pb2.DiscoveryRequest
    for request in requests:
        request = form.FromString(request)
        type_url = request.type_url
        if request.response_nonce:
            continue
        found = {LDS: lambda: [], CDS: clusters, EDS: lambda: [pack({"@type": EDS, "cluster_name": "e"})]}[type_url]()
        if is_delta:
            wrapped = [discovery_pb2.Resource(name=f"cluster-{i}" if type_url == CDS else "e", version="1", resource=r) for i, r in enumerate(found)]
            yield discovery_pb2.DeltaDiscoveryResponse(type_url=type_url, resources=wrapped, nonce="1", system_version_info="1").SerializeToString()
        else:
            yield response(type_url, found).SerializeToString()


@functools.cache
def clusters():
    return [large(number) for number in range(COUNT)]


def pieces(requests, context):
    """100 MB in ten messages: of endpoints a response has those that it likes."""
    for request in requests:
        request = discovery_pb2.DiscoveryRequest.FromString(request)
        if request.response_nonce:
            continue
        if request.type_url == LDS:
            yield response(LDS, []).SerializeToString()
        elif request.type_url == CDS:
            yield response(CDS, [cluster(f"e{i}") for i in range(COUNT)]).SerializeToString()
        elif request.type_url == EDS:
            for start in range(0, COUNT, COUNT // 10):
                named = [{"@type": EDS, "cluster_name": f"e{i}", "named_endpoints": {"x" * SIZE: {}}} for i in range(start, start + COUNT // 10)]
                yield response(EDS, [pack(one) for one in named], nonce=str(start)).SerializeToString()


def drip(connection):
    """The beginning of an answer, and then of it a byte at a time."""
    asks_admin = connection.recv(4096).startswith(b"GET")
    connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n" if asks_admin else b"\0\0\0\4\0\0\0\0\0")
    # Settings without any, one after the other.
    for byte in itertools.cycle(b"\0\0\0\4\0\0\0\0\0"):
        time.sleep(0.02)
        try:
            connection.sendall(b" " if asks_admin else bytes([byte]))
        except OSError:
            return


HALF = response(CDS, [cluster("a")]).SerializeToString()[:-5]
SECRET = TYPE + "envoy.extensions.transport_sockets.tls.v3.Secret"
STREAMS = {
    "slow": slow,
    "half": once(LDS, HALF),
    "bytes": once(LDS, bytes(range(256)) * 4),
    "other": once(LDS, response(SECRET, []).SerializeToString()),
    "flood": flood,
    "loop": loop,
    "many": many,
    "big": big,
    "pieces": pieces,
}


def status(request, context):
    """The client status of a process that sends nonsense."""
    return b"\xff" * 100


def big_status(request, context):
    """The client status of a process that holds 100 MB."""
    held = [csds_pb2.ClientConfig.GenericXdsConfig(type_url=CDS, name=f"cluster-{i}", client_status="ACKED", xds_config=one) for i, one in enumerate(clusters())]
    return csds_pb2.ClientStatusResponse(config=[csds_pb2.ClientConfig(generic_xds_configs=held)]).SerializeToString()


class Service(grpc.GenericRpcHandler):
    def __init__(self, stream):
        self.stream = stream

    def service(self, details):
        if details.method not in METHODS:
            return None
        make = METHODS[details.method]
        if make is grpc.unary_unary_rpc_method_handler:
            return make(big_status if self.stream is big else status)
        is_delta = "Delta" in details.method
        return make(functools.partial(big, is_delta=is_delta) if self.stream is big else self.stream)


def listen(talk):
    """A socket that is no server: `talk` has each connection."""
    listener = socket.create_server(("127.0.0.1", 0))

    def accept():
        while True:
            threading.Thread(target=talk, args=(listener.accept()[0],), daemon=True).start()
    threading.Thread(target=accept, daemon=True).start()
    return listener.getsockname()[1]


def reset_through(port):
    """Leads to a server, and breaks off with an RST after some bytes."""
    def talk(near):
        far = socket.create_connection(("127.0.0.1", port))

        def pump(source, sink, most):
            count = 0
            try:
                while count < most and (data := source.recv(4096)):
                    sink.sendall(data)
                    count += len(data)
            except OSError:
                pass
            near.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            near.shutdown(socket.SHUT_RD)  # wakes the thread of the other direction, which keeps the socket open
            near.close()
        threading.Thread(target=pump, args=(near, far, 1 << 30), daemon=True).start()
        pump(far, near, 20_000)
    return listen(talk)


def serve(what, say):
    if what == "silent":
        say(port=listen(lambda connection: time.sleep(3600)))
        return
    if what == "drip":
        say(port=listen(drip))
        return
    if what == "text":
        say(port=listen(lambda connection: (connection.sendall(b"220 hello\r\n"), connection.close())))
        return
    stream = STREAMS["many" if what == "reset" else what]
    if what == "big":
        big_status(None, None)  # made before anybody waits for it
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(8))
    server.add_generic_rpc_handlers((Service(stream),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    serve.keep = server
    say(port=reset_through(port) if what == "reset" else port)
