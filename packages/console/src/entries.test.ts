import { createServer } from "node:http";
import type { HostCaller } from "@latchkey/http";
import express from "express";
import Fastify from "fastify";
import { Hono } from "hono";
import { describe, expect, onTestFinished, test } from "vitest";
import { createConsole as forExpress } from "./express.js";
import { createConsole as forFastify } from "./fastify.js";
import { createConsole as forFetch } from "./fetch.js";
import { createConsole as forHono } from "./hono.js";
import { createConsole as forNode } from "./node.js";
import { jsonOf, listen, OWN, openLatchkey } from "./testing/fixture.js";

type Ask = (path: string, init?: RequestInit) => Promise<Response>;

const authenticate = ({ headers }: Request): HostCaller | null =>
  headers.get("cookie") === "user=alice"
    ? { workspaceId: "ws_default", permissions: ["*"], actor: "alice" }
    : null;

const over =
  (origin: string): Ask =>
  (path, init) =>
    fetch(`${origin}${path}`, { redirect: "manual", ...init });

const options = { authenticate, rootKeys: true };

/** Servers with the console on /ops/console. */
const ENTRIES: Readonly<Record<string, () => Promise<Ask>>> = {
  Express: async () => {
    const app = express();
    app.use("/ops/console", forExpress(openLatchkey(), options));
    return over(await listen(app));
  },
  "Express behind a parser of bodies": async () => {
    const app = express();
    app.use(express.json());
    app.use("/ops/console", forExpress(openLatchkey(), options));
    return over(await listen(app));
  },
  "Express in a router": async () => {
    const app = express();
    const router = express.Router();
    router.use("/console", forExpress(openLatchkey(), options));
    app.use("/ops", router);
    return over(await listen(app));
  },
  Fastify: async () => {
    const app = Fastify();
    app.register(forFastify(openLatchkey(), options), { prefix: "/ops/console" });
    onTestFinished(() => app.close());
    return over(await app.listen({ port: 0, host: "127.0.0.1" }));
  },
  Hono: async () => {
    const app = new Hono();
    app.all("/ops/console/*", forHono(openLatchkey(), { ...options, basePath: "/ops/console" }));
    return async (path, init) => app.request(`http://ops.test${path}`, init);
  },
  "node:http": async () => {
    const listener = forNode(openLatchkey(), { ...options, basePath: "/ops/console" });
    return over(await listen(createServer(listener)));
  },
  fetch: async () => {
    const answer = forFetch(openLatchkey(), { ...options, basePath: "/ops/console" });
    return (path, init) => answer(new Request(`http://ops.test${path}`, init));
  },
};

describe.each(Object.entries(ENTRIES))("%s", (_, mount) => {
  const headers = { ...OWN, cookie: "user=alice", "content-type": "application/json" };

  test("lets the browser add the missing slash to the path, because only the browser knows the address", async () => {
    const ask = await mount();
    const response = await ask("/ops/console");
    expect(response.status).toBe(200);
    expect(response.headers.get("content-security-policy")).toMatch(
      /^default-src 'none'; script-src 'sha256-/,
    );
    const page = await response.text();
    expect(page).toContain('"./" + location.pathname.split("/").pop()');
    expect(page).toContain("<noscript>The console needs JavaScript.</noscript>");
  });

  test("passes the host's own request to authenticate, and returns a session", async () => {
    const ask = await mount();
    const nobody = await jsonOf(await ask("/ops/console/session", { headers: OWN }));
    expect(nobody).toMatchObject({ status: 200, body: { signIn: "host" } });
    const { body } = await jsonOf(await ask("/ops/console/session", { headers }));
    expect(body).toMatchObject({ signIn: "host", actor: "alice" });
  });

  test("executes operations with a query and with a body", async () => {
    const ask = await mount();
    const created = await ask("/ops/console/v1/apis.createApi", {
      method: "POST",
      headers,
      body: '{"name":"maps"}',
    });
    const { apiId } = (await jsonOf(created)).body;
    const listed = await jsonOf(
      await ask(`/ops/console/v1/apis.getApi?apiId=${apiId}`, { headers }),
    );
    expect(listed.body).toMatchObject({ id: apiId, name: "maps" });
    const task = { method: "POST", headers, body: '{"permissions":["api.*.read_api"]}' };
    expect((await ask("/ops/console/v1/rootKeys.createRootKey", task)).status).toBe(200);
  });

  test("answers no other path", async () => {
    const ask = await mount();
    for (const path of [
      "/ops/console/nothing",
      "/ops/console/v2/keys.getKey",
      "/ops/console/v1/docs",
      "//ops.test/ops/console",
      "//ops.test/ops/console/",
    ])
      expect((await ask(path, { headers })).status, path).toBe(404);
  });
});

test.each(Object.entries(ENTRIES))(
  "%s: files are compressed if the console writes them, but not for a framework that may compress them again",
  async (name, mount) => {
    const ask = await mount();
    const response = await ask("/ops/console/", { headers: { "accept-encoding": "gzip" } });
    const isHandedOn = name === "Hono" || name === "fetch";
    expect(response.headers.get("content-encoding")).toBe(isHandedOn ? null : "gzip");
    expect(await response.text()).toContain("<title>latchkey console</title>");
  },
);

test.each([false, true])(
  "a body of more than a megabyte is a 413, in chunks: %s",
  async (isChunked) => {
    const origin = await listen(createServer(forNode(openLatchkey(), options)));
    const init = {
      method: "POST",
      headers: { ...OWN, cookie: "user=alice", "content-type": "application/json" },
      body: isChunked ? new Blob(["x".repeat(1_048_577)]).stream() : "x".repeat(1_048_577),
      ...(isChunked && { duplex: "half" as const }),
    };
    expect((await fetch(`${origin}/rootKeys.createRootKey`, init)).status).toBe(413);
  },
);

test("an invalid address is a 400, and the server keeps running", async () => {
  const origin = await listen(createServer(forNode(openLatchkey(), options)));
  const { connect } = await import("node:net");
  const answer = await new Promise<string>((resolve) => {
    const socket = connect(Number(new URL(origin).port), "127.0.0.1");
    socket.on("data", (chunk) => resolve(String(chunk)));
    socket.write("GET http://[ HTTP/1.1\r\nHost: a\r\n\r\n");
  });
  expect(answer).toContain("400");
  expect((await fetch(`${origin}/session`, { headers: OWN })).status).toBe(200);
});
