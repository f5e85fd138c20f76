// Plain words for the layers that C-core's traces name.

/** What a layer decides. */
export const PLAIN: Record<string, string> = {
  "virtual host": "domain", "request hash": "hash", "set-cookie": "cookie", pick: "choice of an endpoint",
  xds_cluster_manager_experimental: "cluster of the route", cds_experimental: "Cluster", outlier_detection_experimental: "outlier detection",
  xds_cluster_impl_experimental: "drops and limits", xds_override_host_experimental: "session's endpoint", priority_experimental: "priority",
  xds_wrr_locality_experimental: "weights of localities", weighted_target_experimental: "locality", round_robin: "endpoint, in turn",
  weighted_round_robin: "endpoint, by load", ring_hash_experimental: "endpoint, by hash", least_request_experimental: "endpoint, the idlest of some",
  random_experimental: "endpoint, at random", pick_first: "connection", rls_experimental: "lookup (RLS)", authority: ":authority",
};
