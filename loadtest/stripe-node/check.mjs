// Runs the payment API's own client for Node against a gateway in front of a stub, and checks three
// things: a lost answer is replayed, a request in flight is tried again, a reused key is an error.
//
//   node check.mjs GATEWAY.jar stripe-like.yaml

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Stripe from 'stripe';

const PATIENCE = 60_000;
const [jar, example] = process.argv.slice(2);

function listen(server) {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve(server.address().port));
  });
}

async function until(what, condition) {
  const end = Date.now() + PATIENCE;
  while (!(await condition())) {
    if (Date.now() > end) {
      throw new Error(`waited in vain until ${what}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

// ---- the API: counts what it executes, and answers when it is let

const api = { executed: 0, held: false, waiting: [] };

const upstream = http.createServer((request, response) => {
  request.resume().on('end', () => {
    api.executed += 1;
    const intent = { id: `pi_${api.executed}`, object: 'payment_intent', status: 'succeeded' };
    const answer = () => {
      response.setHeader('Content-Type', 'application/json');
      response.end(JSON.stringify(intent));
    };
    if (api.held) {
      api.waiting.push(answer);
    } else {
      answer();
    }
  });
});

// ---- the network between client and gateway: can lose the next answer

const network = { losesNext: false, lost: 0, port: 0 };

const wire = net.createServer((client) => {
  const server = net.connect(network.port, '127.0.0.1');
  const end = () => {
    client.destroy();
    server.destroy();
  };
  client.on('error', end).on('close', end).on('data', (bytes) => server.write(bytes));
  server.on('error', end).on('close', end).on('data', (bytes) => {
    if (network.losesNext) {
      network.losesNext = false;
      network.lost += 1;
      end();
    } else {
      client.write(bytes);
    }
  });
});

// ---- the gateway

function configuration(upstreamPort) {
  const text = readFileSync(example, 'utf8')
    .replace('listen: 0.0.0.0:8080', 'listen: 127.0.0.1:0')
    .replace('admin: 127.0.0.1:9090', 'admin: 127.0.0.1:0')
    .replace('redis://redis:6379', 'memory')
    .replace('http://api:3000', `http://127.0.0.1:${upstreamPort}`);
  return `${text}\ndrain: 1s\n`;
}

function start(folder, upstreamPort) {
  const file = join(folder, 'gateway.yaml');
  writeFileSync(file, configuration(upstreamPort));
  const gateway = spawn('java', ['-jar', jar, '--config', file]);
  process.on('exit', () => gateway.kill('SIGKILL'));
  let said = '';
  gateway.stderr.on('data', (bytes) => (said += bytes));
  const ports = new Promise((resolve, reject) => {
    gateway.stdout.on('data', (bytes) => {
      said += bytes;
      const line = /listening on http:\/\/127\.0\.0\.1:(\d+), admin on 127\.0\.0\.1:(\d+)/.exec(said);
      if (line) {
        resolve({ gateway, port: Number(line[1]), admin: Number(line[2]) });
      }
    });
    gateway.on('exit', (code) => reject(new Error(`the gateway ended with ${code}:\n${said}`)));
  });
  return ports;
}

async function refusedInFlight(admin) {
  const metrics = await (await fetch(`http://127.0.0.1:${admin}/metrics`)).text();
  return metrics
    .split('\n')
    .some((l) => /^gateway_requests_total\{.*"in_flight"/.test(l) && !l.endsWith(' 0.0'));
}

const isReplay = (intent) => intent.lastResponse.headers['idempotent-replayed'] === 'true';
const money = { amount: 2000, currency: 'eur' };

async function check(stripe, admin) {
  network.losesNext = true;
  const retried = await stripe.paymentIntents.create(money);
  assert.equal(network.lost, 1);
  assert.equal(retried.id, 'pi_1');
  assert.ok(isReplay(retried), 'the retry gets a replay');
  assert.equal(api.executed, 1);
  console.log('ok: an answer that is lost is replayed to the retry');

  const options = { idempotencyKey: 'one-operation' };
  api.held = true;
  const first = stripe.paymentIntents.create(money, options);
  await until('the API executes', () => api.executed === 2);
  const second = stripe.paymentIntents.create(money, options);
  await until('the duplicate is refused', () => refusedInFlight(admin));
  api.held = false;
  api.waiting.forEach((answer) => answer());
  assert.ok(!isReplay(await first));
  assert.ok(isReplay(await second), 'what was in flight is replayed in the end');
  assert.equal((await second).id, (await first).id);
  assert.equal(api.executed, 2);
  console.log('ok: a request in flight is tried again until it is replayed');

  await assert.rejects(stripe.paymentIntents.create({ ...money, amount: 2001 }, options), (error) => {
    assert.equal(error.type, 'StripeIdempotencyError');
    assert.equal(error.statusCode, 400);
    assert.equal(error.code, 'key_reused');
    return true;
  });
  assert.equal(api.executed, 2);
  console.log('ok: a key of another request is an error of its own kind');
}

const folder = mkdtempSync(join(tmpdir(), 'stripe-node-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const running = await start(folder, await listen(upstream));
network.port = running.port;
const stripe = new Stripe('sk_test_of_nobody', {
  host: '127.0.0.1',
  port: await listen(wire),
  protocol: 'http',
  maxNetworkRetries: 8,
});
await check(stripe, running.admin);
process.exit(0);
