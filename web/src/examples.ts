// An example for each common fault, each a small world.
import checkoutNext from "../../fixtures/examples/checkout-next.yaml?raw";
import checkout from "../../fixtures/examples/checkout.yaml?raw";
import drain from "../../fixtures/suites/drain.yaml?raw";
import failover from "../../fixtures/suites/failover.yaml?raw";
import shopWorld from "../../fixtures/suites/world/shop.yaml?raw";
import missing from "../examples/missing-cluster.yaml?raw";
import noRoute from "../examples/no-route.yaml?raw";
import priority from "../examples/priority-gap.yaml?raw";
import rejected from "../examples/rejected-cluster.yaml?raw";
import weightless from "../examples/locality-without-weight.yaml?raw";
import type { Rpc } from "./state";

export interface Example { title: string; about: string; files: [string, string][]; rpc?: Partial<Rpc>; panel?: "try" | "play" | "compare" | "matrix"; clients?: string[]; compared?: { before: string; after: string } }

export const EXAMPLES: Example[] = [
  { title: "A Cluster is rejected", about: "and every RPC to it fails: its LB policy is none of gRPC's", files: [["rejected-cluster.yaml", rejected]], rpc: { method: "/shop.Cart/Get" } },
  { title: "No route takes the RPC", about: "UNAVAILABLE, although the routes look right", files: [["no-route.yaml", noRoute]], rpc: { method: "/shop.Cart/Get" } },
  { title: "Half of the endpoints get nothing", about: "a locality without a weight is left out", files: [["locality-without-weight.yaml", weightless]], rpc: { method: "/shop.Cart/Get", count: 100 } },
  { title: "A route leads to a Cluster that is not there", about: "a name with a slip of the pen", files: [["missing-cluster.yaml", missing]], rpc: { method: "/shop.Cart/Get" } },
  { title: "The priorities have a gap", about: "and the client rejects all endpoints", files: [["priority-gap.yaml", priority]], rpc: { method: "/shop.Cart/Get" } },
  { title: "One client takes it, another does not", about: "a checkout with sessions, aggregate and fail-over", files: [["checkout.yaml", checkout]], rpc: { method: "/shop.Checkout/Pay" }, clients: ["cpp", "go", "java"], panel: "matrix" },
  { title: "What does this change do?", about: "two versions of a checkout side by side", files: [["before.yaml", checkout], ["after.yaml", checkoutNext]], compared: { before: "before.yaml", after: "after.yaml" }, panel: "compare" },
  { title: "Drain a pod under load", about: "a suite to play: do sessions stay, does an RPC fail?", files: [["drain.yaml", drain], ["world/shop.yaml", shopWorld]], panel: "play" },
  { title: "A region fails", about: "a suite to play: when does the other take over?", files: [["failover.yaml", failover], ["world/shop.yaml", shopWorld]], panel: "play" },
];
