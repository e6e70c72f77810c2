import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { join } from "node:path";
import { createLatchkey } from "@latchkey/core";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { openStore } from "../open-store.js";
import { type RunningServer, runCli, startServer } from "../testing/run-cli.js";
import { runCommand } from "../testing/run-command.js";
import { tempFolder } from "../testing/temp-folder.js";

const running: RunningServer[] = [];

afterEach(async () => {
  for (const server of running.splice(0)) {
    server.signal("SIGKILL");
    await server.ended;
  }
});

async function start(args: readonly string[], env: Record<string, string> = {}) {
  const server = await startServer(args, env);
  running.push(server);
  return server;
}

/** A store with one key. */
async function storeWithKey() {
  const store = `sqlite:${join(tempFolder(), "keys.db")}`;
  const [token = ""] = await runCommand(["root-key", "--store", store, "--permissions", "*"]);
  const latchkey = createLatchkey({ store: openStore(store) });
  const { apiId } = await latchkey.createApi({ name: "tide-tables" });
  const { key } = await latchkey.createKey({ apiId, remaining: 10 });
  await latchkey.close();
  return { store, token, apiId, key };
}

async function post(server: RunningServer, operation: string, token: string | null, body: object) {
  const response = await fetch(`${server.url}/v1/${operation}`, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      ...(token !== null && { Authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

describe("latchkey serve", () => {
  test("with --notice writes an event for low uses, once they are counted", async () => {
    const { store, token, key } = await storeWithKey();
    const server = await start(["--store", store, "--notice", "--uses-below", "10"]);
    expect((await post(server, "keys.verifyKey", token, { key })).status).toBe(200);
    server.signal("SIGTERM");
    await server.ended;
    const events = await runCommand(["events", "read", "--store", store, "--types", "uses.low"]);
    expect(events.join("\n")).toContain("uses.low");
  });

  test("with --durable-usage loses no count when it is killed", async () => {
    const { store, token, key, apiId } = await storeWithKey();
    const server = await start(["--store", store, "--durable-usage"]);
    expect((await post(server, "keys.verifyKey", token, { key })).status).toBe(200);
    server.signal("SIGKILL");
    await server.ended;
    const latchkey = createLatchkey({ store: openStore(store) });
    onTestFinished(() => latchkey.close());
    const at = latchkey.now();
    const range = { start: at - 3_600_000, end: at + 3_600_000, granularity: "day" } as const;
    const { verifications } = await latchkey.getVerifications({ apiId, ...range });
    const valid = verifications.map(({ outcomes }) => outcomes.VALID ?? 0);
    expect(valid.reduce((sum, count) => sum + count)).toBe(1);
  });

  test("prints its address first, verifies over HTTP, and ends cleanly on SIGTERM", async () => {
    const { store, token, key } = await storeWithKey();
    const server = await start(["--store", store]);
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);

    const verdict = await post(server, "keys.verifyKey", token, { key });
    expect(verdict).toMatchObject({
      status: 200,
      body: { valid: true, code: "VALID", remaining: 9 },
    });
    expect((await post(server, "keys.verifyKey", null, { key })).status).toBe(401);

    server.signal("SIGTERM");
    expect(await server.ended).toEqual({ exitCode: 0, stdout: `${server.url}\n`, stderr: "" });
  });

  test("ends cleanly on SIGINT too", async () => {
    const server = await start(["--store", "memory:"]);
    server.signal("SIGINT");
    expect(await server.ended).toMatchObject({ exitCode: 0, stderr: "" });
  });

  test.each(["memory:", "sqlite::memory:"])(
    "on %s the second line is a root key with all permissions",
    async (store) => {
      const server = await start(["--store", store]);
      const token = await server.line(1);
      const { status } = await post(server, "keys.verifyKey", token, { key: "unknown" });
      expect(status).toBe(200);
    },
  );

  test("--public-verify lets a key be verified without a root key", async () => {
    const { store, key } = await storeWithKey();
    const server = await start(["--store", store, "--public-verify"]);
    expect(await post(server, "keys.verifyKey", null, { key })).toMatchObject({
      status: 200,
      body: { valid: true },
    });
  });

  test("--docs-base-url goes into error bodies", async () => {
    const server = await start(["--store", "memory:", "--docs-base-url", "https://docs.invalid/e"]);
    const { body } = await post(server, "keys.verifyKey", null, { key: "unknown" });
    expect(JSON.stringify(body)).toContain("https://docs.invalid/e");
  });

  test("after another process disables the workspace, the next request is refused", async () => {
    const { store, token, key } = await storeWithKey();
    const server = await start(["--store", store]);
    expect((await post(server, "keys.verifyKey", token, { key })).body).toMatchObject({
      valid: true,
    });

    await runCommand(["workspace", "disable", "ws_default", "--store", store]);
    expect(await post(server, "keys.verifyKey", token, { key })).toMatchObject({
      status: 403,
      body: { error: { code: "FORBIDDEN" } },
    });

    await runCommand(["workspace", "enable", "ws_default", "--store", store]);
    expect((await post(server, "keys.verifyKey", token, { key })).body).toMatchObject({
      valid: true,
    });
  });

  test.each([
    ["SIGTERM", 1],
    ["SIGINT", 1],
    // Twice: when a terminal closes, it may come from the shell and from the system.
    ["SIGHUP", 2],
  ] as const)("a request in flight at %s is answered before the end", async (signal, times) => {
    const { store, token, key } = await storeWithKey();
    const server = await start(["--store", store]);
    const { socket, finish } = await halfSent(server, token, key);
    for (let sent = 0; sent < times; sent += 1) {
      server.signal(signal);
      await refusesConnections(server);
    }
    const answer = await finish();
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    // Or the client would send its next request to nobody.
    expect(answer).toMatch(/^Connection: close\r$/im);
    expect(answer).toContain('"code":"VALID"');
    expect(await server.ended).toMatchObject({ exitCode: 0, stderr: "" });
    socket.destroy();
  });

  test("a request that never ends delays the end by at most --drain", async () => {
    const { store, token, key } = await storeWithKey();
    const server = await start(["--store", store, "--drain", "0"]);
    const { socket } = await halfSent(server, token, key);
    server.signal("SIGTERM");
    expect(await server.ended).toMatchObject({ exitCode: 0, stderr: "" });
    socket.destroy();
  });

  test("a port in use is one clear line and exit code 1", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void other.close());
    const { port } = other.address() as AddressInfo;
    expect(await runCli(["serve", "--store", "memory:", "--port", String(port)])).toEqual({
      exitCode: 1,
      stdout: "",
      stderr: `latchkey: cannot listen on 127.0.0.1 port ${port}: the port is in use\n`,
    });
  });
});

/** Sends the head of a verification and half of its body. `finish` sends the rest and returns the whole response. */
async function halfSent(server: RunningServer, token: string, key: string) {
  const { hostname, port } = new URL(server.url);
  const body = JSON.stringify({ key });
  const socket: Socket = connect({ host: hostname, port: Number(port) });
  let received = "";
  socket.setEncoding("utf8").on("data", (text) => {
    received += text;
  });
  socket.on("error", () => {});
  const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()));
  // The server answers "100 Continue" once it has received the head.
  const taken = new Promise<void>((resolve) => socket.once("data", () => resolve()));
  socket.write(
    [
      "POST /v1/keys.verifyKey HTTP/1.1",
      `Host: ${hostname}`,
      `Authorization: Bearer ${token}`,
      "Content-Type: application/json",
      `Content-Length: ${Buffer.byteLength(body)}`,
      "Expect: 100-continue",
      "",
      "",
    ].join("\r\n"),
  );
  await taken;
  received = "";
  socket.write(body.slice(0, 5));
  return {
    socket,
    finish: async () => {
      socket.write(body.slice(5));
      await closed;
      return received;
    },
  };
}

/** Resolves once the server accepts no more connections. */
async function refusesConnections(server: RunningServer): Promise<void> {
  const { hostname, port } = new URL(server.url);
  for (;;) {
    const isRefused = await new Promise<boolean>((resolve) => {
      const probe = connect({ host: hostname, port: Number(port) });
      probe.on("connect", () => resolve(false)).on("error", () => resolve(true));
      probe.on("close", () => probe.destroy());
      probe.on("connect", () => probe.destroy());
    });
    if (isRefused) return;
  }
}
