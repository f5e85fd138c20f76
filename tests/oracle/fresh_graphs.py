"""Kinds of fresh scenarios in which aggregate clusters name each other, and several routes name them. See fresh.py.

`w` is a World: what is drawn, and the row in the making.
"""
from fresh_mixed import aggregate, begin, change, eds, start, stop
from names import CDS, EDS

LIMIT = 16


def members(w, names, most):
    """Some of these names, each once."""
    return w.chance.sample(names, min(len(names), w.between(1, most)))


def graph(w):
    """Chains about as deep as clients allow, shared clusters, ways back."""
    leaves = [f"l{number}" for number in range(w.between(2, 4))]
    missing = []
    for name in leaves:
        fate = w.one("fine", "fine", "fine", "dead", "missing", "empty")
        if fate == "missing":
            missing.append(name)
        else:
            w.cluster(name, {"fine": w.locals(1), "dead": [w.locality([w.address(is_dead=True)])], "empty": []}[fate])
    depth = w.between(LIMIT - 3, LIMIT + 3)
    chain = [f"h{number:02}" for number in range(depth)]
    others = [f"{w.one('a', 'm', 'z')}{number}" for number in range(w.between(1, 4))]
    made = {}
    for name, below in zip(chain, [*chain[1:], w.one(*leaves)]):
        beside = [w.one(*leaves)] if w.percent(20) else []
        made[name] = w.one([below, *beside], [*beside, below])
    for number, name in enumerate(others):
        # Names that come later lead to no way back.
        below = others if w.percent(15) else others[number + 1:]
        made[name] = members(w, [*leaves, *chain[w.between(0, 6):], *below], 3)
    if w.percent(15):
        made[w.one(*chain)].append(w.one(*chain))
    for name, below in made.items():
        w.put(aggregate(name, list(dict.fromkeys(below))))
    roots = members(w, [*chain[:6], *others, *w.one([], leaves)], 5)
    for number, root in enumerate(roots):
        w.route({"cluster": root}, {"path": f"/r{number}/x"})
    asked = lambda timeout: [w.pick(2, method=f"/r{number}/x", timeout=timeout) for number in range(len(roots))]
    asked(18 if missing else 4)
    for _ in range(w.between(1, 2)):
        name = w.one(*made)
        made[name] = members(w, [*leaves, *chain, *others], 2)
        change(w, aggregate(name, made[name]))
        asked(4)


def nested(w):
    """A few aggregates that share leaves, and endpoints that come and go."""
    leaves = [f"l{number}" for number in range(w.between(2, 4))]
    for name in leaves:
        fields = w.one({}, {}, {"lb_policy": "RING_HASH"}, {"lb_policy": "LEAST_REQUEST"})
        w.put(eds(name, **fields))
        addresses = [w.address(is_dead=w.percent(15)) for _ in range(w.between(1, 2))]
        w.put(w.endpoints(name, [w.locality(addresses)] if w.percent(90) else []))
    names = [f"{w.one('a', 'm', 'z')}{number}" for number in range(w.between(2, 4))]
    made = {name: members(w, [*leaves, *names[number + 1:]], 3) for number, name in enumerate(names)}
    for name, below in made.items():
        w.put(aggregate(name, below, **w.one({}, {}, {"lb_policy": "RING_HASH"})))
    roots = members(w, [*names, *w.one([], leaves)], 4)
    for number, root in enumerate(roots):
        action = {"cluster": root}
        if w.percent(25):
            both = [{"name": root, "weight": w.between(0, 3)}, {"name": w.one(*names, *leaves), "weight": w.between(1, 3)}]
            action = {"weighted_clusters": {"clusters": both}}
        w.route(action, {"path": f"/r{number}/x"})

    def ask():
        for number in range(len(roots)):
            w.pick(2, [("x-user", f"u{w.between(0, 3)}")], method=f"/r{number}/x", timeout=6)

    ask()
    stopped = []
    for _ in range(w.between(3, 5)):
        what = w.one("stop", "stop", "start", "members", "members", "leaf", "remove", "rpcs")
        if what == "stop":
            stop(w, stopped)
        elif what == "start":
            start(w, stopped)
        elif what == "members":
            name = w.one(*made)
            made[name] = members(w, [*leaves, *[other for other in names if other > name]], 3)
            change(w, aggregate(name, made[name]))
        elif what == "leaf":
            change(w, w.endpoints(w.one(*leaves), [w.locality([w.address()])] if w.percent(80) else []))
        elif what == "remove":
            w.step(remove=[w.one([CDS, w.one(*leaves)], [EDS, w.one(*leaves)])])
            w.step(sleep=0.7)
        elif w.percent(50):
            begin(w)
            w.step(finish="b")
        ask()


KINDS = [graph, nested]
