import { Readable } from "node:stream";
import Fastify from "fastify";
import { describe, expect, onTestFinished, test } from "vitest";
import { createGuard } from "./fastify.js";
import { open } from "./testing/open.js";

const TOO_LATE = "a guard must run before the handler";

/** Results of a handler, for which Fastify runs different hooks. */
const RESULTS: Record<string, () => unknown> = {
  "an object": () => ({ tiles: 1 }),
  "a stream": () => Readable.from(["tiles"]),
  nothing: () => null,
};

/** A Fastify app with a guard as a hook, and what it logged. */
async function serving(hook: string, result: () => unknown) {
  const { latchkey, issue } = await open();
  const logged: string[] = [];
  const write = (line: string) => logged.push(line);
  const app = Fastify({ logger: { level: "error", stream: { write } } });
  onTestFinished(() => app.close());
  app.get("/", { [hook]: createGuard(latchkey)() }, async (_request, reply) => {
    await reply.send(result());
  });
  const key = await issue({ remaining: 10 });
  const { id: keyId } = await latchkey.whoami({ key });
  return {
    logged,
    visit: async (headers: Record<string, string>) =>
      (await app.inject({ url: "/", headers })).statusCode,
    key,
    remaining: async () => (await latchkey.getKey({ keyId })).remaining,
  };
}

describe("a guard of Fastify as a hook that runs after the handler", () => {
  // It sent a refusal, for which Fastify called it again, and so on until the memory was used up.
  test.each(Object.entries(RESULTS))("ends, in onSend, if that is %s", async (_name, result) => {
    const { visit } = await serving("onSend", result);
    expect(await visit({})).toBeGreaterThanOrEqual(400);
  });

  test.each(["preSerialization", "onSend"])("is an error that says so: %s", async (hook) => {
    const { visit, logged, key, remaining } = await serving(hook, () => ({ tiles: 1 }));
    expect([await visit({}), await visit({ "x-api-key": key })]).toEqual([500, 500]);
    expect(logged.join()).toContain(TOO_LATE);
    expect(await remaining()).toBe(10);
  });

  test("is logged with every response in onResponse, where it can no longer refuse, and takes nothing", async () => {
    const { visit, logged, key, remaining } = await serving("onResponse", () => ({ tiles: 1 }));
    await visit({ "x-api-key": key });
    await expect.poll(() => logged.join()).toContain(TOO_LATE);
    expect(await remaining()).toBe(10);
  });
});

test.each(["onRequest", "preParsing", "preValidation", "preHandler"])(
  "a guard of Fastify works as %s, before the handler",
  async (hook) => {
    const { visit, key, remaining } = await serving(hook, () => ({ tiles: 1 }));
    expect([await visit({}), await visit({ "x-api-key": key })]).toEqual([401, 200]);
    expect(await remaining()).toBe(9);
  },
);
