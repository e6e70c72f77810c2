import { createServer, type Server } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { runInNewContext } from "node:vm";
import { Cluster, Redis } from "ioredis";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { redisStore } from "../index.js";
import { errorOf, until } from "../testing/errors.js";
import { startProxy } from "../testing/proxy.js";
import { freePort, NEVER_TWICE, startServer, type TestServer } from "../testing/redis-server.js";
import { describeWithServers } from "../testing/where.js";
import { reasonOf } from "./disconnection.js";

const SECRET = "hunter2";
const coded = (code: string) => Object.assign(new Error(`${SECRET} ${code}`), { code });
const replied = (message: string, name = "hello") =>
  Object.assign(new Error(`${message} ${SECRET}`), {
    name: "ReplyError",
    command: { name, args: [SECRET] },
  });

test("an error of another realm, such as that of a test environment, tells as much", () => {
  const foreign = runInNewContext(`Object.assign(new Error("no"), { code: "ECONNREFUSED" })`);
  expect(foreign).not.toBeInstanceOf(Error);
  expect(reasonOf(foreign)).toBe(reasonOf(coded("ECONNREFUSED")));
  const reply = runInNewContext(`Object.assign(new Error("WRONGPASS no"), { name: "ReplyError" })`);
  expect(reasonOf(reply)).toBe(reasonOf(replied("WRONGPASS")));
  expect([undefined, null, 7, "ECONNREFUSED"].map(reasonOf)).toEqual([null, null, null, null]);
});

describe("the reason for a missing connection, from the error of the driver and without its text", () => {
  test.each([
    ["ENOTFOUND", "host was not found"],
    ["EAI_AGAIN", "name server"],
    ["ECONNREFUSED", "nothing listens"],
    ["ETIMEDOUT", "in time"],
    ["EHOSTUNREACH", "no route"],
    ["ECONNRESET", "rediss://"],
    ["EPROTO", "does not speak TLS"],
    ["ERR_SSL_WRONG_VERSION_NUMBER", "does not speak TLS"],
    ["DEPTH_ZERO_SELF_SIGNED_CERT", "NODE_EXTRA_CA_CERTS"],
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "NODE_EXTRA_CA_CERTS"],
    ["CERT_HAS_EXPIRED", "its certificate has expired"],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "its certificate is for another host name"],
    ["ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED", "requires a client certificate"],
    ["ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE", "the TLS handshake failed"],
    ["ENOENT", "socket"],
    ["EACCES", "socket"],
  ])("%s: %s", (code, reason) => {
    expect(reasonOf(coded(code))).toContain(reason);
    expect(reasonOf(coded(code))).toContain(`(${code})`);
    expect(reasonOf(coded(code))).not.toContain(SECRET);
  });

  test.each([
    ["WRONGPASS", "hello", "refused the user name or password"],
    ["NOAUTH", "hello", "asks for a password"],
    ["LOADING", "info", "loading"],
    ["ERR", "cluster", "not a cluster"],
    ["ERR", "hello", "maxclients"],
  ])("%s in answer to %s: %s", (word, command, reason) => {
    const error = replied(word, command);
    const ofCluster = Object.assign(new Error(SECRET), {
      name: "ClusterAllFailedError",
      lastNodeError: error,
    });
    for (const each of [error, ofCluster]) {
      expect(reasonOf(each)).toContain(reason);
      expect(reasonOf(each)).not.toContain(SECRET);
    }
  });

  test("an unknown word or code is not passed on either", () => {
    expect(reasonOf(coded(SECRET))).toBeNull();
    expect(reasonOf(replied(SECRET.toUpperCase()))).not.toMatch(/hunter/i);
    expect(reasonOf(SECRET)).toBeNull();
  });
});

describeWithServers("a store that does not get a connection says why", () => {
  let server: TestServer;
  const releases: (() => unknown)[] = [];
  beforeAll(async () => {
    server = await startServer({ requirepass: "right" });
    return () => server.remove();
  });
  afterEach(async () => {
    for (const release of releases.splice(0).toReversed()) await release();
  });

  /** Calls until the reason is known, since the first answer may come before the first error. */
  async function expectReason(target: string | Redis | Cluster, reason: RegExp): Promise<void> {
    const store = redisStore(target, { connectTimeoutMs: 50 });
    releases.push(() => store.close());
    await until(async () => {
      const error = await errorOf(store.read("ws_default", []));
      expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", outcome: "not-applied" });
      expect(error.message).not.toMatch(/wrong|nobody|127\.0|invalid/);
      return reason.test(error.message);
    });
  }

  async function listening(listener: Server): Promise<number> {
    await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
    releases.push(() => listener.close());
    const address = listener.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }

  const at = (start: string) => server.url.replace("redis://", start);

  test.each(["redis", "redis+cluster"])("%s: a wrong password", async (scheme) => {
    await expectReason(at(`${scheme}://:wrong@`), /refused the user name or password/);
  });

  test.each(["redis", "redis+cluster"])("%s: an unknown user", async (scheme) => {
    await expectReason(at(`${scheme}://nobody:wrong@`), /refused the user name or password/);
  });

  test.each(["redis", "redis+cluster"])("%s: no password", async (scheme) => {
    await expectReason(at(`${scheme}://`), /asks for a password/);
  });

  test.each(["redis", "redis+cluster"])("%s: a host that does not exist", async (scheme) => {
    await expectReason(`${scheme}://latchkey.invalid:1`, /ENOTFOUND|EAI_AGAIN/);
  });

  test("a port that nothing listens on", async () => {
    const port = await freePort();
    await expectReason(`redis://127.0.0.1:${port}`, /nothing listens/);
    await expectReason(`redis+cluster://127.0.0.1:${port}`, /no node of the cluster/);
  });

  test("a cluster that is one server", async () => {
    await expectReason(at("redis+cluster://:right@"), /Redis is not a cluster/);
  });

  test("a server that takes connections and never answers", async () => {
    const proxy = await startProxy(server.port);
    releases.push(() => proxy.close());
    proxy.stall();
    await expectReason(proxy.url, /has not answered yet/);
    // A Redis without TLS waits for the end of a line, which a TLS greeting does not have.
    await expectReason(proxy.url.replace("redis:", "rediss:"), /TLS/);
  });

  test("TLS to a server that does not speak it, and no TLS to one that does", async () => {
    const plain = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.once("data", () => socket.write("-ERR unknown command\r\n"));
      releases.push(() => socket.destroy());
    });
    await expectReason(`rediss://127.0.0.1:${await listening(plain)}`, /does not speak TLS/);
    const secure = createTlsServer({});
    await expectReason(`redis://127.0.0.1:${await listening(secure)}`, /TLS/);
  });

  test("with a client that is handed in, which keeps no listener when the store is closed", async () => {
    const port = await freePort();
    const single = new Redis({ ...NEVER_TWICE, port });
    const wrong = new Redis({ ...NEVER_TWICE, port: server.port, password: "wrong" });
    const cluster = new Cluster([{ host: "127.0.0.1", port }], {
      enableOfflineQueue: false,
      retryDelayOnFailover: 0,
      redisOptions: { maxRetriesPerRequest: 0 },
    });
    const clients = [single, wrong, cluster];
    for (const client of clients) {
      client.on("error", () => undefined);
      releases.push(() => client.disconnect());
    }
    await expectReason(single, /nothing listens/);
    await expectReason(wrong, /refused the user name or password/);
    await expectReason(cluster, /no node of the cluster/);
    for (const release of releases.splice(3).toReversed()) await release();
    expect(clients.map((client) => client.listenerCount("error"))).toEqual([1, 1, 1]);
  });
});
