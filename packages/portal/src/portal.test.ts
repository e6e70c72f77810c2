import { jsonOf } from "@latchkey/console/testing";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createPortalClient } from "./client.js";
import { createPortal } from "./fetch.js";
import { OWN, openLatchkey } from "./testing/fixture.js";
import { ENGLISH, GERMAN } from "./texts.js";

const ORIGIN = "https://host.test";

async function setUp(isByHost = true) {
  let now = Date.UTC(2026, 2, 10, 12);
  const { latchkey, apiId } = await openLatchkey(undefined, () => now);
  let user: string | null = "alice";
  let actor: string | undefined;
  const allow = { apiIds: [apiId], create: true, rotate: true, revoke: true };
  const session = () => (user === null ? null : { externalId: user, actor, allow });
  const errors: unknown[] = [];
  const answer = createPortal(latchkey, {
    ...(isByHost && { session }),
    onError: (error) => errors.push(error),
  });
  let cookie = "";
  const ask = async (method: string, path: string, body?: object, headers = {}) => {
    const init = {
      method,
      headers: { ...OWN, cookie, ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    };
    const response = await answer(new Request(`${ORIGIN}/${path}`, init));
    const set = response.headers.get("set-cookie");
    if (set !== null) cookie = set.split(";")[0] ?? "";
    return { ...(await jsonOf(response)), set };
  };
  return {
    latchkey,
    apiId,
    allow,
    answer,
    ask,
    errors,
    signInAs: (name: string | null) => {
      user = name;
    },
    actAs: (name: string | undefined) => {
      actor = name;
    },
    advance: (ms: number) => {
      now += ms;
    },
    cookie: () => cookie,
  };
}

describe("a session", () => {
  test("is a cookie that no script can read, no other site can send and no plain connection carries", async () => {
    const { ask, cookie, latchkey } = await setUp();
    expect((await ask("GET", "session")).body).toMatchObject({ session: null, signIn: "host" });
    const { status, set, body } = await ask("POST", "session", {});
    expect(status).toBe(200);
    expect(set).toMatch(
      /^latchkey_portal=lk_portal_\w+; Path=\/; Max-Age=900; HttpOnly; SameSite=Strict; Secure$/,
    );
    expect(JSON.stringify(body)).not.toContain(cookie().split("=")[1]);
    expect(body.session).toMatchObject({ externalId: "alice", allow: { create: true } });
    expect(body.session).not.toHaveProperty("identityId");
    const { events } = await latchkey.listAuditEvents();
    expect(JSON.stringify(events)).not.toContain(cookie().split("=")[1]);
  });

  test("ends if the host no longer knows the customer, or knows another one", async () => {
    const { ask, signInAs } = await setUp();
    await ask("POST", "session", {});
    expect((await ask("GET", "keys.list")).status).toBe(200);
    signInAs("bob");
    expect((await ask("GET", "keys.list")).status).toBe(401);
    expect((await ask("GET", "session")).body.session).toBeNull();
    signInAs(null);
    expect((await ask("POST", "keys.create", { name: "x" })).status).toBe(401);
    signInAs("alice");
    expect((await ask("GET", "keys.list")).status).toBe(200);
  });

  test("belongs to the employee of the customer who is signed in", async () => {
    const { ask, actAs, latchkey } = await setUp();
    for (const employee of ["clerk-1", "clerk-2", undefined]) {
      actAs(employee);
      expect((await ask("GET", "keys.list")).status).toBe(401);
      const { body } = await ask("POST", "session", {});
      expect(JSON.stringify(body)).not.toContain("clerk");
      expect((await ask("POST", "keys.create", { name: "boat" })).status).toBe(200);
    }
    const { events } = await latchkey.listAuditEvents({});
    const actors = events.filter(({ type }) => type === "key.created").map(({ actor }) => actor);
    expect(actors.slice(0, 3)).toEqual([
      expect.stringMatching(/^portal session of id_/),
      "clerk-2",
      "clerk-1",
    ]);
  });

  test("ends when it expires, and when its owner or the host ends it", async () => {
    const { ask, advance, latchkey, cookie } = await setUp();
    await ask("POST", "session", {});
    advance(900_000);
    expect((await ask("GET", "keys.list")).status).toBe(401);
    await ask("POST", "session", {});
    const stolen = { cookie: cookie() };
    await ask("DELETE", "session");
    expect((await ask("GET", "keys.list", undefined, stolen)).status).toBe(401);
    await ask("POST", "session", {});
    await latchkey.revokePortalSession({ externalId: "alice" });
    expect((await ask("GET", "keys.list")).status).toBe(401);
  });

  test("that is started again ends the previous one", async () => {
    const { ask, cookie } = await setUp();
    await ask("POST", "session", {});
    const before = { cookie: cookie() };
    await ask("POST", "session", {});
    expect((await ask("GET", "keys.list", undefined, before)).status).toBe(401);
    expect((await ask("GET", "keys.list")).status).toBe(200);
  });

  test("starts with the secret of a link if the host has no sign-in of its own", async () => {
    const { ask, latchkey, allow } = await setUp(false);
    const { secret } = await latchkey.createPortalSession({ externalId: "alice", allow });
    expect((await ask("POST", "session", {})).status).toBe(401);
    const wrong = { authorization: `Bearer ${secret}x` };
    expect((await ask("POST", "session", {}, wrong)).status).toBe(401);
    const { body } = await ask("POST", "session", {}, { authorization: `Bearer ${secret}` });
    expect(body).toMatchObject({ session: { externalId: "alice" }, signIn: "link" });
    expect((await ask("GET", "keys.list")).status).toBe(200);
  });

  test("cannot be started with a secret if the host has a sign-in, so that nobody lands in another's session", async () => {
    const { ask, latchkey, allow, signInAs } = await setUp();
    const { secret } = await latchkey.createPortalSession({ externalId: "mallory", allow });
    const { body } = await ask("POST", "session", {}, { authorization: `Bearer ${secret}` });
    expect(body.session.externalId).toBe("alice");
    const planted = { cookie: `latchkey_portal=${secret}` };
    expect((await ask("GET", "keys.list", undefined, planted)).status).toBe(401);
    signInAs(null);
    const { status } = await ask("POST", "session", {}, { authorization: `Bearer ${secret}` });
    expect(status).toBe(401);
  });
});

describe("requests", () => {
  test.each([
    ["without the header", { "x-latchkey-portal": "" }],
    ["of another site", { "sec-fetch-site": "cross-site" }],
    ["of another subdomain", { "sec-fetch-site": "same-site" }],
  ])("%s are refused", async (_, headers) => {
    const { ask, latchkey, apiId } = await setUp();
    await ask("POST", "session", {});
    const { status } = await ask("POST", "keys.create", { name: "x" }, headers);
    expect(status).toBe(403);
    expect((await ask("POST", "session", {}, headers)).status).toBe(403);
    expect((await latchkey.listKeys({ apiId })).keys).toEqual([]);
  });

  test("with a wrong method or a body that is not JSON are refused", async () => {
    const { ask, answer, cookie } = await setUp();
    await ask("POST", "session", {});
    for (const [method, name, allow] of [
      ["GET", "keys.create", "POST"],
      ["POST", "keys.list", "GET"],
      ["PUT", "session", "GET, POST, DELETE"],
      ["POST", "", "GET, HEAD"],
    ] as const) {
      const { status, headers } = await ask(method, name, method === "GET" ? undefined : {});
      expect([name, status, headers.get("allow")]).toEqual([name, 405, allow]);
    }
    const headers = { ...OWN, cookie: cookie() };
    for (const body of ["{", "null", "[]", '"x"', ""]) {
      const request = new Request(`${ORIGIN}/keys.create`, { method: "POST", headers, body });
      expect((await answer(request)).status, body).toBe(400);
    }
  });

  test("are refused with fields and reason, and only server errors go to onError", async () => {
    const { ask, latchkey, apiId, errors } = await setUp();
    await ask("POST", "session", {});
    await latchkey.updateApi({ apiId, ceilings: { maxKeysPerIdentity: 1 } });
    await ask("POST", "keys.create", { name: "one" });
    const { status, body } = await ask("POST", "keys.create", { name: "two" });
    expect({ status, ...body.error }).toMatchObject({
      status: 412,
      reason: "above-ceiling",
      message: "You have reached the maximum number of keys: 1. Revoke one first.",
      details: { field: "externalId", limit: 1 },
    });
    const bad = await ask("POST", "keys.rename", { keyId: "key_1", name: "" });
    expect(bad.body.error.issues).toEqual([{ path: "name", message: expect.any(String) }]);
    expect(errors).toEqual([]);
    await latchkey.close();
    expect((await ask("GET", "keys.list")).status).toBe(503);
    expect(errors).toHaveLength(1);
  });

  test("that fail because of the host's allowances are a 500 without details, which go to onError", async () => {
    const { ask, allow, errors } = await setUp();
    const was = allow.apiIds;
    for (const wrong of [
      { apiIds: ["api_gone"] },
      { permissions: ["maps.secret"] },
      { creat: 1 },
    ]) {
      Object.assign(allow, wrong);
      const { status, body } = await ask("POST", "session", {});
      expect({ status, body }).toEqual({
        status: 500,
        body: {
          error: {
            code: "INTERNAL_SERVER_ERROR",
            message: "something went wrong on the server",
          },
        },
      });
      allow.apiIds = was;
      for (const name of ["permissions", "creat"]) Reflect.deleteProperty(allow, name);
    }
    expect(errors.map(String)).toEqual([
      expect.stringContaining("no such API"),
      expect.stringContaining("maps.secret"),
      expect.stringContaining("creat"),
    ]);
  });

  test("whose host calls fail are a 500 without details, which go to onError", async () => {
    const { latchkey, apiId } = await openLatchkey();
    const errors: unknown[] = [];
    const answer = createPortal(latchkey, {
      session: async () => {
        const { keyId } = await latchkey.createKey({ apiId, externalId: "bob" });
        await latchkey.deleteKey({ keyId });
        await latchkey.getKey({ keyId });
        return null;
      },
      onError: (error) => errors.push(error),
    });
    const init = { method: "POST", headers: OWN };
    const { status, body } = await jsonOf(await answer(new Request(`${ORIGIN}/session`, init)));
    expect([status, body.error.code]).toEqual([500, "INTERNAL_SERVER_ERROR"]);
    expect(errors.map(String)).toEqual(['Error: "session" of the portal failed: no such key']);
  });

  test("that are a 500 print their cause unless onError is given", async () => {
    const print = vi.spyOn(console, "error").mockImplementation(() => {});
    onTestFinished(() => print.mockRestore());
    const { latchkey } = await openLatchkey();
    const failure = new TypeError("no such table: customers");
    const answer = createPortal(latchkey, { session: () => Promise.reject(failure) });
    const init = { method: "POST", headers: OWN };
    expect((await answer(new Request(`${ORIGIN}/session`, init))).status).toBe(500);
    expect(print.mock.calls).toEqual([[failure]]);
  });

  test("are unauthorized if the host returns undefined", async () => {
    const { latchkey } = await openLatchkey();
    const answer = createPortal(latchkey, { session: (() => undefined) as never });
    const init = { method: "POST", headers: OWN };
    expect((await answer(new Request(`${ORIGIN}/session`, init))).status).toBe(401);
  });

  test("for files return the page with its policy, and the script that hosts load", async () => {
    const { answer } = await setUp();
    const page = await answer(new Request(`${ORIGIN}/`));
    expect(page.headers.get("content-security-policy")).not.toContain("unsafe");
    expect(await page.text()).toContain("<latchkey-keys page></latchkey-keys>");
    const script = await answer(new Request(`${ORIGIN}/latchkey-keys.js`));
    expect(script.headers.get("content-type")).toContain("text/javascript");
    expect((await script.text()).length).toBeGreaterThan(1_000);
  });
});

describe("the client for a page of your own", () => {
  test("uses the given fetch, and returns where a customer signs in", async () => {
    const { latchkey, apiId } = await openLatchkey();
    const answer = createPortal(latchkey, {
      session: ({ headers }) =>
        headers.get("cookie") === null ? null : { externalId: "alice", allow: { apiIds: [apiId] } },
      signInUrl: "/login",
    });
    const client = createPortalClient(ORIGIN, {
      fetch: (path, init) => answer(new Request(path, init)),
    });
    expect(await client.session()).toMatchObject({ session: null, signInUrl: "/login" });
    await expect(client.listKeys()).rejects.toMatchObject({ code: "UNAUTHORIZED" });
  });

  test("refuses a path outside of a browser", async () => {
    const client = createPortalClient("/account/keys/");
    await expect(client.session()).rejects.toThrow('"url" must be absolute outside of a browser');
  });
});

describe("texts", () => {
  test("are texts in the page, with its slash and without, and never HTML", async () => {
    const { latchkey } = await openLatchkey();
    const text = `</title></noscript><script src="app.js"></script> & &lt; 'quoted'`;
    const answer = createPortal(latchkey, {
      basePath: "/keys",
      texts: { title: text, noScript: text },
    });
    const escaped = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
    for (const path of ["/keys", "/keys/"]) {
      const page = await (await answer(new Request(ORIGIN + path))).text();
      expect(page).toContain(`<title>${escaped}</title>`);
      expect(page).toContain(`<noscript>${escaped}</noscript>`);
    }
  });

  const gaps = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(([gap]) => gap).sort();

  test("in the second language have the same placeholders as in the first, and none is left untranslated", () => {
    for (const [name, text] of Object.entries(ENGLISH))
      expect([name, gaps(GERMAN[name as keyof typeof GERMAN])]).toEqual([name, gaps(text)]);
    expect(Object.keys(GERMAN)).toEqual(Object.keys(ENGLISH));
  });
});
