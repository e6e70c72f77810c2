import type { AddressInfo } from "node:net";
import express from "express";
import Fastify from "fastify";
import { expect, onTestFinished, test } from "vitest";
import { toNodeListener } from "../index.js";
import { BY_HEADER } from "../testing/by-header.js";
import { exchange, listen } from "../testing/listen.js";
import { openService, type TestService } from "../testing/open-service.js";

/** Creates a key through the mounted service, and returns status and body. */
async function createKey(service: TestService, base: string, body?: string) {
  const { apiId } = await service.latchkey.createApi({ name: "payments" });
  const response = await fetch(`${base}/v1/keys.createKey`, {
    method: "POST",
    headers: { authorization: `Bearer ${service.root}`, "content-type": "application/json" },
    body: body ?? JSON.stringify({ apiId }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever it expects there
  return { status: response.status, body: (await response.json()) as any };
}

test("in Express, under a path, next to the app's own routes", async () => {
  const service = await openService();
  const app = express();
  app.get("/hello", (_request, response) => {
    response.send("hello");
  });
  app.use("/internal/keys", toNodeListener(service.handler));
  const { origin } = await listen(app);
  expect((await createKey(service, `${origin}/internal/keys`)).status).toBe(200);
  expect((await fetch(`${origin}/internal/keys/v1/liveness`)).status).toBe(200);
  expect(await (await fetch(`${origin}/hello`)).text()).toBe("hello");
  const unknown = await fetch(`${origin}/internal/keys/v1/nowhere`);
  expect([unknown.status, unknown.headers.get("x-request-id")]).toEqual([
    404,
    expect.stringMatching(/^req_/),
  ]);
  expect((await fetch(`${origin}/v1/liveness`)).status).toBe(404);
});

test("in Express, behind a JSON parser that has read the body: its result is used and checked", async () => {
  const service = await openService();
  const app = express();
  app.use(express.json());
  app.use("/keys", toNodeListener(service.handler));
  const { origin } = await listen(app);
  expect((await createKey(service, `${origin}/keys`)).status).toBe(200);
  const refused = await createKey(service, `${origin}/keys`, '{"apiId":"x","expire":1}');
  expect([refused.status, refused.body.error.issues[0].path]).toEqual([400, "expire"]);
  const deep = `{"a":${"[".repeat(20_000)}${"]".repeat(20_000)}}`;
  expect((await createKey(service, `${origin}/keys`, deep)).status).toBe(400);
  const large = JSON.stringify({ apiId: "x".repeat(70_000) });
  expect((await createKey(service, `${origin}/keys`, large)).status).toBe(413);
});

test.each([true, false])(
  "in Express, behind a parser of forms (extended: %s), introspection uses its result and checks it",
  async (extended) => {
    const service = await openService();
    const app = express();
    app.use(express.json(), express.urlencoded({ extended }));
    app.use("/keys", toNodeListener(service.handler));
    const { origin } = await listen(app);
    const { body } = await createKey(service, `${origin}/keys`);
    const introspect = async (form: string) => {
      const response = await fetch(`${origin}/keys/v1/keys.introspect`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${service.root}`,
          "content-type": "application/x-www-form-urlencoded",
        },
        body: form,
      });
      return { status: response.status, text: await response.text() };
    };
    const found = await introspect(`token=${body.key}&token_type_hint=access_token`);
    expect([found.status, JSON.parse(found.text)]).toMatchObject([200, { active: true }]);
    for (const form of [
      "",
      "token=",
      `token=${body.key}&token=b`,
      `token=${body.key}&other=1`,
      `token[a]=${body.key}`,
      `token[]=${body.key}&token[]=b`,
    ]) {
      const { status, text } = await introspect(form);
      expect([form, status]).toEqual([form, 400]);
      expect(text).not.toContain(body.key);
    }
  },
);

test("in Express, behind a JSON parser, an empty body is 400, even if verifying is public", async () => {
  for (const options of [{}, BY_HEADER, { publicVerify: true }]) {
    const service = await openService(options);
    const app = express();
    app.use(express.json());
    app.use(toNodeListener(service.handler));
    const { port } = await listen(app);
    const answer = await exchange(
      port,
      `POST /v1/keys.verifyKey HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${service.root}\r\n` +
        "Content-Type: application/json\r\nContent-Length: 0\r\n\r\n",
    );
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('"code":"BAD_REQUEST"');
  }
});

test("in Express, behind something that drained an empty body: nothing is lost, so 400 and no report to the host", async () => {
  const errors: unknown[] = [];
  const service = await openService({ onError: (error) => errors.push(error) });
  const app = express();
  app.use((request, _response, next) => {
    request.resume().once("end", next);
  });
  app.use("/keys", toNodeListener(service.handler));
  const { origin } = await listen(app);
  expect((await createKey(service, `${origin}/keys`, "")).status).toBe(400);
  expect(errors).toEqual([]);
});

test("in Express, behind something that read the body and kept nothing: 500, and onError gets the reason", async () => {
  const errors: unknown[] = [];
  const service = await openService({ onError: (error) => errors.push(error) });
  const app = express();
  app.use((request, _response, next) => {
    request.resume().once("end", next);
  });
  app.use("/keys", toNodeListener(service.handler));
  const { origin } = await listen(app);
  expect((await createKey(service, `${origin}/keys`)).status).toBe(500);
  expect(String(errors[0])).toContain("mount latchkey before body parsers");
});

test("in Fastify, under a path, which stays in the address and is the basePath", async () => {
  const service = await openService({ basePath: "/internal/keys" });
  const listener = toNodeListener(service.handler);
  const app = Fastify();
  app.get("/hello", async () => "hello");
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", (_request, _payload, done) => done(null));
    scope.all("/internal/keys/*", (request, reply) => {
      reply.hijack();
      return listener(request.raw, reply.raw);
    });
  });
  await app.listen({ port: 0, host: "127.0.0.1" });
  onTestFinished(() => app.close());
  const origin = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  expect((await createKey(service, `${origin}/internal/keys`)).status).toBe(200);
  expect((await fetch(`${origin}/internal/keys/v1/liveness`)).status).toBe(200);
  expect(await (await fetch(`${origin}/hello`)).text()).toBe("hello");
});
