import { createServer, IncomingMessage, ServerResponse } from "node:http";
import { connect } from "node:net";
import { memoryStore } from "@latchkey/memory";
import { describe, expect, test } from "vitest";
import { toNodeListener } from "../index.js";
import { BY_HEADER } from "../testing/by-header.js";
import { exchange, listen } from "../testing/listen.js";
import { openService } from "../testing/open-service.js";

/** Both ways through node:http: without Request, and over the bridge, if a host authenticates. */
const WAYS = [
  { way: "root keys", options: {} },
  { way: "a host's own authentication", options: BY_HEADER },
] as const;

/** A signal that is given once, and can be awaited. */
function signal() {
  let give = () => {};
  const given = new Promise<void>((resolve) => {
    give = resolve;
  });
  return { given, give: () => give() };
}

describe.each(WAYS)("over a socket, with $way", ({ options }) => {
  async function open() {
    const service = await openService({ ...options, maxBodyBytes: 1_000 });
    const { apiId } = await service.latchkey.createApi({ name: "payments" });
    const { port, origin } = await listen(toNodeListener(service.handler));
    const credentials = { authorization: `Bearer ${service.root}`, "x-permissions": '["*"]' };
    const lines = Object.entries(credentials)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join("");
    return { service, apiId, port, origin, credentials, lines };
  }

  const post = (lines: string, body: string, more = "") =>
    `POST /v1/keys.createKey HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${lines}Content-Type: application/json\r\n` +
    `${more}Content-Length: ${body.length}\r\n\r\n${body}`;

  test("operations respond as they do through a Request", async () => {
    const { service, apiId, origin, credentials } = await open();
    const headers = { ...credentials, "content-type": "application/json" };
    const created = await fetch(`${origin}/v1/keys.createKey`, {
      method: "POST",
      headers,
      body: JSON.stringify({ apiId, name: "é" }),
    });
    expect(created.status).toBe(200);
    expect(created.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(created.headers.get("x-request-id")).toMatch(/^req_/);
    expect(Number(created.headers.get("content-length"))).toBeGreaterThan(0);
    const { keyId } = (await created.json()) as { keyId: string };
    const read = await fetch(`${origin}/v1/keys.getKey?keyId=${keyId}`, { headers });
    const shown = await service.latchkey.getKey({ keyId });
    expect(await read.json()).toEqual(shown);
    expect(shown.name).toBe("é");
    expect((await fetch(`${origin}/v1/liveness`)).status).toBe(200);
    expect((await fetch(`${origin}/v1/nowhere`)).status).toBe(404);
    expect(
      (await fetch(`${origin}/v1/keys.getKey`, { method: "DELETE" })).headers.get("allow"),
    ).toBe("GET");
  });

  test("a chunked body is read, and refused at the limit", async () => {
    const { apiId, port, lines } = await open();
    const head = `POST /v1/keys.createKey HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${lines}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const body = JSON.stringify({ apiId });
    const whole = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    expect(await exchange(port, head, whole)).toMatch(/^HTTP\/1\.1 200 /);
    const endless = `1000\r\n${"x".repeat(0x1000)}\r\n`;
    expect(await exchange(port, head, endless, endless)).toMatch(/^HTTP\/1\.1 413 /);
  });

  test("a body that arrives turns of the event loop after its head is waited for, and read in any pieces", async () => {
    const service = await openService({ ...options, maxBodyBytes: 1_000 });
    const { apiId } = await service.latchkey.createApi({ name: "payments" });
    const listener = toNodeListener(service.handler);
    const announced = signal();
    const { port } = await listen((incoming, outgoing) => {
      announced.give();
      return listener(incoming, outgoing);
    });
    const lines = `Authorization: Bearer ${service.root}\r\nx-permissions: ["*"]\r\n`;
    const request = post(lines, JSON.stringify({ apiId }));
    const socket = connect(port, "127.0.0.1");
    let answer = "";
    socket.on("data", (chunk) => {
      answer += chunk;
    });
    socket.write(request.slice(0, -10));
    await announced.given;
    for (const piece of [request.slice(-10, -5), request.slice(-5)]) {
      for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      expect(answer).toBe("");
      socket.write(piece);
    }
    await new Promise((resolve) => socket.once("close", resolve));
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  });

  test("a body that is announced too large is refused before it arrives, and the connection is closed", async () => {
    const { port, lines } = await open();
    const head = `POST /v1/keys.createKey HTTP/1.1\r\nHost: x\r\n${lines}Content-Type: application/json\r\nContent-Length: 1073741824\r\n\r\n`;
    expect(await exchange(port, head, "x".repeat(2_000))).toMatch(/^HTTP\/1\.1 413 /);
  });

  test("an unread body does not hold up the next request of a connection", async () => {
    const { port } = await open();
    const body = "x".repeat(500);
    const refused = `POST /v1/nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\n${body}`;
    const next = "GET /v1/liveness HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    const answers = await exchange(port, refused, next);
    expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 404", "HTTP/1.1 200"]);
  });

  test("a client that disconnects in the middle of a body leaves nothing behind", async () => {
    const { service, apiId, port, origin, lines } = await open();
    const body = JSON.stringify({ apiId });
    const socket = connect(port, "127.0.0.1");
    socket.write(post(lines, body).slice(0, -5));
    await new Promise((resolve) => setImmediate(resolve));
    socket.destroy();
    await new Promise((resolve) => socket.once("close", resolve));
    expect((await fetch(`${origin}/v1/liveness`)).status).toBe(200);
    expect((await service.latchkey.listKeys({ apiId })).total).toBe(0);
  });

  test("type and encoding are checked as through a Request", async () => {
    const { port, lines } = await open();
    const answer = (more: string) => exchange(port, post(lines, "{}", more));
    expect(await answer("Content-Encoding: gzip\r\n")).toMatch(/^HTTP\/1\.1 415 /);
    expect(await answer("Content-Type: text/plain\r\n")).toMatch(/^HTTP\/1\.1 415 /);
    expect(await answer("")).toMatch(/^HTTP\/1\.1 400 /);
  });

  test("forms of the request line: absolute, without a host, with dots, asterisk", async () => {
    const { port } = await open();
    const answer = (line: string, host = "Host: x\r\n") =>
      exchange(port, `${line}\r\n${host}Connection: close\r\n\r\n`);
    expect(await answer("GET http://evil.test/v1/liveness HTTP/1.1")).toMatch(/^HTTP\/1\.1 200 /);
    expect(await answer("GET /v1/liveness HTTP/1.0", "")).toMatch(/^HTTP\/1\.1 200 /);
    expect(await answer("GET /v1/%6civeness HTTP/1.1")).toMatch(/^HTTP\/1\.1 404 /);
    expect(await answer("GET //v1/liveness HTTP/1.1")).toMatch(/^HTTP\/1\.1 404 /);
    expect(await answer("GET /x/v1/liveness HTTP/1.1")).toMatch(/^HTTP\/1\.1 404 /);
    expect(await answer("OPTIONS * HTTP/1.1")).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(await answer("HEAD /v1/liveness HTTP/1.1")).toMatch(/^HTTP\/1\.1 405 .*\r\n\r\n$/s);
  });

  test("requests that two parsers could split differently are refused by node, before they reach latchkey", async () => {
    const { port } = await open();
    const lines = "GET /v1/liveness HTTP/1.1\r\nHost: x\r\nConnection: close\r\n";
    const smuggled = [
      "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n",
      "Content-Length: 1\r\nContent-Length: 2\r\n",
    ];
    smuggled.push(
      "Transfer-Encoding: xchunked\r\n",
      "A: b\r\n folded\r\n",
      "Authorization : Bearer x\r\n",
      "A: \u0000\r\n",
    );
    for (const more of smuggled) {
      const answer = await exchange(port, `${lines}${more}\r\n`);
      expect([more, /^HTTP\/1\.1 (400|200)/.exec(answer)?.[1]]).toEqual([more, "400"]);
    }
  });

  test("the host's globals are unchanged", async () => {
    const before = [globalThis.Request, globalThis.Response];
    await open();
    expect([globalThis.Request, globalThis.Response]).toEqual(before);
  });
});

describe("a client that disconnects during authentication", () => {
  /** A listener whose authentication waits for a signal, with root keys and with a host. */
  async function open(way: "root keys" | "host") {
    const reached = signal();
    const proceed = signal();
    const memory = memoryStore();
    let waits = false;
    async function wait(): Promise<void> {
      if (!waits) return;
      reached.give();
      await proceed.given;
    }
    const store = new Proxy(memory, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== "function") return member;
        return async (...args: unknown[]) => {
          await wait();
          return Reflect.apply(member, target, args);
        };
      },
    });
    const authenticate = async (request: Request) => {
      await wait();
      return BY_HEADER.authenticate(request);
    };
    const service = await openService(way === "host" ? { authenticate } : { store });
    const { apiId } = await service.latchkey.createApi({ name: "payments" });
    const listener = toNodeListener(service.handler);
    const settled = signal();
    const left = signal();
    const { port } = await listen((incoming, outgoing) => {
      outgoing.once("close", left.give);
      listener(incoming, outgoing).then(settled.give, settled.give);
    });
    waits = true;
    return { service, apiId, port, reached, proceed, left, settled };
  }

  const head = (root: string, length: number) =>
    `POST /v1/keys.createKey HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${root}\r\nx-permissions: ["*"]\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;

  test.each([
    ["root keys", "before its body"],
    ["root keys", "after its body"],
    ["host", "before its body"],
    ["host", "after its body"],
  ] as const)(
    "with %s, %s: the listener's promise settles and nothing is created",
    async (way, when) => {
      const { service, apiId, port, reached, proceed, left, settled } = await open(way);
      const body = JSON.stringify({ apiId });
      const socket = connect(port, "127.0.0.1").on("error", () => {});
      socket.write(head(service.root, body.length) + (when === "after its body" ? body : ""));
      await reached.given;
      socket.resetAndDestroy();
      await left.given;
      proceed.give();
      await settled.given;
      expect((await service.latchkey.listKeys({ apiId })).total).toBe(0);
    },
  );
});

describe("root keys over a socket", () => {
  async function open() {
    const service = await openService();
    const { port, origin } = await listen(toNodeListener(service.handler));
    const get = (lines: string) =>
      exchange(
        port,
        `GET /v1/identities.listIdentities HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${lines}\r\n`,
      );
    return { service, port, origin, get };
  }

  test("two Authorization headers are 401, the same or not, in whatever order", async () => {
    const { service, get } = await open();
    const good = `Authorization: Bearer ${service.root}\r\n`;
    const other = "authorization: Bearer other\r\n";
    expect(await get(good)).toMatch(/^HTTP\/1\.1 200 /);
    for (const lines of [good + good, good + other, other + good, `${good}Authorization:\r\n`])
      expect(await get(lines)).toMatch(/^HTTP\/1\.1 401 /);
    expect(await get(`Authorization: Bearer ${service.root}, Bearer x\r\n`)).toMatch(
      /^HTTP\/1\.1 401 /,
    );
  });

  test("a token with bytes beyond ASCII is 401, one too long for a header is 431", async () => {
    const { port, get } = await open();
    const head = "GET /v1/identities.listIdentities HTTP/1.1\r\nHost: x\r\nConnection: close\r\n";
    const bytes = Uint8Array.from([...`${head}Authorization: Bearer `].map((c) => c.charCodeAt(0)));
    const latin1 = Uint8Array.from([0xe9, 0xff, 0x0d, 0x0a, 0x0d, 0x0a]);
    expect(await exchange(port, bytes, latin1)).toMatch(/^HTTP\/1\.1 401 /);
    expect(await get(`Authorization: Bearer ${"x".repeat(8_192)}\r\n`)).toMatch(/^HTTP\/1\.1 401 /);
    expect(await get(`Authorization: Bearer ${"x".repeat(16_384)}\r\n`)).toMatch(
      /^HTTP\/1\.1 431 /,
    );
  });

  test("a bad token is refused before its body arrives", async () => {
    const { port } = await open();
    const head =
      "POST /v1/keys.createKey HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer x\r\nContent-Length: 1000\r\n\r\n";
    expect(await exchange(port, head)).toMatch(/^HTTP\/1\.1 401 /);
  });

  test("a hundred concurrent verifications on one server charge exactly the uses that there are", async () => {
    const { service, origin } = await open();
    const { apiId } = await service.latchkey.createApi({ name: "payments" });
    const { key } = await service.latchkey.createKey({ apiId, remaining: 40 });
    const verify = async () => {
      const response = await fetch(`${origin}/v1/keys.verifyKey`, {
        method: "POST",
        headers: { authorization: `Bearer ${service.root}`, "content-type": "application/json" },
        body: JSON.stringify({ key }),
      });
      return ((await response.json()) as { code: string }).code;
    };
    const codes = await Promise.all(Array.from({ length: 100 }, verify));
    expect(codes.filter((code) => code === "VALID")).toHaveLength(40);
    expect(codes.filter((code) => code === "USAGE_EXCEEDED")).toHaveLength(60);
  });
});

describe.each([...WAYS, { way: "verifying in public", options: { publicVerify: true } }])(
  "a request of a serverless platform, with $way",
  ({ options }) => {
    /** A request as serverless-http builds it: headers by name, none raw, the body in place, and no connection. */
    function requestOf(path: string, named: Record<string, string>, body: string): IncomingMessage {
      const request = new IncomingMessage({ readable: false, remoteAddress: "192.0.2.7" } as never);
      const headers = { ...named, "content-length": Buffer.byteLength(body) };
      const version = { httpVersion: "1.1", httpVersionMajor: "1", httpVersionMinor: "1" };
      const bytes = Buffer.from(body);
      Object.assign(request, { complete: true, ...version, method: "POST", headers, body: bytes });
      request.url = path;
      request._read = () => {
        request.push(bytes);
        request.push(null);
      };
      return request;
    }

    test("is read by its headers by name", async () => {
      const { handler, latchkey, root } = await openService(options);
      const { apiId } = await latchkey.createApi({ name: "payments" });
      const listener = toNodeListener(handler);
      const ask = async (named: Record<string, string>) => {
        const headers = { host: "x", "content-type": "application/json", ...named };
        const request = requestOf("/v1/keys.createKey", headers, JSON.stringify({ apiId }));
        const response = new ServerResponse(request);
        await listener(request, response);
        return response.statusCode;
      };
      const credentials = { authorization: `Bearer ${root}`, "x-permissions": '["*"]' };
      expect(await ask(credentials)).toBe(200);
      expect([401, 403]).toContain(await ask({}));
      expect(await ask({ ...credentials, "content-type": "text/plain" })).toBe(415);
    });
  },
);

test("a handler that createHandler did not create works, too", async () => {
  const { origin } = await listen(toNodeListener(async () => new Response("theirs")));
  expect(await (await fetch(origin)).text()).toBe("theirs");
});

test("a malformed address is 400 with latchkey's message, if a Request is needed", async () => {
  const service = await openService(BY_HEADER);
  const { port } = await listen(createServer(toNodeListener(service.handler)));
  const answer = await exchange(
    port,
    "GET /v1/liveness HTTP/1.1\r\nHost: a b<>\r\nConnection: close\r\n\r\n",
  );
  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(answer).toContain('"code":"BAD_REQUEST"');
});
