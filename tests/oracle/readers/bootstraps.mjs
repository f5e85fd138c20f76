#!/usr/bin/env node
// What grpc-js-xds says of bootstraps, each read anew: a file's path a line in, {"error"} or {} a line out (see bootstraps.py).
//
//   node bootstraps.mjs DIRECTORY      where its packages are
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { resolve } from 'node:path';

const require = createRequire(pathToFileURL(resolve(process.argv[2]) + '/'));
const reader = require.resolve('@grpc/grpc-js-xds/build/src/xds-bootstrap.js');
for await (const path of createInterface({ input: process.stdin })) {
  process.env.GRPC_XDS_BOOTSTRAP = path;
  delete require.cache[reader]; // It keeps the first that it has read.
  let answer = {};
  try {
    require(reader).loadBootstrapInfo();
  } catch (error) {
    answer = { error: String(error.message) };
  }
  console.log(JSON.stringify(answer));
}
