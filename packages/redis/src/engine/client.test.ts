import { Cluster, Redis } from "ioredis";
import { afterEach, describe, expect, test } from "vitest";
import { redisStore } from "../index.js";

const opened: { disconnect(): void }[] = [];

afterEach(() => {
  for (const client of opened.splice(0)) client.disconnect();
});

function server(options: object): Redis {
  const client = new Redis({
    lazyConnect: true,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    ...options,
  });
  opened.push(client);
  return client;
}

function cluster(options: object): Cluster {
  const client = new Cluster([{ host: "127.0.0.1", port: 1 }], {
    lazyConnect: true,
    enableOfflineQueue: false,
    retryDelayOnFailover: 0,
    redisOptions: { maxRetriesPerRequest: 0 },
    ...options,
  });
  opened.push(client);
  return client;
}

describe("a client that is handed in", () => {
  test.each([
    ["nothing", undefined],
    ["null", null],
    ["a URL that is no text", new URL("redis://127.0.0.1:1")],
    ["options of a client", { host: "127.0.0.1" }],
  ])("is refused when it is %s", (_what, given) => {
    const open = () => redisStore(given as never);
    expect(open).toThrow(TypeError);
    expect(open).toThrow('"server" must be a text such as redis://host:6379/0, or a client');
  });

  test("is accepted if it never sends a command twice", async () => {
    for (const client of [server({}), cluster({})]) await redisStore(client).close();
  });

  test.each([
    ["maxRetriesPerRequest: 20", { maxRetriesPerRequest: 20 }],
    ["maxRetriesPerRequest: null", { maxRetriesPerRequest: null }],
    ["maxRetriesPerRequest: 1", { maxRetriesPerRequest: 1, autoResendUnfulfilledCommands: false }],
    ["enableOfflineQueue: true", { enableOfflineQueue: true }],
    ["keyPrefix", { keyPrefix: "app:" }],
    ["enableAutoPipelining: true", { enableAutoPipelining: true }],
  ])("is refused with %s, by name", (option, options) => {
    expect(() => redisStore(server(options))).toThrow(TypeError);
    expect(() => redisStore(server(options))).toThrow(option);
  });

  test.each([
    ["retryDelayOnFailover: 100", { retryDelayOnFailover: 100 }],
    ["redisOptions.maxRetriesPerRequest: undefined", { redisOptions: {} }],
    ["enableOfflineQueue: true", { enableOfflineQueue: true }],
    ['scaleReads: "slave"', { scaleReads: "slave" }],
    ["redisOptions.keyPrefix", { redisOptions: { maxRetriesPerRequest: 0, keyPrefix: "app:" } }],
    ["keyPrefix", { keyPrefix: "app:" }],
  ])("of a cluster is refused with %s, by name", (option, options) => {
    expect(() => redisStore(cluster(options as object))).toThrow(TypeError);
    expect(() => redisStore(cluster(options as object))).toThrow(option);
  });
});

describe("options", () => {
  test.each([
    ["keyPrefix", { keyPrefix: "" }],
    ["keyPrefix", { keyPrefix: "a{b" }],
    ["commandTimeoutMs", { commandTimeoutMs: 0 }],
    ["configTimeoutMs", { configTimeoutMs: 1.5 }],
    ["connectTimeoutMs", { connectTimeoutMs: Number.NaN }],
    ["waitReplicas.count", { waitReplicas: { count: 0, timeoutMs: 1 } }],
    ["allowEviction", { allowEviction: 1 }],
    ["ttl", { ttl: 1 }],
  ])("a wrong %s is named", (name, options) => {
    expect(() => redisStore(server({}), options as object)).toThrow(`"${name}"`);
  });

  test("waiting for replicas is refused for a cluster", () => {
    const waitReplicas = { count: 1, timeoutMs: 100 };
    expect(() => redisStore(cluster({}), { waitReplicas })).toThrow('"waitReplicas"');
  });
});
