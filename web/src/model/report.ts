// What the page reads of the JSON that docs/json.md describes.

export type Severity = "error" | "warning" | "note";

export interface Finding {
  type?: string; name?: string; rule: string; effect: string; who?: string; severity: Severity; path: string; message: string;
  help: string | null; file: string | null; line: number | null; column: number | null; end_line: number | null;
  end_column: number | null; byte_start: number | null; byte_end: number | null; fixable?: boolean;
  related?: { path: string; message: string; file: string | null; line: number | null; column: number | null }[];
}

export interface ClientVerdict { verdict: string; effect?: string; rules: string[] }

export interface ResourceRow {
  file: string; world: string; type: string; name: string; byte_start: number; byte_end: number; verdict: string;
  clients?: Record<string, ClientVerdict>; parsed?: Parsed; refers_to?: Kept["refers_to"]; findings: Finding[];
}

/** What the client keeps of the resource of this number, and what that refers to. */
export interface Kept { resource: number; refers_to: [string, string][]; parsed?: Parsed }

export interface Report {
  client: string | string[]; resources: ResourceRow[]; findings: Finding[];
  not_checked: { kind: string; what: string; clients: string[] }[];
  summary: { resources: Record<string, number>; severities: Record<Severity, number>; worlds: number };
}

/** What the client keeps of a resource; only what is drawn is named here. */
export interface Parsed {
  api_listener?: { rds?: { route_config_name: string }; route_config?: Parsed; http_filters?: HttpFilter[] };
  virtual_hosts?: VirtualHost[];
  discovery?: { type: string; service_name?: string | null; clusters?: string[]; hostname?: string };
  lb_policy?: Record<string, unknown>[];
  drop_overloads?: unknown; outlier_detection?: unknown; max_concurrent_requests?: number;
  priorities?: { priority: number; localities: Locality[] }[];
}

export interface HttpFilter { name: string; disabled?: boolean; config: { type: string; cookie?: { name: string; path: string } } }

export interface VirtualHost { index: number; name: string; domains: string[]; routes: Route[]; typed_per_filter_config?: object }

export interface Route {
  index: number; name: string; match: Record<string, unknown>; typed_per_filter_config?: object;
  route?: {
    cluster?: string; weighted_clusters?: { name: string; weight: number }[]; cluster_header?: string; cluster_specifier_plugin?: string;
    retry_policy?: { grpc?: object | null } | null; max_stream_duration?: string | null;
  };
}

export interface Locality {
  index: number; load_balancing_weight: number; locality: { region: string; zone: string; sub_zone: string }; lb_endpoints: Endpoint[];
}

export interface Endpoint { index: number; address: string; health_status: string; load_balancing_weight: number }

export interface Trace { layer: string; what: string }

export interface Pick {
  result: string; code: string; details: string; backend: string | null; attempts: string[]; set_cookie: string[]; trace: Trace[];
  began_ms: number; ended_ms: number; cluster?: string | null;
}

export interface PickReport {
  schema: string; picks: Pick[]; shares?: { label: string; count: number; simulated: number; expected: number | null }[]; error?: string | null;
}

export interface RouteReport {
  schema: string; virtual_host: { index: number; name: string } | null; tried: { index: number; name: string; matcher: string; why: string }[];
  route: {
    index: number; name: string; key: string; selected_key: string; sessions: { cookie: string }[];
    filters: { name: string; kind: string; config_from: string }[]; details?: Trace[];
  } | null;
  error: { code: string; message: string } | null;
}

export interface Several<T> {
  schema: string; agreeing: string[][]; partings: { layer: string; clients: string[][]; what: string[] }[];
  answers: { client: string; fails: boolean; error: string | null; answer: T | null }[];
}
