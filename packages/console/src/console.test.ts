import { createServer } from "node:http";
import { createDecision, type RefusedVerdict } from "@latchkey/guard";
import type { HostCaller } from "@latchkey/http";
import { createWebhooks } from "@latchkey/webhooks";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createConsole } from "./fetch.js";
import type { ConsoleOptions } from "./options.js";
import { jsonOf, listen, OWN, openLatchkey } from "./testing/fixture.js";
import { STATUSES } from "./ui/lib/checks.js";

const ALICE: HostCaller = { workspaceId: "ws_default", permissions: ["*"], actor: "alice" };

function open(options: ConsoleOptions = {}) {
  const latchkey = openLatchkey();
  const answer = createConsole(latchkey, { basePath: "/console", ...options });
  const ask = (path: string, init: RequestInit = {}) =>
    answer(
      new Request(`http://ops.test/console/${path}`, {
        ...init,
        headers: { ...OWN, ...init.headers },
      }),
    );
  return { latchkey, answer, ask };
}

const bearer = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });

describe("a root key", () => {
  test("gets its workspace and its permissions", async () => {
    const { latchkey, ask } = open();
    const permissions = ["api.*.read_api", "api.*.read_key"];
    const { key, rootKeyId } = await latchkey.createRootKey({ permissions });
    const { status, body, headers } = await jsonOf(await ask("session", bearer(key)));
    expect(status).toBe(200);
    expect(headers.get("cache-control")).toBe("no-store");
    expect(body).toEqual({
      signIn: "root-key",
      workspaceId: "ws_default",
      permissions,
      actor: rootKeyId,
      rootKeys: false,
      tasks: [],
      now: expect.any(Number),
    });
  });

  test("can do what its permissions allow over HTTP, and no more", async () => {
    const { latchkey, ask } = open();
    const { key } = await latchkey.createRootKey({ permissions: ["api.*.read_api"] });
    expect((await jsonOf(await ask("v1/apis.listApis", bearer(key)))).body).toMatchObject({
      apis: [],
    });
    const init = { method: "POST", body: '{"name":"maps"}' };
    const headers = { ...bearer(key).headers, "content-type": "application/json" };
    expect((await ask("v1/apis.createApi", { ...init, headers })).status).toBe(403);
  });

  test("that is unknown or missing learns how to sign in, and nothing else", async () => {
    const { ask } = open();
    for (const init of [{}, bearer("lk_root_unknown"), bearer("a b")]) {
      const { status, body } = await jsonOf(await ask("session", init));
      expect([status, body]).toEqual([200, { signIn: "root-key" }]);
      expect((await ask("v1/apis.listApis", init)).status).toBe(401);
    }
  });

  test("of a disabled workspace is refused as such", async () => {
    const { latchkey, ask } = open();
    const { key } = await latchkey.createRootKey({ permissions: ["*"] });
    await latchkey.setWorkspaceEnabled(false);
    const { status, body } = await jsonOf(await ask("session", bearer(key)));
    expect([status, body.error?.message]).toEqual([403, "workspace is disabled"]);
  });
});

describe("the host's authenticate", () => {
  test("decides who an operator is, in the session and in each operation", async () => {
    const { ask, latchkey } = open({
      authenticate: ({ headers }) => (headers.has("x-alice") ? ALICE : null),
    });
    const headers = { "x-alice": "1", "content-type": "application/json" };
    expect((await jsonOf(await ask("session"))).body).toEqual({ signIn: "host" });
    expect((await ask("v1/apis.listApis")).status).toBe(401);
    expect((await jsonOf(await ask("session", { headers }))).body).toMatchObject({
      signIn: "host",
      actor: "alice",
    });
    const created = await ask("v1/apis.createApi", {
      method: "POST",
      headers,
      body: '{"name":"maps"}',
    });
    expect(created.status).toBe(200);
    const { events } = await latchkey.listAuditEvents();
    expect(events).toMatchObject([{ type: "api.created", actor: "alice" }]);
  });

  test("may choose the workspace", async () => {
    const { ask } = open({ authenticate: () => ({ ...ALICE, workspaceId: "ws_northwind" }) });
    expect((await jsonOf(await ask("session"))).body.workspaceId).toBe("ws_northwind");
  });

  test("that throws is a 500 without details, which go to onError", async () => {
    const seen: unknown[] = [];
    const failure = new Error("database of users is down");
    const { ask } = open({
      authenticate: () => {
        throw failure;
      },
      onError: (error) => seen.push(error),
    });
    const { status, body } = await jsonOf(await ask("session"));
    expect(status).toBe(500);
    expect(JSON.stringify(body)).not.toContain("database");
    expect(seen).toEqual([failure]);
  });
});

test("an authenticate that returns anything but an operator or null grants nothing, and is reported", async () => {
  const odd: unknown[] = [
    undefined,
    "*",
    {},
    { workspaceId: "ws_default" },
    { workspaceId: "ws_default", permissions: "*" },
    { workspaceId: "ws_default", permissions: "api.*.read_key" },
    { workspaceId: "ws_default", permissions: [["*"]] },
    { ...ALICE, actor: 7 },
  ];
  for (const operator of odd) {
    const onError = vi.fn();
    const examine = vi.fn(async function* () {});
    const { ask } = open({ authenticate: () => operator as null, examine, onError });
    for (const path of ["session", "store.examine", "v1/apis.listApis"])
      expect((await ask(path)).status).toBe(500);
    expect(examine).not.toHaveBeenCalled();
    const error = new TypeError(
      '"authenticate" must return null or { workspaceId, permissions, actor? }',
    );
    expect(onError.mock.calls.map(([reported]) => reported)).toEqual([error, error, error]);
  }
});

test("the cause of a 500 is printed unless onError is given", async () => {
  const print = vi.spyOn(console, "error").mockImplementation(() => {});
  onTestFinished(() => print.mockRestore());
  const failure = new Error("database of users is down");
  const { ask } = open({ authenticate: () => Promise.reject(failure) });
  expect((await ask("session")).status).toBe(500);
  expect(print.mock.calls).toEqual([[failure]]);
});

describe("requests of other sites", () => {
  test("are refused without the header of the page, or if the browser marks them as such", async () => {
    const { latchkey, answer } = open({ authenticate: () => ALICE, rootKeys: true });
    for (const path of ["session", "v1/apis.listApis", "v1/rootKeys.listRootKeys"])
      for (const headers of [
        {},
        { ...OWN, "sec-fetch-site": "cross-site" },
        { ...OWN, "sec-fetch-site": "same-site" },
        { "x-latchkey-console": "0" },
      ]) {
        const request = new Request(`http://ops.test/console/${path}`, { headers });
        expect((await answer(request)).status).toBe(403);
      }
    const simple = {
      method: "POST",
      headers: { "content-type": "text/plain" },
      body: '{"permissions":["*"]}',
    };
    expect(
      (await answer(new Request("http://ops.test/console/v1/rootKeys.createRootKey", simple)))
        .status,
    ).toBe(403);
    expect((await latchkey.listRootKeys()).total).toBe(0);
  });

  test("get no permission in a response to OPTIONS", async () => {
    const { answer } = open();
    const response = await answer(
      new Request("http://ops.test/console/session", { method: "OPTIONS" }),
    );
    expect(response.status).toBe(403);
    expect(response.headers.get("access-control-allow-headers")).toBeNull();
  });

  test("with another host name are refused if the names are configured", async () => {
    const { answer } = open({ hosts: ["127.0.0.1:4000"], authenticate: () => ALICE });
    const ask = (host: string, origin?: string) =>
      answer(
        new Request("http://127.0.0.1:4000/console/session", {
          headers: { ...OWN, host, ...(origin !== undefined && { origin }) },
        }),
      );
    expect((await ask("127.0.0.1:4000")).status).toBe(200);
    expect((await ask("127.0.0.1:4000", "http://127.0.0.1:4000")).status).toBe(200);
    expect((await ask("evil.test:4000")).status).toBe(421);
    expect((await ask("127.0.0.1:4000", "http://evil.test")).status).toBe(421);
    expect((await ask("127.0.0.1:4001")).status).toBe(421);
  });
});

describe("root keys and checks of the store", () => {
  const posted = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ permissions: ["api.*.read_api"], name: "reports" }),
  };

  test("can be managed by operators with the permission, if the host allows it", async () => {
    const { ask } = open({ authenticate: () => ALICE, rootKeys: true });
    expect((await jsonOf(await ask("session"))).body.rootKeys).toBe(true);
    const created = await jsonOf(await ask("v1/rootKeys.createRootKey", posted));
    const listed = await jsonOf(await ask("v1/rootKeys.listRootKeys"));
    expect(listed.body).toMatchObject({ rootKeys: [{ name: "reports" }], total: 1 });
    expect(JSON.stringify(listed.body)).not.toContain(created.body.key);
  });

  test("are unavailable if the host does not allow them", async () => {
    const { ask } = open({ authenticate: () => ALICE });
    expect((await jsonOf(await ask("session"))).body).toMatchObject({ rootKeys: false, tasks: [] });
    for (const path of ["rootKeys.createRootKey", "v1/rootKeys.createRootKey"])
      expect((await ask(path, posted)).status).toBe(404);
  });

  test("are refused to everybody else", async () => {
    const { ask, latchkey } = open({
      authenticate: () => ({ ...ALICE, permissions: ["api.*.read_api"] }),
      rootKeys: true,
    });
    expect((await ask("v1/rootKeys.createRootKey", posted)).status).toBe(403);
    expect((await ask("v1/rootKeys.listRootKeys")).status).toBe(403);
    expect((await latchkey.listRootKeys()).total).toBe(0);
  });

  test("a check of the store returns its findings, at most 200", async () => {
    const { ask } = open({
      authenticate: () => ALICE,
      examine: async function* () {
        for (;;) yield { check: "names", state: "wrong", found: "leads nowhere" } as const;
      },
    });
    const { body: answer } = await jsonOf(await ask("store.examine"));
    expect([answer.findings.length, answer.more]).toEqual([200, true]);
  });
});

test("operators of another workspace cannot check the store, which contains all workspaces", async () => {
  const { ask } = open({
    authenticate: () => ({ ...ALICE, workspaceId: "ws_other" }),
    examine: async function* () {
      yield { check: "names", state: "wrong", found: "key_1 of ws_default" } as const;
    },
  });
  expect((await jsonOf(await ask("session"))).body.tasks).toEqual([]);
  expect((await ask("store.examine")).status).toBe(403);
});

describe("dead letters", () => {
  async function given() {
    const latchkey = openLatchkey();
    const receiver = createServer((_, response) => response.writeHead(500).end());
    const url = `${await listen(receiver)}/hooks`;
    const secret = `whsec_${Buffer.alloc(24, 7).toString("base64")}`;
    const endpoints = [{ url, types: ["api.created" as const], secret, allow: ["127.0.0.0/8"] }];
    const webhooks = createWebhooks(latchkey, { endpoints, retryForMs: 1, firstRetryMs: 1 });
    await webhooks.start();
    onTestFinished(() => webhooks.stop());
    const { apiId } = await latchkey.createApi({ name: "maps" });
    const listed = async () => (await webhooks.listDeadLetters()).deadLetters;
    await expect.poll(listed, { timeout: 60_000 }).toHaveLength(1);
    const askAs = (operator: HostCaller) => {
      const answer = createConsole(latchkey, { webhooks, authenticate: () => operator });
      return async (path: string, body?: object) => {
        const init = { ...OWN, "content-type": "application/json" };
        const sent = body && { method: "POST", body: JSON.stringify(body) };
        return jsonOf(
          await answer(new Request(`http://ops.test/${path}`, { ...sent, headers: init })),
        );
      };
    };
    return { apiId, url, askAs };
  }

  test("are listed for operators of their workspace, who can redeliver them", async () => {
    const { apiId, url, askAs } = await given();
    const ask = askAs(ALICE);
    expect((await ask("session")).body.tasks).toEqual([
      "webhooks.listDeadLetters",
      "webhooks.redeliver",
    ]);
    const { body } = await ask("webhooks.listDeadLetters");
    const [letter] = body.deadLetters;
    expect(letter).toMatchObject({ url, failure: "500", event: { resourceId: apiId } });
    const { deadLetterId } = letter;
    expect((await ask("webhooks.redeliver", { deadLetterId })).status).toBe(200);
    const unknown = await ask("webhooks.redeliver", { deadLetterId: `${deadLetterId}x` });
    expect(unknown.status).toBe(404);
    expect((await ask("webhooks.redeliver", {})).status).toBe(400);
    expect((await ask("webhooks.listDeadLetters?cursor=x")).status).toBe(400);
  });

  test("are hidden from operators of another workspace, and from those without *", async () => {
    const { askAs } = await given();
    for (const operator of [
      { ...ALICE, workspaceId: "ws_other" },
      { ...ALICE, permissions: ["api.*.read_api"] },
    ]) {
      const ask = askAs(operator);
      expect((await ask("session")).body.tasks).toEqual([]);
      expect((await ask("webhooks.listDeadLetters")).status).toBe(403);
      expect((await ask("webhooks.redeliver", { deadLetterId: "x" })).status).toBe(403);
    }
  });
});

test("a store that is down is a 503 with an error body", async () => {
  const { latchkey, ask } = open();
  const { key } = await latchkey.createRootKey({ permissions: ["*"] });
  await latchkey.close();
  for (const path of ["session", "v1/apis.listApis"]) {
    const { status, body } = await jsonOf(await ask(path, bearer(key)));
    expect([status, body.error.code]).toEqual([503, "STORE_UNAVAILABLE"]);
  }
});

test.each([
  [{ authenticate: "alice" }, '"authenticate" must be a function'],
  [{ hosts: "localhost" }, '"hosts" must be a list'],
  [{ rootKeys: 1 }, '"rootKeys" must be true or false'],
  [{ webhooks: {} }, '"webhooks" must be the object that createWebhooks'],
  [{ webhooks: null }, '"webhooks" must be the object that createWebhooks'],
  [{ examine: [] }, '"examine" must be a function'],
  [{ basePath: "console" }, '"basePath" must be empty, or like'],
  [{ autenticate: () => ALICE }, '"autenticate" is not an option of createConsole'],
  [null, '"options" must be an object'],
])("a wrong option is refused by name: %j", (options, message) => {
  expect(() => createConsole(openLatchkey(), options as ConsoleOptions)).toThrow(message);
});

test.each(Object.entries(STATUSES))(
  "the page says that a guard answers %s with %i, and a guard does",
  async (code, status) => {
    const verify = async () => ({ valid: false, code }) as RefusedVerdict;
    const decide = createDecision({
      ...openLatchkey(),
      verifier: () => verify,
    })();
    const presented = { authorization: ["Bearer pay_live_1"], apiKey: [], forwardedFor: [] };
    const decision = await decide({ ...presented, remoteAddress: null }, null);
    expect(decision).toMatchObject({ code, status });
  },
);
