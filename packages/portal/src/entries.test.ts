import { createServer } from "node:http";
import { jsonOf, listen } from "@latchkey/console/testing";
import type { Latchkey } from "@latchkey/core";
import express from "express";
import Fastify from "fastify";
import { Hono } from "hono";
import { describe, expect, onTestFinished, test } from "vitest";
import { createPortal as forExpress } from "./express.js";
import { createPortal as forFastify } from "./fastify.js";
import { createPortal as forFetch } from "./fetch.js";
import { createPortal as forHono } from "./hono.js";
import { createPortal as forNode } from "./node.js";
import { OWN, openLatchkey } from "./testing/fixture.js";

type Ask = (path: string, init?: RequestInit) => Promise<Response>;

const over =
  (origin: string): Ask =>
  (path, init) =>
    fetch(`${origin}${path}`, { redirect: "manual", ...init });

const PATH = "/account/keys";

/** Servers with the portal on /account/keys. */
const ENTRIES: Readonly<
  Record<string, (latchkey: Latchkey, options: { session: never }) => Promise<Ask>>
> = {
  Express: async (latchkey, options) => {
    const app = express();
    app.use(PATH, forExpress(latchkey, options));
    return over(await listen(app));
  },
  "Express behind a parser of bodies": async (latchkey, options) => {
    const app = express();
    app.use(express.json());
    app.use(PATH, forExpress(latchkey, options));
    return over(await listen(app));
  },
  Fastify: async (latchkey, options) => {
    const app = Fastify();
    app.register(forFastify(latchkey, options), { prefix: PATH });
    onTestFinished(() => app.close());
    return over(await app.listen({ port: 0, host: "127.0.0.1" }));
  },
  Hono: async (latchkey, options) => {
    const app = new Hono();
    app.all(`${PATH}/*`, forHono(latchkey, { ...options, basePath: PATH }));
    return async (path, init) => app.request(`http://host.test${path}`, init);
  },
  "node:http": async (latchkey, options) =>
    over(await listen(createServer(forNode(latchkey, { ...options, basePath: PATH })))),
  fetch: async (latchkey, options) => {
    const answer = forFetch(latchkey, { ...options, basePath: PATH });
    return (path, init) => answer(new Request(`http://host.test${path}`, init));
  },
};

test.each(Object.entries(ENTRIES))(
  "%s: a customer signs in through the host and creates a key, and no other path is answered",
  async (_, mount) => {
    const { latchkey, apiId } = await openLatchkey();
    const session = ({ headers }: Request) =>
      headers.get("cookie")?.includes("user=alice")
        ? { externalId: "alice", allow: { apiIds: [apiId], create: true } }
        : null;
    const ask = await mount(latchkey, { session: session as never });
    const headers = { ...OWN, cookie: "user=alice", "content-type": "application/json" };
    expect(
      (await ask(`${PATH}/session`, { method: "POST", headers: OWN, body: "{}" })).status,
    ).toBe(401);
    const begun = await ask(`${PATH}/session`, { method: "POST", headers, body: "{}" });
    const cookie = begun.headers.get("set-cookie")?.split(";")[0] ?? "";
    const created = await jsonOf(
      await ask(`${PATH}/keys.create`, {
        method: "POST",
        headers: { ...headers, cookie: `user=alice; ${cookie}` },
        body: '{"name":"build server"}',
      }),
    );
    expect(await latchkey.verifyKey({ key: created.body.key })).toMatchObject({
      valid: true,
      identity: { externalId: "alice" },
    });
    const large = { name: "x".repeat(1_048_577) };
    const refused = await ask(`${PATH}/keys.create`, {
      method: "POST",
      headers: { ...headers, cookie: `user=alice; ${cookie}` },
      body: new Blob([JSON.stringify(large)]).stream(),
      duplex: "half",
    } as RequestInit);
    expect(refused.status).toBe(413);
    const withoutSlash = await (await ask(PATH)).text();
    expect(withoutSlash).toContain('"./" + location.pathname.split("/").pop()');
    for (const page of [withoutSlash, await (await ask(`${PATH}/`)).text()])
      expect(page).toContain("<noscript>This page needs JavaScript.</noscript>");
    for (const path of ["nothing", "v1/keys.getKey", "app.js"])
      expect((await ask(`${PATH}/${path}`, { headers })).status, path).toBe(404);
  },
);

test.each(["/", "/account/keys/", "/konto/schlüssel", undefined])(
  "Fastify: a portal can have the prefix %s",
  async (prefix) => {
    const { latchkey } = await openLatchkey();
    const app = Fastify();
    app.register(forFastify(latchkey), { ...(prefix !== undefined && { prefix }) });
    onTestFinished(() => app.close());
    const origin = await app.listen({ port: 0, host: "127.0.0.1" });
    const url = new URL(`${prefix ?? ""}/`.replace("//", "/"), origin);
    expect(await (await fetch(url)).text()).toContain("<latchkey-keys page>");
    expect((await fetch(new URL("session", url), { headers: OWN })).status).toBe(200);
  },
);

describe("options", () => {
  test.each([undefined, {}, { session: () => null }])(
    "%j instead of a latchkey is refused",
    (latchkey) => {
      expect(() => forFetch(latchkey as never)).toThrow(
        new TypeError('"latchkey" must be the object that createLatchkey returns'),
      );
    },
  );

  test.each([
    [{ sesion: () => null }, '"sesion" is not an option'],
    [{ session: "a customer" }, '"session" must be a function'],
    [{ signInUrl: "javascript:alert()" }, '"signInUrl"'],
    [{ basePath: "keys/" }, '"basePath"'],
    [{ cookie: "a;b" }, '"cookie"'],
    [{ language: "<" }, '"language"'],
    [{ language: "en-" }, '"language"'],
    [{ title: "<b>" }, '"title"'],
    [{ texts: { title: 1 } }, '"texts"'],
    [{ variables: { "--accent": "red" } }, '"variables"'],
  ])("%j is refused by name", async (options, message) => {
    const { latchkey } = await openLatchkey();
    expect(() => forFetch(latchkey, options as never)).toThrow(message);
  });
});
