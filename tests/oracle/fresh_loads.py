"""A kind of fresh scenarios in which endpoints report their load (A58), and most RPCs go by it. See fresh.py.

`w` is a World: what is drawn, and the row in the making. Weights are taken over every two seconds, and the clock of a row keeps RPCs away
from these moments: a client is as slow as its machine.
"""
from fresh_mixed import eds
from names import endpoint, policy

PICKING = "client_side_weighted_round_robin.v3.ClientSideWeightedRoundRobin"
PERIOD = 2
TURN = 4  # seconds


def spelled(w):
    config = {"blackout_period": w.one("0s", "0.001s", "0.001s", "0.001s", "3s"), "weight_update_period": f"{PERIOD}s",
              **w.one({}, {}, {"error_utilization_penalty": w.one(0.5, 1.0, 3.0)}), **w.one({}, {}, {"weight_expiration_period": "1.5s"}),
              **({"enable_oob_load_report": True, "oob_reporting_period": w.one("0.1s", "1s")} if w.is_apart else {})}
    picking = policy(PICKING, **config)
    return w.one(picking, picking, policy("wrr_locality.v3.WrrLocality", endpoint_picking_policy=picking))


def report(w):
    return {"rps_fractional": w.one(10, 50, 100, 100, 1000, 0.5), **w.one(
        {"application_utilization": w.one(0.1, 0.5, 0.9, 1.5)}, {"cpu_utilization": w.one(0.05, 0.5, 1.2)},
        {"cpu_utilization": 0.8, "application_utilization": w.one(0.2, 0.4)}), **w.one({}, {}, {"eps": w.one(1, 10, 50)})}


def reports(w):
    return {address: w.one(report(w), report(w), report(w), report(w), {}) for address in w.taken}


def assignment(w, addresses):
    addresses = list(addresses)
    w.chance.shuffle(addresses)
    cut = w.one(0, 0, w.between(0, len(addresses) - 1))
    groups = [group for group in (addresses[:cut], addresses[cut:]) if group]
    weighted = lambda address: endpoint(address, **w.one({}, {}, {"load_balancing_weight": w.between(1, 3)}))
    return w.endpoints("c", [w.locality([weighted(a) for a in group], f"r{i}", 0, w.between(1, 3)) for i, group in enumerate(groups)])


def all_loads(w):
    """A cluster whose endpoints, reports and config change, with a few RPCs after a change, and many when that has had its effect."""
    w.is_apart = w.percent(20)
    w.extra["env"] = {"GRPC_EXPERIMENTAL_XDS_WRR_LB": "true"}  # in grpc-js
    for _ in range(w.between(2, 5)):
        w.address()
    w.extra["orca"] = reports(w)
    if w.is_apart:
        w.extra["out_of_band"] = {address: 0.1 for address in w.taken if w.percent(85)}
    w.put(eds("c", load_balancing_policy=spelled(w)))
    w.put(assignment(w, w.taken))
    w.route()
    w.pick(2)
    w.step(at=TURN)
    w.step(update=[assignment(w, w.taken)])
    turns = w.between(3, 4)
    for turn in range(1, turns + 1):
        w.step(at=turn * TURN + 1)
        w.pick(w.between(2, 4) * len(w.taken))
        w.step(at=turn * TURN + 3)
        w.pick(w.between(16, 40))
        if turn == turns:
            return
        w.step(at=(turn + 1) * TURN)
        what = w.one("orca", "orca", "endpoints", "fewer", "policy", "none")
        if what == "orca":
            w.step(orca=reports(w))
        elif what == "endpoints":
            w.step(update=[assignment(w, w.taken)])
        elif what == "fewer":
            w.step(update=[assignment(w, w.chance.sample(w.taken, w.between(1, len(w.taken))))])
        elif what == "policy":
            w.step(update=[eds("c", load_balancing_policy=spelled(w))])


KINDS = [all_loads]
