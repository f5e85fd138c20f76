"""Servers that answer with their own address, as the request's headers script them."""
import concurrent.futures
import time

hits = []  # the address of every attempt that reached a server
orca = {}  # address -> fields of an OrcaLoadReport, sent with every answer


def _answer(address, context):
    wanted = {k: v for k, v in context.invocation_metadata() if isinstance(v, str)}
    hits.append(address)
    trailers = []
    if "x-pushback" in wanted:
        trailers.append(("grpc-retry-pushback-ms", wanted["x-pushback"]))
    if address in orca:
        from xds.data.orca.v3 import orca_load_report_pb2 as reports
        trailers.append(("endpoint-load-metrics-bin", reports.OrcaLoadReport(**orca[address]).SerializeToString()))
    context.set_trailing_metadata(trailers)
    if "x-hold" in wanted:
        time.sleep(float(wanted["x-hold"]))
    for how in ("x-fail", "x-fail-late"):
        if how in wanted:
            import grpc
            code, _, times = wanted[how].partition(":")
            if int(wanted.get("grpc-previous-rpc-attempts", "0")) < int(times or 1):
                if how == "x-fail-late":
                    context.send_initial_metadata([("x-early", "1")])
                    time.sleep(0.05)
                context.abort(getattr(grpc.StatusCode, code), "scripted")
    return address.encode()


def start(address):
    import grpc

    class AnyMethod(grpc.GenericRpcHandler):
        def service(self, details):
            return grpc.unary_unary_rpc_method_handler(lambda request, context: _answer(address, context))

    server = grpc.server(concurrent.futures.ThreadPoolExecutor(32), options=[("grpc.so_reuseport", 0)])
    server.add_generic_rpc_handlers((AnyMethod(),))
    server.add_insecure_port(address)
    server.start()
    return server
