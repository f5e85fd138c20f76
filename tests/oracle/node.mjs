// Asks the decode functions of grpc-js-xds what they make of single resources, as its ADS stream does: no network. See others.py.
//
//   node node.mjs DIRECTORY < cases > answers      case: {id, kind, any_b64, bootstrap?}; answer: {verdict, details, then?}
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { resolve } from 'node:path';

const require = createRequire(pathToFileURL(resolve(process.argv[2]) + '/'));
const root = require.resolve('@grpc/grpc-js-xds').replace(/index\.js$/, '');
require('@grpc/grpc-js-xds').register();
const { validateBootstrapConfig } = require(root + 'xds-bootstrap');
const KINDS = { lds: ['listener', 'Listener'], rds: ['route-config', 'RouteConfiguration'], cds: ['cluster', 'Cluster'], eds: ['endpoint', 'Endpoint'] };
const provider = { plugin_name: 'file_watcher', config: { certificate_file: '/dev/null', private_key_file: '/dev/null', ca_certificate_file: '/dev/null', refresh_interval: '600s' } };

function bootstrap({ server_features = ['xds_v3'], ...rest } = {}) {
  return validateBootstrapConfig({
    xds_servers: [{ server_uri: '127.0.0.1:1', channel_creds: [{ type: 'insecure' }], server_features }],
    node: { id: 'oracle', locality: { region: 'r', zone: 'z', sub_zone: 's' } },
    certificate_providers: { id: provider, ca: provider }, ...rest });
}

// Type URL and value of an Any: fields 1 and 2, both with a length.
function fields(any) {
  const found = { type_url: '', value: Buffer.alloc(0) };
  for (let at = 0; at < any.length;) {
    const number = () => { let n = 0, factor = 1, byte; do { byte = any[at++]; n += (byte & 127) * factor; factor *= 128; } while (byte & 128); return n; };
    const tag = number(), size = number(), bytes = any.subarray(at, at += size);
    if (tag === 10) found.type_url = bytes.toString();
    if (tag === 18) found.value = bytes;
  }
  return found;
}

// The resource under its row's id: the name is field 1 of all four, and the last of a field counts.
function named(value, id) {
  const text = Buffer.from(id), size = [];
  let rest = text.length;
  for (; rest > 127; rest >>= 7) size.push((rest & 127) | 128);
  return Buffer.concat([value, Buffer.from([10, ...size, rest]), text]);
}

// What is accepted and then kills the process, in a watcher that reads a field of null.
function then(kind, value) {
  const dies = kind === 'lds' && value.api_listener && !value.api_listener.api_listener
    || kind === 'rds' && value.virtual_hosts.some(host => host.routes.some(route => !route.route));
  return dies ? { then: 'CRASH' } : {};
}

function ask(row) {
  const [file, name] = KINDS[row.kind];
  const type = require(root + `xds-resource-type/${file}-resource-type`)[name + 'ResourceType'].get();
  const any = fields(Buffer.from(row.any_b64, 'base64'));
  if (any.type_url !== type.getFullTypeUrl()) return { verdict: 'NACK', details: `another type: ${any.type_url}` };
  any.value = named(any.value, row.id);
  const config = bootstrap(row.bootstrap);
  try {
    const { value, error } = type.decode({ server: config.xdsServers[0], bootstrap: config }, any);
    if (error) return { verdict: 'NACK', details: error };
    return value ? { verdict: 'ACK', details: '', ...then(row.kind, value) } : { verdict: 'NONE', details: '' };
  } catch (error) {
    return { verdict: 'NACK', details: 'thrown: ' + error.message };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  if (line.trim()) process.stdout.write(JSON.stringify(ask(JSON.parse(line))) + '\n');
}
process.exit(0);
