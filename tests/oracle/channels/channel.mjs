#!/usr/bin/env node
// A gRPC client that is told what to do on standard input, one JSON line each, and answers a line each (see channels.py).
//
//   node channel.mjs DIRECTORY      where its packages are
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { resolve } from 'node:path';

const require = createRequire(pathToFileURL(resolve(process.argv[2]) + '/'));
const grpc = require('@grpc/grpc-js');
require('@grpc/grpc-js-xds').register();

const say = value => process.stdout.write(JSON.stringify(value) + '\n');

// What the library throws out of the call, the application gets and not the RPC.
const thrown = error => ({ code: 'THROWN', details: String(error.message), set_cookie: [] });

function call(channel, step) {
  try {
    return made(channel, step);
  } catch (error) {
    return thrown(error);
  }
}

function made(channel, step) {
  const metadata = new grpc.Metadata({ waitForReady: !!step.wait_for_ready });
  for (const [key, value] of step.headers ?? []) metadata.add(key, key.endsWith('-bin') ? Buffer.from(value) : value);
  const began = process.hrtime.bigint();
  return new Promise(done => {
    let cookies = [];
    const raw = x => x;
    const deadline = Date.now() + 1000 * (step.timeout ?? 5);
    const finish = answer => done({ ...answer, set_cookie: cookies, seconds: Number(process.hrtime.bigint() - began) / 1e9 });
    const under = channel.makeUnaryRequest(step.method ?? '/pkg.Service/Method', raw, raw, Buffer.alloc(0), metadata, { deadline },
      (error, reply) => finish(error
        ? { code: grpc.status[error.code] ?? String(error.code), details: error.details }
        : { code: 'OK', backend: reply.toString() }));
    under.on('metadata', initial => { cookies = initial.get('set-cookie'); });
  });
}

let channel;
const underWay = new Map();
for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const message = JSON.parse(line);
  if (!channel) {
    channel = new grpc.Client(message.uri, grpc.credentials.createInsecure(), Object.fromEntries(message.options));
    say({ client: `grpc-js-xds ${require('@grpc/grpc-js-xds/package.json').version} on grpc-js ${require('@grpc/grpc-js/package.json').version}` });
  } else if (message.pick) {
    say(await call(channel, message.pick));
  } else if (message.begin) {
    underWay.set(message.name, Array.from({ length: message.begin.count ?? 1 }, () => call(channel, message.begin)));
    say({});
  } else if (message.finish) {
    say(await Promise.all(underWay.get(message.finish)));
    underWay.delete(message.finish);
  } else {
    say({ error: 'unknown step' });
  }
}
process.exit(0);
