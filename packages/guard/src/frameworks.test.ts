import { memoryStore } from "@latchkey/memory";
import { describe, expect, test } from "vitest";
import { describeOnEveryStore } from "./testing/every-store.js";
import { DAY_MS, MINUTE_MS, open, type TestContext } from "./testing/open.js";
import { readList } from "./testing/read-list.js";
import { type Answer, exchange, SERVERS } from "./testing/servers.js";

const visit = (port: number, headers: Record<string, string> = {}, init: RequestInit = {}) =>
  fetch(`http://127.0.0.1:${port}/tiles`, { headers, ...init });

const bearer = (key: string) => ({ Authorization: `Bearer ${key}` });

describe.each(Object.entries(SERVERS))("a route of %s", (name, serve) => {
  test("admits a valid key, passes the verdict to the handler and sends the limits", async () => {
    const { latchkey, issue } = await open();
    const key = await issue({
      permissions: ["tiles.read"],
      ratelimit: { limit: 5, duration: MINUTE_MS },
    });
    const port = await serve({ latchkey, question: { permissions: "tiles.read" } });
    const response = await visit(port, bearer(key));
    expect(response.status).toBe(200);
    const { keyId } = (await response.json()) as Answer;
    expect(keyId).toBe((await latchkey.whoami({ key })).id);
    expect(readList(response.headers.get("ratelimit-policy") ?? "")).toEqual([
      { text: "default", parameters: { q: 5, w: 60 } },
    ]);
    expect(readList(response.headers.get("ratelimit") ?? "")).toEqual([
      { text: "default", parameters: { r: 4, t: 50 } },
    ]);
    expect((await visit(port, { "X-API-Key": key })).status).toBe(200);
  });

  test("refuses a request without a key, and does not call its handler", async () => {
    const { latchkey } = await open();
    const response = await visit(await serve({ latchkey }));
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toBe('Bearer realm="api"');
    // Nest sends a body through its platform, which adds a charset to each text.
    const charset = name.startsWith("NestJS") ? "; charset=utf-8" : "";
    expect(response.headers.get("content-type")).toBe(`application/problem+json${charset}`);
    expect(await response.json()).toEqual({
      title: "Unauthorized",
      status: 401,
      detail: "an API key is needed, in the header Authorization after Bearer, or in X-API-Key",
      code: "KEY_MISSING",
    });
  });

  test("refuses a header that is sent twice, two keys that differ, and control characters", async () => {
    const { latchkey, issue } = await open();
    const port = await serve({ latchkey });
    const [key, other] = [await issue(), await issue()];
    const lines = [
      `Authorization: Bearer ${key}\r\nAuthorization: Bearer ${key}`,
      `Authorization: Bearer ${key}\r\nAuthorization: Bearer ${other}`,
      `Authorization: Basic eDp5\r\nAuthorization: Bearer ${key}`,
      `Authorization: Basic eDp5\r\nAuthorization: Basic eDp5\r\nX-API-Key: ${key}`,
      `X-API-Key: ${key}\r\nX-API-Key: ${key}`,
      `X-API-Key: ${key}\r\nAuthorization: Bearer ${other}`,
      `X-API-Key: ${key}\ta`,
      `X-API-Key: ${key}\x85`,
      `Authorization: Bearer ${"x".repeat(513)}`,
      "Authorization: Bearer",
      "X-API-Key:",
    ];
    for (const line of lines) {
      const answer = await exchange(
        port,
        `GET /tiles HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${line}\r\n\r\n`,
      );
      expect(answer, line).toMatch(/^HTTP\/1\.1 401 /);
      expect(answer, line).toContain('"code":"KEY_MALFORMED"');
      expect(answer, line).toMatch(
        /\r\nwww-authenticate: Bearer realm="api", error="invalid_token"/i,
      );
    }
    const same = await exchange(
      port,
      `GET /tiles HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-API-Key: ${key}\r\nAuthorization: bearer  ${key}\r\n\r\n`,
    );
    expect(same).toMatch(/^HTTP\/1\.1 200 /);
  });

  test("answers 403 with the missing permissions, 429 with the time to wait, and 402 with usedUpStatus", async () => {
    const { latchkey, issue } = await open();
    const question = { permissions: "tiles.write" } as const;
    const forbidden = await visit(await serve({ latchkey, question }), bearer(await issue()));
    expect([forbidden.status, await forbidden.json()]).toEqual([
      403,
      expect.objectContaining({ code: "INSUFFICIENT_PERMISSIONS", missing: "tiles.write" }),
    ]);
    const port = await serve({ latchkey, options: { usedUpStatus: 402 } });
    const limited = bearer(await issue({ ratelimit: { limit: 1, duration: MINUTE_MS } }));
    await visit(port, limited);
    const response = await visit(port, limited);
    expect([response.status, response.headers.get("retry-after")]).toEqual([429, "50"]);
    const refill = { interval: "daily", amount: 1 } as const;
    const used = bearer(await issue({ remaining: 1, refill }));
    await visit(port, used);
    const paid = await visit(port, used);
    expect([paid.status, Number(paid.headers.get("retry-after"))]).toEqual([
      402,
      DAY_MS / 2 / 1000 - 10,
    ]);
  });

  test("answers 503 without a store, and 500 if the question names a limit that the key does not have", async () => {
    const { latchkey, issue } = await open();
    const key = await issue();
    const errors: unknown[] = [];
    const options = { onError: (error: unknown) => errors.push(error) };
    const question = { ratelimits: [{ name: "no-such-limit" }] };
    const mistaken = await visit(await serve({ latchkey, question, options }), bearer(key));
    expect(mistaken.status).toBe(500);
    expect(await mistaken.text()).not.toMatch(/limit|tiles/);
    expect(String(errors[0])).toContain("ratelimits.0.name");
    const port = await serve({ latchkey, options });
    await latchkey.close();
    const down = await visit(port, bearer(key));
    expect([down.status, down.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(errors).toHaveLength(2);
  });

  test("with an optional key, admits a request without one, with a null verdict, but none with a bad one", async () => {
    const { latchkey, issue } = await open();
    const port = await serve({ latchkey, question: { optional: true } });
    const anonymous = await visit(port);
    expect([anonymous.status, ((await anonymous.json()) as Answer).keyId]).toEqual([200, null]);
    const known = await visit(port, bearer(await issue()));
    expect(((await known.json()) as Answer).keyId).toMatch(/^key_/);
    expect((await visit(port, bearer("no-such-key"))).status).toBe(401);
  });

  test("passes on a streamed body, complete, and refuses before it has been received", async () => {
    const { latchkey, issue } = await open();
    const port = await serve({ latchkey });
    const chunks = Array.from({ length: 64 }, () => new Uint8Array(16_384));
    const stream = () =>
      new ReadableStream<Uint8Array>({
        pull: (controller) => {
          const chunk = rest.shift();
          if (chunk === undefined) controller.close();
          else controller.enqueue(chunk);
        },
      });
    const rest = [...chunks];
    const headers = { ...bearer(await issue()), "Content-Type": "application/octet-stream" };
    const response = await visit(port, headers, {
      method: "POST",
      body: stream(),
      duplex: "half",
    } as RequestInit);
    expect([response.status, ((await response.json()) as Answer).received]).toEqual([
      200,
      64 * 16_384,
    ]);
    const early = await exchange(
      port,
      "POST /tiles HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" +
        "Content-Type: application/octet-stream\r\nContent-Length: 1000000\r\n\r\nand no more than this",
    );
    expect(early).toMatch(/^HTTP\/1\.1 401 /);
  });

  test("answers HEAD without a body", async () => {
    const { latchkey } = await open();
    const response = await visit(await serve({ latchkey }), {}, { method: "HEAD" });
    expect([response.status, await response.text()]).toEqual([401, ""]);
  });

  test("restricts by the socket's address, and by a header only behind a trusted proxy", async () => {
    const { latchkey, apiId, issue } = await open();
    const key = await issue();
    await latchkey.updateApi({ apiId, ipWhitelist: ["203.0.113.7"] });
    const forwarded = (addresses: string) => ({ ...bearer(key), "X-Forwarded-For": addresses });
    const direct = await serve({ latchkey });
    expect((await visit(direct, forwarded("203.0.113.7"))).status).toBe(403);
    const proxied = await serve({ latchkey, options: { trustProxy: 1 } });
    expect((await visit(proxied, forwarded("10.0.0.1, 203.0.113.7:51234"))).status).toBe(200);
    expect((await visit(proxied, forwarded("203.0.113.7, 10.0.0.1"))).status).toBe(403);
    expect((await visit(proxied, bearer(key))).status).toBe(403);
  });
});

/** Statuses of many requests, half of them with a body: ten on each connection, pipelined. */
async function statusesOf(
  port: number,
  key: string,
  connections: number,
): Promise<readonly string[]> {
  const head = `/tiles HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\n`;
  const body = "x".repeat(1_000);
  const get = `GET ${head}\r\n`;
  const post = `POST ${head}Content-Type: text/plain\r\nContent-Length: ${body.length}\r\n`;
  const requests = `${(`${get}${post}\r\n${body}`).repeat(4)}${get}${post}Connection: close\r\n\r\n${body}`;
  const answers = await Promise.all(
    Array.from({ length: connections }, () => exchange(port, requests)),
  );
  return answers.flatMap((text) =>
    [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status as string),
  );
}

/** Sends `requests` concurrent requests with a key that has this many uses. */
async function expectExactlyTheUses(
  { latchkey, issue }: TestContext,
  serve: (typeof SERVERS)[string],
  { requests, uses }: { readonly requests: number; readonly uses: number },
): Promise<void> {
  const key = await issue({ remaining: uses });
  const statuses = await statusesOf(await serve({ latchkey }), key, requests / 10);
  const count = (status: string) => statuses.filter((one) => one === status).length;
  expect([statuses.length, count("200"), count("429")]).toEqual([requests, uses, requests - uses]);
}

describe("80 requests at once to one route", () => {
  test.each(Object.entries(SERVERS))(
    "of %s: exactly as many are admitted as the key has uses, and all others get 429",
    async (_, serve) => expectExactlyTheUses(await open(), serve, { requests: 80, uses: 47 }),
  );
});

// With one framework, because none of them depends on the kind of store.
describeOnEveryStore("200 requests at once to a route of node:http", (openStore) => {
  test("exactly as many are admitted as the key has uses, and all others get 429", async () => {
    const serve = SERVERS["node:http"] as (typeof SERVERS)[string];
    await expectExactlyTheUses(await open(openStore()), serve, { requests: 200, uses: 120 });
  });
});

test("the address of the socket restricts, if it is known", async () => {
  const { latchkey, apiId, issue } = await open(memoryStore());
  const headers = bearer(await issue());
  await latchkey.updateApi({ apiId, ipWhitelist: ["127.0.0.1"] });
  const statusOf = async (name: string, options = {}) =>
    (await visit(await (SERVERS[name] as (typeof SERVERS)[string])({ latchkey, options }), headers))
      .status;
  const unknown = ["a fetch handler", "Elysia"];
  for (const name of Object.keys(SERVERS).filter((one) => !unknown.includes(one)))
    expect([name, await statusOf(name)]).toEqual([name, 200]);
  // A web standard request has no address, so the host provides it.
  for (const name of unknown) {
    expect([name, await statusOf(name)]).toEqual([name, 403]);
    const getAddress = () => "127.0.0.1";
    expect([name, await statusOf(name, { getAddress })]).toEqual([name, 200]);
  }
});
