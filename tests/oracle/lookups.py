"""A lookup service (RLS) that answers as it is told, and notes what it is asked.

Of its answers, `{"keys", "targets", "header_data", "status", "message", "delay"}`, the first counts whose `keys` are all in a lookup.
Without one the lookup fails with NOT_FOUND.
"""
import concurrent.futures
import time

asked = []  # {"keys", "reason", "stale_header_data"} of every lookup
answers = []
REASONS = {1: "MISS", 2: "STALE"}
PATH = "/grpc.lookup.v1.RouteLookupService/RouteLookup"


def _messages():
    """Request and response of grpc.lookup.v1, whose wire shape alone matters here."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    file = descriptor_pb2.FileDescriptorProto(name="grpc/lookup/v1/rls.proto", package="grpc.lookup.v1", syntax="proto3")
    request, response = file.message_type.add(name="RouteLookupRequest"), file.message_type.add(name="RouteLookupResponse")
    entry = request.nested_type.add(name="KeyMapEntry")
    entry.options.map_entry = True
    for owner, name, number, kind, label in (
            (entry, "key", 1, 9, 1), (entry, "value", 2, 9, 1), (request, "target_type", 3, 9, 1), (request, "reason", 5, 5, 1),
            (request, "stale_header_data", 6, 9, 1), (response, "targets", 3, 9, 3), (response, "header_data", 2, 9, 1)):
        owner.field.add(name=name, number=number, type=kind, label=label)
    request.field.add(name="key_map", number=4, type=11, label=3, type_name=".grpc.lookup.v1.RouteLookupRequest.KeyMapEntry")
    pool = descriptor_pool.Default()
    pool.Add(file)
    of = lambda name: message_factory.GetMessageClass(pool.FindMessageTypeByName("grpc.lookup.v1." + name))
    return of("RouteLookupRequest"), of("RouteLookupResponse")


MESSAGES = []  # made once


def start(address, mark=lambda event, **what: None):
    import grpc
    if not MESSAGES:
        MESSAGES.extend(_messages())
    request_type, response_type = MESSAGES

    def look_up(data, context):
        request = request_type.FromString(data)
        lookup = {"keys": dict(sorted(request.key_map.items())), "reason": REASONS.get(request.reason, str(request.reason)),
                  "stale_header_data": request.stale_header_data}
        asked.append(lookup)
        mark("lookup", **lookup)
        for answer in answers:
            if all(lookup["keys"].get(key) == value for key, value in answer.get("keys", {}).items()):
                time.sleep(answer.get("delay", 0))
                if "status" in answer:
                    context.abort(getattr(grpc.StatusCode, answer["status"]), answer.get("message", "scripted"))
                targets, header_data = answer.get("targets", []), answer.get("header_data", "")
                return response_type(targets=targets, header_data=header_data).SerializeToString()
        context.abort(grpc.StatusCode.NOT_FOUND, "scripted")

    class Lookup(grpc.GenericRpcHandler):
        def service(self, details):
            return grpc.unary_unary_rpc_method_handler(look_up) if details.method == PATH else None

    server = grpc.server(concurrent.futures.ThreadPoolExecutor(16), options=[("grpc.so_reuseport", 0)])
    server.add_generic_rpc_handlers((Lookup(),))
    server.add_insecure_port(address)
    server.start()
    return server
