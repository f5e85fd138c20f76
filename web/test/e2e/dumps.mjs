// Dumps that look like those that programs write, made here: the shapes are real, the content is ours.

const T = "type.googleapis.com/envoy.config";
const HCM = "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
const ROUTER = { name: "envoy.filters.http.router", typed_config: { "@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router" } };

export const cluster = (name, more = {}) => ({
  "@type": `${T}.cluster.v3.Cluster`, name, type: "EDS", eds_cluster_config: { eds_config: { ads: {}, resource_api_version: "V3" }, service_name: name },
  connect_timeout: "10s", lb_policy: "ROUND_ROBIN", ...more,
});
export const endpoints = (name, addresses, more = {}) => ({
  "@type": `${T}.endpoint.v3.ClusterLoadAssignment`, cluster_name: name,
  endpoints: [{
    locality: { region: "eu-west1", zone: "eu-west1-b" }, load_balancing_weight: 1,
    lb_endpoints: addresses.map((address) => ({ endpoint: { address: { socket_address: { address, port_value: 8080 } } }, health_status: "HEALTHY" })), ...more,
  }],
});
export const listener = (name, routes) => ({
  "@type": `${T}.listener.v3.Listener`, name,
  api_listener: { api_listener: { "@type": HCM, stat_prefix: "x", rds: { config_source: { ads: {}, resource_api_version: "V3" }, route_config_name: routes }, http_filters: [ROUTER] } },
});
export const routes = (name, hosts) => ({ "@type": `${T}.route.v3.RouteConfiguration`, name, virtual_hosts: hosts });
const host = (name, domains, to) => ({ name, domains, routes: [{ match: { prefix: "/" }, route: { cluster: to, timeout: "0s" } }] });

/** A proxy sidecar's `/config_dump?include_eds`, as a mesh's control plane fills it. */
export const sidecar = (services = 12) => {
  const names = Array.from({ length: services }, (_, number) => `outbound|8080||svc-${number}.shop.svc.cluster.local`);
  const of = (kind, key, list) => ({ "@type": `type.googleapis.com/envoy.admin.v3.${kind}`, [key]: list });
  return JSON.stringify({
    configs: [
      of("ClustersConfigDump", "dynamic_active_clusters", names.map((name) => ({ version_info: "2024-05-01T10:00:00Z/7", last_updated: "2024-05-01T10:00:01Z", cluster: cluster(name, { metadata: { filter_metadata: { mesh: { services: [{ namespace: "shop" }] } } } }) }))),
      of("ListenersConfigDump", "dynamic_listeners", [{ name: "svc", active_state: { version_info: "7", listener: listener("svc-0.shop.svc.cluster.local:8080", "8080") } }]),
      of("RoutesConfigDump", "dynamic_route_configs", [{ version_info: "7", route_config: routes("8080", names.map((name, number) => host(`svc-${number}:8080`, number === 0 ? ["*"] : [`svc-${number}`, `svc-${number}.shop`], name))) }]),
      of("EndpointsConfigDump", "dynamic_endpoint_configs", names.map((name, number) => ({ endpoint_config: endpoints(name, [`10.4.${number}.1`, `10.4.${number}.2`]) }))),
    ],
  }, null, 1);
};

/** A client's own status (CSDS), with what it says of each resource. */
export const csds = () => JSON.stringify({
  config: [{
    node: { id: "client-1", locality: { zone: "eu-west1-b" }, user_agent_name: "gRPC Go", user_agent_version: "1.85.0" },
    generic_xds_configs: [
      ["listener.v3.Listener", listener("wallet.example.com", "wallet-routes")],
      ["route.v3.RouteConfiguration", routes("wallet-routes", [host("wallet", ["wallet.example.com"], "wallet-v1")])],
      ["cluster.v3.Cluster", cluster("wallet-v1")],
      ["endpoint.v3.ClusterLoadAssignment", endpoints("wallet-v1", ["10.8.0.1", "10.8.0.2"])],
    ].map(([type, resource]) => ({ type_url: `${T}.${type}`, name: resource.name ?? resource.cluster_name, version_info: "3", xds_config: resource, client_status: "ACKED", last_updated: "2024-05-01T10:00:00Z" })),
  }],
});

/** What a gateway's translation prints, in YAML: lists of resources by type. */
export const gateway = () => `xds:
  envoyproxy/shop:
    '@type': type.googleapis.com/envoy.admin.v3.ConfigDump
    configs:
    - '@type': type.googleapis.com/envoy.admin.v3.ListenersConfigDump
      dynamicListeners:
      - activeState:
          listener:
            '@type': ${T}.listener.v3.Listener
            name: shop/http
            apiListener:
              apiListener:
                '@type': ${HCM}
                statPrefix: http
                rds:
                  configSource: {ads: {}, resourceApiVersion: V3}
                  routeConfigName: shop/http
                httpFilters:
                - name: envoy.filters.http.router
                  typedConfig:
                    '@type': type.googleapis.com/envoy.extensions.filters.http.router.v3.Router
    - '@type': type.googleapis.com/envoy.admin.v3.RoutesConfigDump
      dynamicRouteConfigs:
      - routeConfig:
          '@type': ${T}.route.v3.RouteConfiguration
          name: shop/http
          virtualHosts:
          - name: shop/http/cart
            domains: ['*']
            routes:
            - match: {pathSeparatedPrefix: /shop.Cart}
              route: {cluster: httproute/shop/cart/rule/0}
            - match: {prefix: /}
              route:
                weightedClusters:
                  clusters:
                  - {name: httproute/shop/cart/rule/0, weight: 80}
                  - {name: httproute/shop/cart/rule/1, weight: 20}
    - '@type': type.googleapis.com/envoy.admin.v3.ClustersConfigDump
      dynamicActiveClusters:
${[0, 1].map((rule) => `      - cluster:
          '@type': ${T}.cluster.v3.Cluster
          name: httproute/shop/cart/rule/${rule}
          type: EDS
          edsClusterConfig:
            edsConfig: {ads: {}, resourceApiVersion: V3}
            serviceName: httproute/shop/cart/rule/${rule}
          lbPolicy: LEAST_REQUEST
`).join("")}    - '@type': type.googleapis.com/envoy.admin.v3.EndpointsConfigDump
      dynamicEndpointConfigs:
${[0, 1].map((rule) => `      - endpointConfig:
          '@type': ${T}.endpoint.v3.ClusterLoadAssignment
          clusterName: httproute/shop/cart/rule/${rule}
          endpoints:
          - locality: {region: eu}
            loadBalancingWeight: 1
            lbEndpoints:
            - endpoint: {address: {socketAddress: {address: 10.9.${rule}.1, portValue: 8080}}}
`).join("")}`;

/** A table of resources by type URL and name, as an inspector prints it. */
export const inspected = () => JSON.stringify({
  [`${T}.listener.v3.Listener`]: { "pay:80": listener("pay:80", "pay") },
  [`${T}.route.v3.RouteConfiguration`]: { pay: routes("pay", [host("pay", ["*"], "pay")]) },
  [`${T}.cluster.v3.Cluster`]: { pay: cluster("pay") },
  [`${T}.endpoint.v3.ClusterLoadAssignment`]: { pay: endpoints("pay", ["10.5.0.1"]) },
});

/** Files by type of a translation with several localities and priorities, one list each. */
export const failover = () => [
  ["failover.listeners.yaml", JSON.stringify([listener("failover", "failover")])],
  ["failover.routes.yaml", JSON.stringify([routes("failover", [host("failover", ["*"], "failover")])])],
  ["failover.clusters.yaml", JSON.stringify([cluster("failover")])],
  ["failover.endpoints.yaml", JSON.stringify([{
    "@type": `${T}.endpoint.v3.ClusterLoadAssignment`, cluster_name: "failover",
    endpoints: [0, 1].flatMap((priority) => ["a", "b"].map((zone, number) => ({ ...endpoints("x", [`10.${priority}.${number}.1`]).endpoints[0], locality: { region: "eu", zone: `eu-${zone}` }, priority }))),
  }])],
];

/** A mesh: a virtual host, a cluster and its endpoints for each service; every tenth route splits. */
export const mesh = (services, perZone = 1, spaces = undefined) => {
  const name = (number) => `outbound|8080||svc-${number % services}.shop.svc.cluster.local`;
  const numbers = Array.from({ length: services }, (_, number) => number);
  const to = (number) => number % 10 !== 0 ? { cluster: name(number) } : { weighted_clusters: { clusters: [{ name: name(number), weight: 80 }, { name: name(number + 1), weight: 20 }] } };
  return JSON.stringify([
    listener("shop", "shop"),
    routes("shop", numbers.map((number) => ({
      name: `svc-${number}`, domains: number === 0 ? ["*"] : [`svc-${number}.shop.svc.cluster.local`, `svc-${number}.shop.svc.cluster.local:8080`],
      routes: [{ match: { prefix: `/shop.Svc${number}/` }, route: { ...to(number), timeout: "5s", retry_policy: { retry_on: "unavailable", num_retries: 2 } } }],
    }))),
    ...numbers.map((number) => cluster(name(number), number % 50 === 0 ? { lb_policy: "MAGLEV" } : {})),
    ...numbers.map((number) => ({
      ...endpoints(name(number), []), endpoints: ["a", "b"].map((zone, at) => ({
        ...endpoints("x", Array.from({ length: perZone }, (_, one) => `10.${number >> 8}.${number & 255}.${at * 100 + one + 1}`)).endpoints[0], locality: { region: "eu", zone },
      })),
    })),
  ], null, spaces);
};
