"""Turns a client's log into a timeline: what its policies did, and when, as a short ordered list of events.

The words of gRPC C-core 1.85.1 stand here and nowhere else. What each event means is in README.md.
"""
import json
import re

TRACE = ("xds_override_host_lb,priority_lb,ring_hash_lb,weighted_target_lb,xds_cluster_impl_lb,outlier_detection_lb,"
         "pick_first,round_robin,cds_lb,xds_resolver,xds_wrr_locality_lb,weighted_round_robin_lb,rls_lb,retry")
MARK = "@timeline "


P = r"0x[0-9a-f]+"
CHILD = r"child (?P<child>.+?) \((?P<id>" + P + r")\): "
# policy, pattern, event, value of "what" (a function of the match), in the order in which they are tried
RULES = [
    ("cds", r"\[cdslb (?P<p>" + P + r")\] received update: cluster=(?P<cluster>.*) is_dynamic=(?P<dyn>\w+)", "update", ("cluster",)),
    ("cds", r"\[cdslb (?P<p>" + P + r")\] reporting TRANSIENT_FAILURE: (?P<status>.*)", "fail", ("status",)),
    ("cds", r"\[cdslb (?P<p>" + P + r")\] destroying", "destroyed", ()),
    ("priority", r"\[priority_lb (?P<p>" + P + r")\] creating child (?P<child>.+) \((?P<id>" + P + r")\)", "child_created", ("child",)),
    ("priority", r"\[priority_lb (?P<p>" + P + r")\] " + CHILD + r"starting failover timer for (?P<ms>\d+)ms", "failover_timer_start", ("child", "ms")),
    ("priority", r"\[priority_lb (?P<p>" + P + r")\] " + CHILD + r"cancelling failover timer", "failover_timer_cancel", ("child",)),
    ("priority", r"\[priority_lb (?P<p>" + P + r")\] " + CHILD + r"failover timer fired", "failover_timer_fired", ("child",)),
    ("priority", r"\[priority_lb (?P<p>" + P + r")\] " + CHILD + r"deactivating -- will remove in (?P<ms>\d+)ms", "deactivate", ("child", "ms")),
    ("priority", r"\[priority_lb (?P<p>" + P + r")\] " + CHILD + r"reactivating", "reactivate", ("child",)),
    ("priority", r"\[priority_lb (?P<p>" + P + r")\] " + CHILD + r"deactivation timer fired", "deactivation_timer_fired", ("child",)),
    ("priority", r"\[priority_lb (?P<p>" + P + r")\] " + CHILD + r"orphaned", "child_destroyed", ("child",)),
    ("priority", r"\[priority_lb (?P<p>" + P + r")\] " + CHILD + r"state update: (?P<state>\w+) \(", "child_state", ("child", "state")),
    ("priority", r"\[priority_lb (?P<p>" + P + r")\] selecting priority (?P<priority>\d+), child (?P<child>.+?) \((?P<why>.*), deactivate_lower_priorities=(?P<deactivate_lower>\w+)\)", "select", ("priority", "child", "why", "deactivate_lower")),
    ("override_host", r"\[xds_override_host_lb (?P<p>" + P + r")\] override host status set: (?P<statuses>.*?) connection idle timeout: (?P<idle_timeout>\S+)", "config", ("statuses", "idle_timeout")),
    ("override_host", r"\[xds_override_host_lb (?P<p>" + P + r")\] endpoint addrs=\[(?P<address>.*?)\].*: draining but not in override_host_status set", "draining_ignored", ("address",)),
    ("override_host", r"\[xds_override_host_lb (?P<p>" + P + r")\] adding map key (?P<address>.*)", "entry_added", ("address",)),
    ("override_host", r"\[xds_override_host_lb (?P<p>" + P + r")\] removing map key (?P<address>.*)", "entry_removed", ("address",)),
    ("override_host", r"\[xds_override_host_lb (?P<p>" + P + r")\] map key (?P<address>\S+): setting eds_health_status=(?P<health>\w+) address_list=(?P<list>\S+)", "entry_set", ("address", "health", "list")),
    ("override_host", r"\[xds_override_host_lb (?P<p>" + P + r")\] idle timer " + P + r": subchannel cleanup pass will run in (?P<duration>\S+)", "idle_timer_start", ("duration",)),
    ("override_host", r"\[xds_override_host_lb (?P<p>" + P + r")\] idle timer " + P + r": cancelling", "idle_timer_cancel", ()),
    ("override_host", r"\[xds_override_host_lb (?P<p>" + P + r")\] idle timer " + P + r": timer fired", "sweep", ()),
    ("override_host", r"\[xds_override_host_lb (?P<p>" + P + r")\] dropping subchannel for (?P<address>.*)", "owned_dropped", ("address",)),
    ("override_host", r"\[xds_override_host_lb (?P<p>" + P + r")\] creating owned subchannel for (?P<address>.*)", "owned_created", ("address",)),
    ("override_host", r"\[xds_override_host_lb " + P + r"\] creating subchannel for (?P<address>[^,]*), ", "subchannel_created", ("address",)),
    ("override_host", r"\[xds_override_host_lb\] subchannel wrapper (?P<sub>" + P + r"): cloning to gain ownership", "became_owned", ("sub",)),
    ("override_host", r"\[xds_override_host_lb\] removing unowned subchannel wrapper (?P<sub>" + P + r")", "released", ("sub",)),
    ("override_host", r"\[xds_override_host_lb (?P<p>" + P + r")\] subchannel wrapper (?P<sub>" + P + r") orphaned", "wrapper_orphaned", ("sub",)),
    ("override_host", r"Picker override found READY subchannel (?P<address>.*)", "pick_ready", ("address",)),
    ("override_host", r"Subchannel (?P<address>\S+) health status is not overridden \((?P<health>\w+)\)", "pick_bad_health", ("address", "health")),
    ("override_host", r"No subchannel for (?P<address>.*)", "pick_no_subchannel", ("address",)),
    ("override_host", r"Picker override found IDLE subchannel", "pick_idle", ()),
    ("override_host", r"Picker override found CONNECTING subchannel", "pick_connecting", ()),
    ("override_host", r"Picker override found entry with no subchannel", "pick_creates", ()),
    ("cluster_impl", r"\[xds_cluster_impl_lb (?P<p>" + P + r")\] updating connectivity(?P<all> \(drop all\))?: state=(?P<state>\w+)", "state", ("state",)),
    ("outlier_detection", r"\[outlier_detection_lb (?P<p>" + P + r")\] ejection timer running", "tick", ()),
    ("outlier_detection", r"\[outlier_detection_lb (?P<p>" + P + r")\] ejection timer will run in (?P<in>.*)", "timer_start", ("in",)),
    ("outlier_detection", r"\[outlier_detection_lb (?P<p>" + P + r")\] checking candidate (?P<host>" + P + r"): success_rate=(?P<rate>\S+)", "candidate", ("host", "rate")),
    ("outlier_detection", r"\[outlier_detection_lb (?P<p>" + P + r")\] ejecting candidate", "eject", ()),
    ("outlier_detection", r"\[outlier_detection_lb (?P<p>" + P + r")\] unejected endpoint \{?(?P<address>[^ }]*)\}? \((?P<host>" + P + r")\)", "uneject", ("address",)),
    ("outlier_detection", r"\[outlier_detection_lb (?P<p>" + P + r")\] stdev=(?P<stdev>\S+), ejection_threshold=(?P<threshold>\S+)", "success_rate", ("stdev", "threshold")),
    ("weighted_target", r"\[weighted_target_lb (?P<p>" + P + r")\] WeightedChild " + P + r" (?P<child>\{.*?\}): weight=(?P<weight>\d+)", "child_weight", ("child", "weight")),
    ("weighted_target", r"\[weighted_target_lb (?P<p>" + P + r")\] WeightedChild " + P + r" (?P<child>\{.*?\}): connectivity state update: state=(?P<state>\w+)", "child_state", ("child", "state")),
    ("weighted_target", r"\[weighted_target_lb (?P<p>" + P + r")\] WeightedChild " + P + r" (?P<child>\{.*?\}): deactivating", "deactivate", ("child",)),
    ("weighted_target", r"\[weighted_target_lb (?P<p>" + P + r")\] WeightedChild " + P + r" (?P<child>\{.*?\}): reactivating", "reactivate", ("child",)),
    ("weighted_target", r"\[weighted_target_lb (?P<p>" + P + r")\] connectivity changed to (?P<state>\w+)", "state", ("state",)),
    ("ring_hash", r"\[RH (?P<p>" + P + r")\] endpoint " + P + r" \(index (?P<index>\d+) of (?P<size>\d+), addrs=\[(?P<address>.*?)\].*created child policy", "endpoint_created", ("address", "index")),
    ("ring_hash", r"\[RH (?P<p>" + P + r")\] connectivity changed for endpoint " + P + r" \(\{?(?:addrs=\[)?(?P<address>[^\]} ]+).*?prev_state=(?P<from>\w+) new_state=(?P<state>\w+)", "endpoint_state", ("address", "from", "state")),
    ("ring_hash", r"\[RH (?P<p>" + P + r")\] setting connectivity state to (?P<state>\w+) \(num_idle=(?P<idle>\d+), num_connecting=(?P<connecting>\d+), num_ready=(?P<ready>\d+), num_transient_failure=(?P<tf>\d+)", "state", ("state", "idle", "connecting", "ready", "tf")),
    ("ring_hash", r"\[RH (?P<p>" + P + r")\] triggering internal connection attempt for endpoint " + P + r" \((?P<at>.*)\) \(index (?P<index>\d+) of", "connects", ("index",)),
    ("round_robin", r"\[RR (?P<p>" + P + r")\] connectivity changed for child " + P + r", endpoint_list (?P<list>" + P + r") \(index (?P<index>\d+) of (?P<size>\d+)\): prev_state=(?P<from>\S+) new_state=(?P<state>\w+)", "endpoint_state", ("list", "index", "from", "state")),
    ("round_robin", r"\[RR (?P<p>" + P + r")\] swapping out child list (?P<old>" + P + r") \(.*?\) in favor of (?P<list>" + P + r")", "swap", ("old", "list")),
    ("round_robin", r"\[RR (?P<p>" + P + r")\] reporting (?P<state>\w+) with child list (?P<list>" + P + r")", "state", ("state", "list")),
    ("round_robin", r"\[RR (?P<p>" + P + r")\] child " + P + r" reported IDLE; requesting connection", "reconnect", ()),
    ("weighted_round_robin", r"\[WRR (?P<p>" + P + r")\] subchannel .*?(?P<address>\d[\d.:]+).*setting weight=(?P<weight>\S+)", "weight", ("address", "weight")),
    ("weighted_round_robin", r"\[WRR (?P<p>" + P + r") picker " + P + r"\] new weights: (?P<weights>.*)", "weights", ("weights",)),
    ("weighted_round_robin", r"\[WRR (?P<p>" + P + r") picker " + P + r"\] no scheduler, falling back to RR", "fallback", ()),
    ("weighted_round_robin", r"\[WRR (?P<p>" + P + r")\] reporting (?P<state>\w+) with", "state", ("state",)),
    ("pick_first", r"\[PF (?P<p>" + P + r")\] subchannel list " + P + r" index \d+: Created subchannel (?P<sub>" + P + r") for address addrs=\[(?P<address>[^\]]*)\]", "created", ("address", "sub")),
    ("pick_first", r"\[PF (?P<p>" + P + r")\] subchannel state " + P + r" \(subchannel (?P<sub>" + P + r")\): connectivity changed: new_state=(?P<state>\w+)", "subchannel_state", ("sub", "state")),
    ("pick_first", r"Pick First (?P<p>" + P + r") selected subchannel (?P<sub>" + P + r")", "selected", ("sub",)),
    ("pick_first", r"Pick First (?P<p>" + P + r") unselected subchannel (?P<sub>" + P + r")", "unselected", ("sub",)),
    ("retry", r"calld=(?P<p>" + P + r"): retrying failed call in (?P<ms>\d+) ms", "retry_in", ("ms",)),
    ("retry", r"calld=(?P<p>" + P + r") attempt=" + P + r": status (?P<code>\w+) not configured as retryable", "not_retryable", ("code",)),
    ("retry", r"calld=(?P<p>" + P + r") attempt=" + P + r": retries already committed", "committed", ()),
    ("retry", r"calld=(?P<p>" + P + r") attempt=" + P + r": exceeded (?P<attempts>\d+) retry attempts", "exhausted", ("attempts",)),
    ("retry", r"calld=(?P<p>" + P + r") attempt=" + P + r": not retrying due to server push-back", "pushback_stops", ()),
    ("rls", r"\[rlslb (?P<p>" + P + r")\] rls_request=" + P + r": RLS request created for key \{(?P<keys>.*)\}", "request", ("keys",)),
    ("rls", r"\[rlslb (?P<p>" + P + r")\] rls_request=" + P + r" \{(?P<keys>.*)\}: response info: \{(?P<response>.*)\}", "response", ("keys", "response")),
    ("rls", r"\[rlslb (?P<p>" + P + r")\] key=\{(?P<keys>.*)\}: cache entry added", "entry_added", ("keys",)),
    ("rls", r"\[rlslb (?P<p>" + P + r")\] cache entry=" + P + r" \{(?P<keys>.*)\}: cache entry evicted", "entry_evicted", ("keys",)),
    ("rls", r"\[rlslb (?P<p>" + P + r")\] cache entry=" + P + r" (?:\(shut down\)|\{(?P<keys>.*)\}).*backoff timer fired", "backoff_over", ("keys",)),
    ("rls", r"\[rlslb (?P<p>" + P + r")\] cache cleanup timer fired", "cleanup", ()),
    ("rls", r"\[rlslb (?P<p>" + P + r")\] picker=" + P + r": using cache entry", "pick_cached", ()),
    ("rls", r"\[rlslb (?P<p>" + P + r")\] picker=" + P + r": RLS request pending; queuing pick", "pick_pending", ()),
    ("rls", r"\[rlslb (?P<p>" + P + r")\] picker=" + P + r": (?P<why>.*); using default target", "pick_default", ("why",)),
    ("rls", r"\[rlslb (?P<p>" + P + r")\] picker=" + P + r": (?P<why>.*); failing pick", "pick_fails", ("why",)),
    ("rls", r"\[rlslb (?P<p>" + P + r")\] RlsChannel=" + P + r" StateWatcher=" + P + r": state changed to (?P<state>\w+)", "lookup_channel", ("state",)),
    ("rls", r"\[rlslb (?P<p>" + P + r")\] ChildPolicyWrapper=" + P + r" \[(?P<target>.*?)\], created new child policy", "child_created", ("target",)),
    ("rls", r"\[rlslb (?P<p>" + P + r")\] ChildPolicyWrapper=" + P + r" \[(?P<target>.*?)\]: shutdown", "child_destroyed", ("target",)),
    ("rls", r"\[rlslb (?P<p>" + P + r")\] reporting state (?P<state>\w+)", "state", ("state",)),
    ("resolver", r"\[XdsDependencyManager (?P<p>" + P + r")\] returning config", "config", ()),
]
RULES = [(policy, re.compile(pattern), event, names) for policy, pattern, event, names in RULES]
QUIET = {("cluster_impl", "state"), ("weighted_target", "state"), ("weighted_target", "child_state"), ("weighted_round_robin", "weights"),
         ("weighted_round_robin", "fallback"), ("weighted_round_robin", "weight"), ("priority", "select"), ("rls", "state")}
HEAD = re.compile(r"[IWED]\d{4} (\d\d):(\d\d):(\d\d\.\d+) +\d+ [\w.]+:\d+\] ")


def events(text):
    """Ordered events of one log. Pointers become small numbers per kind, in order of appearance ("policy#1")."""
    found, numbers, addresses, latest, ours, midnight, start, candidate = [], {}, {}, {}, set(), None, None, None

    def number(kind, pointer):
        return numbers.setdefault((kind, pointer), 1 + sum(k == kind for k, _ in numbers))

    for line in text.split("\n"):
        if line.startswith(MARK):
            what = json.loads(line[len(MARK):])
            at = what.pop("t")
            if midnight is None:
                midnight, start = at - at % 86400, at
            found.append((at, "test", what.pop("event"), what))
            if found[-1][2] == "end":
                break
            continue
        head = HEAD.match(line)
        if not head:
            continue
        hours, minutes, seconds = head.groups()
        at = (midnight or 0) + int(hours) * 3600 + int(minutes) * 60 + float(seconds)
        if midnight is None:  # a log without marks: times count from its first line
            midnight, start = 0, at
        if at < start - 43200:
            at += 86400  # recorded over midnight
        body = line[head.end():]
        for policy, pattern, event, names in RULES:
            match = pattern.search(body)
            if not match:
                continue
            groups = match.groupdict()
            if policy == "pick_first":
                if event == "created":
                    addresses[groups["sub"]] = groups["address"]
                    if re.fullmatch(r"127\.0\.0\.1:[3-6]\d{4}", groups["address"]):
                        ours.add(groups["p"])  # the channels of this tool itself
                if groups["p"] in ours:
                    break
            if policy == "round_robin" and event == "endpoint_state":
                groups["from"] = groups["from"].replace("N/A", "new")
            what = {}
            for name in names:
                value = groups[name]
                if name == "sub":
                    value = addresses.get(value) or number("subchannel", value)
                elif name in ("list", "old") and value.startswith("0x"):
                    value = number("list " + groups["p"], value)
                elif name in ("priority", "ms", "weight", "index", "idle", "connecting", "ready", "tf", "attempts") and re.fullmatch(r"\d+", value):
                    value = int(value)
                elif name == "deactivate_lower":
                    value = value in ("1", "true")
                what[name] = value
            if policy == "outlier_detection" and groups.get("host"):
                host = groups["host"]
                if event == "uneject":
                    addresses[host] = groups["address"]
                candidate = host
            if policy == "outlier_detection" and event == "eject":
                what["host"] = candidate
            pointer = groups.get("p")
            if (policy, event) in QUIET:  # these repeat themselves a lot
                key = (pointer, event, what.get("child") if event == "child_state" else what.get("address"))
                if latest.get(key) == what:
                    break
                latest[key] = what
            found.append((at, f"{policy}#{number(policy, pointer)}" if pointer else policy, event, what))
            break
    for _, policy, _, what in found:
        if "host" in what:  # the client says only when it takes it back which address that is
            what["host"] = addresses.get(what["host"]) or number("host", what["host"])
    found.sort(key=lambda event: event[0])  # threads write their lines a little out of order
    start = next((event[0] for event in found if event[2] == "step"), start or 0)
    return [{"t_ms": round((at - start) * 1000), "policy": policy, "event": event, "what": what} for at, policy, event, what in found]
