// xDS servers of grpc-js-xds: one is started or stopped by each line of JSON on standard input, as those of Go (servers/go).
// The argument is the folder in which the packages are installed.
import { createRequire } from "node:module";
import readline from "node:readline";

const require = createRequire(process.argv[2] + "/package.json");
const grpc = require("@grpc/grpc-js");
const xds = require("@grpc/grpc-js-xds");
xds.register();

const say = (what) => console.log(JSON.stringify(what));
const raw = (bytes) => bytes;
const method = (path) => ({
  path, requestStream: false, responseStream: false,
  requestSerialize: raw, requestDeserialize: raw, responseSerialize: raw, responseDeserialize: raw,
});
const answer = (call, done) => {
  const [hold] = call.metadata.get("x-hold");
  setTimeout(() => done(null, call.request), 1000 * Number(hold ?? 0));
};

function start(told) {
  const server = new xds.XdsServer(told.options ?? {});
  server.addService({ Method: method("/pkg.Service/Method"), Other: method("/pkg.Service/Other") }, { Method: answer, Other: answer });
  server.addService({ Delete: method("/admin.Console/Delete") }, { Delete: answer });
  const insecure = grpc.ServerCredentials.createInsecure();
  const credentials = told.credentials === "xds" ? new xds.XdsServerCredentials(insecure) : insecure;
  server.bindAsync(told.listen, credentials, () => {});
  server.addServingStateListener(told.listen, (status) => {
    const mode = status.code === grpc.status.OK ? "SERVING" : "NOT_SERVING";
    say({ mode, words: status.details ?? "", tag: told.tag });
  });
  return server;
}

let last = null;
readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const told = JSON.parse(line);
  last?.forceShutdown();
  last = null;
  if (told.stop) say({ mode: "STOPPED", words: "", tag: told.tag });
  try {
    last = told.stop ? null : start(told);
  } catch (why) {
    say({ mode: "ENDED", words: String(why?.message ?? why), tag: told.tag });
  }
}).on("close", () => process.exit(0));
