import { createServer } from "node:http";
import { createLatchkey } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { describe, expect, test } from "vitest";
import { createLinkConsole } from "./link-console.js";
import { jsonOf, listen, OWN, openLatchkey } from "./testing/fixture.js";

async function open() {
  let now = Date.UTC(2026, 2, 10);
  const latchkey = createLatchkey({ store: memoryStore(), clock: () => now });
  const server = createServer();
  const origin = await listen(server);
  const port = Number(new URL(origin).port);
  const { listener, link } = createLinkConsole(latchkey, { port });
  server.on("request", listener);
  const token = new URL(link).hash.replace("#sign-in=", "");
  const isIn = async (headers: Record<string, string> = {}) =>
    "permissions" in (await jsonOf(await session("GET", headers))).body;
  const session = (method: string, headers: Record<string, string> = {}) =>
    fetch(`${origin}/session`, { method, headers: { ...OWN, ...headers } });
  const signIn = async () => {
    const response = await session("POST", { authorization: `Bearer ${token}` });
    return response.headers.get("set-cookie")?.split(";")[0] ?? "";
  };
  const advance = (ms: number) => {
    now += ms;
  };
  return { latchkey, origin, port, link, token, session, isIn, signIn, advance };
}

describe("the link of a standalone console", () => {
  test("has the loopback address, with a token in the fragment, which no browser sends", async () => {
    const { link, port } = await open();
    expect(link).toMatch(new RegExp(`^http://127\\.0\\.0\\.1:${port}/#sign-in=[A-Za-z0-9_-]{43}$`));
  });

  test("signs in once, with a cookie that no script can read and no other site can send", async () => {
    const { token, session, isIn, port } = await open();
    expect(await isIn()).toBe(false);
    const response = await session("POST", { authorization: `Bearer ${token}` });
    const cookie = response.headers.get("set-cookie") ?? "";
    expect(cookie).toMatch(
      new RegExp(`^latchkey_console_${port}=[A-Za-z0-9_-]{43}; Path=/; HttpOnly; SameSite=Strict$`),
    );
    const [pair = ""] = cookie.split(";");
    const { body } = await jsonOf(await session("GET", { cookie: `other=1; ${pair}` }));
    expect(body).toMatchObject({ signIn: "link", permissions: ["*"], actor: "console" });
    expect(body.rootKeys).toBe(true);
    const again = await session("POST", { authorization: `Bearer ${token}` });
    expect([again.status, again.headers.get("set-cookie")]).toEqual([401, null]);
  });

  test("is not used up by a wrong token, and its token is not valid as a cookie", async () => {
    const { token, session, isIn, signIn, port } = await open();
    expect((await session("POST", { authorization: "Bearer wrong" })).status).toBe(401);
    expect((await session("POST")).status).toBe(401);
    expect(await isIn({ cookie: `latchkey_console_${port}=${token}` })).toBe(false);
    expect(await isIn({ cookie: await signIn() })).toBe(true);
  });

  test("signs in only one of several concurrent requests", async () => {
    const { token, session } = await open();
    const exchange = () => session("POST", { authorization: `Bearer ${token}` });
    const statuses = (await Promise.all([exchange(), exchange(), exchange()])).map(
      ({ status }) => status,
    );
    expect(statuses.sort()).toEqual([200, 401, 401]);
  });
});

describe("a sign-in", () => {
  test("can do everything in the workspace, and the audit log names its actor", async () => {
    const { origin, signIn, latchkey } = await open();
    const headers = { ...OWN, cookie: await signIn(), "content-type": "application/json" };
    const init = { method: "POST", headers, body: '{"name":"maps"}' };
    expect((await fetch(`${origin}/v1/apis.createApi`, init)).status).toBe(200);
    expect((await latchkey.listAuditEvents()).events).toMatchObject([{ actor: "console" }]);
  });

  test("ends after 12 hours, and not before", async () => {
    const { isIn, signIn, advance } = await open();
    const cookie = await signIn();
    advance(12 * 3_600_000 - 1);
    expect(await isIn({ cookie })).toBe(true);
    advance(1);
    expect(await isIn({ cookie })).toBe(false);
  });

  test("that is ended is over for everybody with the cookie", async () => {
    const { session, isIn, signIn } = await open();
    const cookie = await signIn();
    const ended = await session("DELETE", { cookie });
    expect(ended.headers.get("set-cookie")).toContain("Max-Age=0");
    expect(await isIn({ cookie })).toBe(false);
  });

  test("is useless under another host name, or from another origin", async () => {
    const { origin, signIn } = await open();
    const cookie = await signIn();
    const ask = (headers: Record<string, string>) =>
      fetch(`${origin}/session`, { headers: { ...OWN, cookie, ...headers } });
    expect((await ask({})).status).toBe(200);
    expect((await ask({ origin: "http://evil.test" })).status).toBe(421);
    expect((await ask({ "sec-fetch-site": "same-site" })).status).toBe(403);
    const { port } = new URL(origin);
    expect((await rawGet(Number(port), "evil.test")).split("\r\n")[0]).toContain("421");
  });
});

test("a console on port 80, which browsers omit from `Host` and `Origin`, answers", async () => {
  const { listener } = createLinkConsole(openLatchkey(), { port: 80 });
  const { port } = new URL(await listen(createServer(listener)));
  for (const host of ["127.0.0.1", "localhost"])
    expect((await rawGet(Number(port), host)).split("\r\n")[0]).toContain("200");
  expect((await rawGet(Number(port), "127.0.0.1:4000")).split("\r\n")[0]).toContain("421");
});

/** A GET with this `Host`, which fetch always sets by itself. */
async function rawGet(port: number, host: string): Promise<string> {
  const { connect } = await import("node:net");
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    let text = "";
    socket.on("data", (chunk) => {
      text += String(chunk);
    });
    socket.on("close", () => resolve(text));
    socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  });
}
