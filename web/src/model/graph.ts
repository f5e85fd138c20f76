// The picture of what a client holds, as data: nodes from listeners to endpoints, made of `validate --show parsed`.
import type { Finding, HttpFilter, Locality, Parsed, Report, ResourceRow, Route, Severity, VirtualHost } from "./report";

export type Kind = "listener" | "virtual_host" | "route" | "cluster" | "priority" | "locality" | "endpoint" | "host" | "rest";

/** How the client takes it: `missing` is named and not there, `left` was dropped out of an accepted resource. */
export type State = "ok" | "rejected" | "missing" | "left" | "unused";

export interface Edge { to: string; label: string; share: number | null }

export interface Node {
  id: string; kind: Kind; label: string; detail: string; state: State; why: string; severity: Severity | null;
  world: string; file: string; type: string; name: string; start: number; end: number; path: string;
  address: string; health: string; weight: number | null; edges: Edge[]; findings: number[];
  /** What it holds was not asked for: of what it leads to only names are known. */
  isClosed: boolean;
  /** An RPC that a route takes: the method, and a header in each line that follows. */
  sample: string;
}

export interface Graph { nodes: Map<string, Node>; roots: string[]; worlds: string[]; addresses: string[]; listeners: string[] }

/** The letter of a type in the ids of its nodes. */
const LETTER: Record<string, string> = { Listener: "L", RouteConfiguration: "T", Cluster: "C", ClusterLoadAssignment: "A" };

const RANK: Record<Severity, number> = { error: 3, warning: 2, note: 1 };

const place = (at: Locality["locality"]) => [at.region, at.zone, at.sub_zone].filter((part) => part !== "").join("/") || "no locality";

/** What a route matches, in the words of the terminal. */
export function matches(match: Record<string, unknown>): string {
  const path = "path" in match ? String(match.path) : "prefix" in match ? `${String(match.prefix)}*` : `~ ${String(match.regex ?? match.safe_regex ?? "")}`;
  const headers = Array.isArray(match.headers) ? (match.headers as { name: string }[]).map((header) => header.name) : [];
  const fraction = typeof match.fraction_per_million === "number" ? ` ${match.fraction_per_million / 10_000}%` : "";
  return path + (headers.length > 0 ? ` [${headers.join(", ")}]` : "") + fraction;
}

/** An RPC that a route takes, as far as its matchers name one. */
function sample({ match }: Route): string {
  const at = String(match.path ?? match.prefix ?? "");
  const [, service = "", method = ""] = /^\/?([^/]*)\/?(.*)$/.exec(at) ?? [];
  const isService = service !== "" && at.indexOf("/", 1) > 0;
  const path = match.path !== undefined ? at : `/${service === "" ? "pkg.Service" : isService ? service : `${service.replace(/\.$/, "")}.Service`}/${method || "Method"}`;
  const headers = (Array.isArray(match.headers) ? match.headers : []) as { name: string; exact?: string; string_match?: { exact?: string } }[];
  return [path, ...headers.flatMap(({ name, exact, string_match }) => { const value = exact ?? string_match?.exact; return value === undefined ? [] : [`${name}: ${value}`]; })].join("\n");
}

/** Says whether a session's cookie goes with the RPCs of a route: with all, with some, or with none (crates/model, cookie.rs). */
function carried(cookie: { name: string; path: string }, { match }: Route): string {
  const path = match.path ?? match.prefix;
  const covers = (text: string) => text.startsWith(cookie.path) && (cookie.path === "" || text === cookie.path || cookie.path.endsWith("/") || text[cookie.path.length] === "/");
  if (typeof path !== "string") return "";
  if (covers(path) || (match.prefix !== undefined && covers(`${path}/`) && path !== "")) return `session ${cookie.name}`;
  return match.prefix !== undefined && cookie.path.startsWith(path) ? `session only on ${cookie.path}` : `no session, path ${cookie.path}`;
}

const words = (one: string, other: string) => (one === "" || other === "" ? one + other : `${one}, ${other}`);

const policy = (parsed: Parsed | undefined) => {
  let at: unknown = parsed?.lb_policy;
  let name = "";
  for (let depth = 0; Array.isArray(at) && depth < 16; depth += 1) {
    const [key, value] = Object.entries((at[0] ?? {}) as Record<string, unknown>)[0] ?? [];
    if (key === undefined) break;
    name = key;
    at = (value as Record<string, unknown> | null)?.childPolicy;
  }
  return name.replace(/_experimental$/, "");
};

class Builder {
  nodes = new Map<string, Node>();
  used = new Set<string>();
  addresses = new Set<string>();
  /** Session filters of listeners, and routes by their nodes. */
  sessions = new Map<string, HttpFilter[]>();
  routes = new Map<string, [VirtualHost, Route]>();

  constructor(readonly report: Report, readonly numbers: Map<Finding, number>) {}

  add(resource: ResourceRow, id: string, kind: Kind, label: string, path: string, detail = "", state: State = "ok", why = ""): Node {
    const node: Node = {
      id, kind, label, detail, state, why, severity: null, world: resource.world, file: resource.file, type: resource.type,
      name: resource.name, start: resource.byte_start, end: resource.byte_end, path, address: "", health: "", weight: null, edges: [],
      findings: [], isClosed: false, sample: "",
    };
    this.nodes.set(id, node);
    return node;
  }

  link(from: Node, to: string, label = "", share: number | null = null) {
    from.edges.push({ to, label, share });
    this.used.add(to);
  }

  resource(resource: ResourceRow) {
    const { world, type, name, parsed } = resource;
    const rejected = resource.verdict === "rejected";
    const why = rejected ? (resource.findings.find((one) => one.effect === "nack")?.message ?? "rejected") : "";
    const state: State = rejected ? "rejected" : "ok";
    const own: Node[] = [];
    if (!rejected && parsed === undefined && resource.refers_to !== undefined && type in LETTER) {
      const kind: Kind = type === "Cluster" ? "cluster" : type === "ClusterLoadAssignment" ? "rest" : "listener";
      const detail = { RouteConfiguration: "RouteConfiguration", ClusterLoadAssignment: "endpoints" }[type] ?? "";
      const node = this.add(resource, `${world}|${LETTER[type]}:${name}`, kind, name, "", detail);
      node.isClosed = true;
      for (const [to, toName] of resource.refers_to) this.link(node, `${world}|${LETTER[to] ?? ""}:${toName}`);
      return this.tell(resource, [node]);
    }
    if (type === "Listener") {
      const node = this.add(resource, `${world}|L:${name}`, "listener", name, "", "", state, why);
      const filters = parsed?.api_listener?.http_filters ?? [];
      node.detail = filters.map(({ config }) => (config.cookie ? `${config.cookie.name} on ${config.cookie.path || "any path"}` : config.type)).filter((filter) => filter !== "router").join(", ");
      this.sessions.set(node.id, filters.filter((filter) => filter.config.cookie && !filter.disabled));
      if (parsed?.api_listener?.rds) {
        this.link(node, `${world}|T:${parsed.api_listener.rds.route_config_name}`);
      } else if (parsed?.api_listener?.route_config) {
        own.push(...this.hosts(resource, node, parsed.api_listener.route_config, "api_listener.api_listener.value[envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager].route_config."));
      }
      own.unshift(node);
    } else if (type === "RouteConfiguration") {
      const node = this.add(resource, `${world}|T:${name}`, "listener", name, "", "RouteConfiguration", state, why);
      own.push(node, ...(parsed ? this.hosts(resource, node, parsed, "") : []));
    } else if (type === "Cluster") {
      const node = this.add(resource, `${world}|C:${name}`, "cluster", name, "", "", state, why);
      const discovery = parsed?.discovery;
      node.detail = words(discovery?.type.toLowerCase() ?? "", policy(parsed));
      discovery?.clusters?.forEach((child, index) => this.link(node, `${world}|C:${child}`, `${index + 1}.`));
      if (discovery?.type === "EDS") this.link(node, `${world}|A:${discovery.service_name ?? name}`);
      if (discovery?.hostname) {
        const host = this.add(resource, `${node.id}|H`, "host", discovery.hostname, "load_assignment", "DNS");
        this.link(node, host.id);
        own.push(host);
      }
      own.unshift(node);
    } else if (type === "ClusterLoadAssignment") {
      const node = this.add(resource, `${world}|A:${name}`, "rest", name, "", "endpoints", state, why);
      own.push(node, ...(parsed ? this.endpoints(resource, node, parsed) : []));
    }
    this.tell(resource, own);
  }

  hosts(resource: ResourceRow, parent: Node, parsed: Parsed, base: string): Node[] {
    const made: Node[] = [];
    for (const host of parsed.virtual_hosts ?? []) {
      const path = `${base}virtual_hosts[${host.index}]`;
      const node = this.add(resource, `${parent.id}|V:${host.index}`, "virtual_host", host.name || host.domains[0] || "", path, host.domains.join(", "));
      this.link(parent, node.id);
      made.push(node);
      for (const route of host.routes) made.push(this.route(resource, node, host, route, path));
    }
    return made;
  }

  route(resource: ResourceRow, parent: Node, host: VirtualHost, route: Route, base: string): Node {
    const path = `${base}.routes[${route.index}]`;
    const retries = route.route?.retry_policy?.grpc ? "retries" : "";
    const node = this.add(resource, `${parent.id}|R:${route.index}`, "route", matches(route.match), path, words(route.name, retries));
    node.sample = sample(route);
    this.routes.set(node.id, [host, route]);
    this.link(parent, node.id, `${route.index}`);
    const to = route.route;
    if (to?.cluster) this.link(node, `${resource.world}|C:${to.cluster}`);
    const weighted = to?.weighted_clusters ?? [];
    const total = weighted.reduce((sum, one) => sum + one.weight, 0);
    for (const one of weighted) this.link(node, `${resource.world}|C:${one.name}`, "", total > 0 ? one.weight / total : 0);
    if (to?.cluster_specifier_plugin) node.detail = `plugin ${to.cluster_specifier_plugin}`;
    return node;
  }

  endpoints(resource: ResourceRow, parent: Node, parsed: Parsed): Node[] {
    const made: Node[] = [];
    for (const { priority, localities } of parsed.priorities ?? []) {
      const first = this.add(resource, `${parent.id}|P:${priority}`, "priority", `priority ${priority}`, localities[0] === undefined ? "" : `endpoints[${localities[0].index}]`);
      this.link(parent, first.id);
      made.push(first);
      const total = localities.reduce((sum, one) => sum + one.load_balancing_weight, 0);
      for (const one of localities) {
        const path = `endpoints[${one.index}]`;
        const node = this.add(resource, `${first.id}|Y:${one.index}`, "locality", place(one.locality), path);
        node.weight = one.load_balancing_weight;
        this.link(first, node.id, "", total > 0 ? one.load_balancing_weight / total : null);
        made.push(node);
        for (const endpoint of one.lb_endpoints) {
          const { address, health_status: health, load_balancing_weight: weight, index } = endpoint;
          const leaf = this.add(resource, `${node.id}|E:${index}`, "endpoint", address, `${path}.lb_endpoints[${index}]`, words(health === "UNKNOWN" ? "" : health, weight === 1 ? "" : `weight ${weight}`));
          [leaf.address, leaf.health, leaf.weight] = [address, health, weight];
          this.link(node, leaf.id);
          this.addresses.add(address);
          made.push(leaf);
        }
      }
    }
    return made;
  }

  /** Says at the routes of a listener whether its session goes with them; an override decides for itself. */
  carry(listener: string, filters: HttpFilter[]) {
    const cookie = filters.at(-1);
    if (cookie === undefined) return;
    const below = (id: string) => this.nodes.get(id)?.edges.map((edge) => edge.to) ?? [];
    for (const id of below(listener).flatMap(below)) {
      const node = this.nodes.get(id);
      const [host, route] = this.routes.get(id) ?? [];
      if (node === undefined || host === undefined || route === undefined) continue;
      if (cookie.name in { ...host.typed_per_filter_config, ...route.typed_per_filter_config }) continue;
      node.detail = words(carried(cookie.config.cookie!, route), node.detail);
    }
  }

  /** Puts each finding at the deepest node that it is in; one about something that the client left out gets a node of its own. */
  tell(resource: ResourceRow, own: Node[]) {
    const [first] = own;
    if (first === undefined || resource.findings.length === 0) return;
    const byPath = new Map(own.filter((node) => node.path !== "" && node.kind !== "priority").map((node) => [node.path, node]));
    for (const finding of resource.findings) {
      let at = first;
      for (let end = finding.path.length; end > 0; end = Math.max(finding.path.lastIndexOf(".", end - 1), finding.path.lastIndexOf("[", end - 1))) {
        const node = byPath.get(finding.path.slice(0, end));
        if (node === undefined) continue;
        at = node;
        break;
      }
      if (finding.effect === "dropped") at = this.left(resource, own[0]!, byPath, finding) ?? at;
      const number = this.numbers.get(finding);
      if (number !== undefined) at.findings.push(number);
      if (at.severity === null || RANK[finding.severity] > RANK[at.severity]) at.severity = finding.severity;
      if (at.why === "") at.why = finding.message;
    }
  }

  left(resource: ResourceRow, first: Node, byPath: Map<string, Node>, finding: Finding): Node | null {
    const path = /^.*?(endpoints\[\d+\](?:\.lb_endpoints\[\d+\])?|routes\[\d+\])/.exec(finding.path)?.[0];
    if (path === undefined || (byPath.has(path) && byPath.get(path)!.state !== "left")) return null;
    const above = path.replace(/\.(lb_endpoints|routes)\[\d+\]$/, "");
    const parent = (above === path ? undefined : byPath.get(above)) ?? first;
    const kind: Kind = path.includes("routes[") ? "route" : path.includes("lb_endpoints[") ? "endpoint" : "locality";
    const id = `${parent.id}|X:${path}`;
    const known = this.nodes.get(id);
    if (known !== undefined) return known;
    const node = this.add(resource, id, kind, path.replace(/^.*\.(lb_endpoints|routes)/, "$1"), path, finding.message, "left", finding.message);
    this.link(parent, id, "left out");
    byPath.set(path, node);
    return node;
  }

  /** Names without a resource, and what hangs between: an assignment's priorities stand directly below its cluster. */
  finish(): Graph {
    for (const node of [...this.nodes.values()]) {
      if (node.edges.length > 0) node.edges = node.edges.flatMap((edge) => {
        const to = this.nodes.get(edge.to);
        if (to !== undefined) {
          // Resources that are only a step on the way have no box: RouteConfigurations and assignments.
          const passes = (to.kind === "rest" || to.detail === "RouteConfiguration") && to.state !== "rejected";
          if (!passes) return [edge];
          if (to.kind === "listener" && node.detail === "") node.detail = to.name === node.name ? "" : `routes ${to.name}`;
          node.isClosed ||= to.isClosed;
          node.findings.push(...to.findings.filter((one) => !node.findings.includes(one)));
          if (to.severity !== null && (node.severity === null || RANK[to.severity] > RANK[node.severity])) node.severity = to.severity;
          return to.edges;
        }
        const [, kind, name] = /\|([A-Z]):(.*)$/s.exec(edge.to) ?? [];
        const made = { C: "cluster", T: "listener", A: "locality" }[kind ?? ""] as Kind | undefined;
        const what = { C: "Cluster", T: "RouteConfiguration", A: "ClusterLoadAssignment" }[kind ?? ""] ?? "";
        if (made === undefined) return [edge];
        this.nodes.set(edge.to, {
          ...node, id: edge.to, kind: made, label: name ?? "", detail: `no ${what}`, state: "missing", why: `there is no ${what} of this name`,
          severity: null, address: "", health: "", weight: null, edges: [], findings: [], isClosed: false, sample: "", type: what, name: name ?? "",
        });
        return [edge];
      });
    }
    for (const [id, filters] of this.sessions) this.carry(id, filters);
    const passing = (node: Node) => (node.kind === "rest" || node.detail === "RouteConfiguration") && this.used.has(node.id) && node.state !== "rejected";
    const roots = [...this.nodes.values()].filter((node) => !this.used.has(node.id) && !passing(node));
    const order: Kind[] = ["listener", "virtual_host", "route", "cluster", "rest", "priority", "locality", "endpoint", "host"];
    for (const node of roots) {
      if (node.kind === "listener" || node.state !== "ok") continue;
      node.state = "unused";
      if (node.kind === "cluster") node.why = "no route that the client keeps leads here; a weight of 0 is none";
    }
    roots.sort((one, other) => order.indexOf(one.kind) - order.indexOf(other.kind));
    const worlds = [...new Set(this.report.resources.map((resource) => resource.world))];
    const listeners = [...this.nodes.values()].filter((node) => node.type === "Listener" && node.kind === "listener");
    return {
      nodes: this.nodes, roots: roots.map((node) => node.id), worlds, addresses: [...this.addresses], listeners: [...new Set(listeners.map((node) => node.name))],
    };
  }
}

/** Findings that the page is given; a person reads fewer. */
const MOST_FINDINGS = 1000;

/** What the command is asked for a report of no more than that. */
export const VALIDATE = ["validate", "--no-config", "--format", "json", "--max-findings", String(MOST_FINDINGS)];

/** The findings of a report in one list, the loudest first, and no more of them than the page is given. */
export function loudest(report: Report): Finding[] {
  const lists: Record<Severity, Finding[]> = { error: [], warning: [], note: [] };
  for (const { findings } of [...report.resources, report]) for (const finding of findings) lists[finding.severity].push(finding);
  return [...lists.error, ...lists.warning, ...lists.note].slice(0, MOST_FINDINGS);
}

/** The picture of a report; findings are named by their index in the list. */
export function graph(report: Report, findings: Finding[]): Graph {
  const builder = new Builder(report, new Map(findings.map((finding, index) => [finding, index])));
  for (const resource of report.resources) if (resource.verdict !== "ignored") builder.resource(resource);
  return builder.finish();
}
