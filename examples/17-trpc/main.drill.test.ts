import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { testRestart } from "../testing/guarded-route.js";
import { type Started, start } from "../testing/start.js";

let server: Started;
beforeAll(async () => {
  server = await start("17-trpc/main.mjs", 2, { PORT: "0", STORE_URL: "memory:" });
});
afterAll(async () => {
  expect(await server.stop()).toBe(0);
});

test("the procedure of example 17-trpc admits a valid key until its uses are gone, and nobody without one", async () => {
  const [url = "", key = ""] = server.lines;
  const visit = async (headers: Record<string, string>) => {
    const response = await fetch(url, { headers });
    return [response.status, await response.json()];
  };
  const error = (code: string, refusal: string) => ({
    error: expect.objectContaining({ data: expect.objectContaining({ code, refusal }) }),
  });
  expect(await visit({})).toEqual([401, error("UNAUTHORIZED", "KEY_MISSING")]);
  const right = { Authorization: `Bearer ${key}` };
  for (const usesLeft of [2, 1, 0])
    expect(await visit(right)).toEqual([
      200,
      { result: { data: { keyId: expect.stringMatching(/^key_/), usesLeft } } },
    ]);
  expect(await visit(right)).toEqual([429, error("TOO_MANY_REQUESTS", "USAGE_EXCEEDED")]);
});

describe("the guarded procedure of example 17-trpc", () => testRestart("17-trpc/main.mjs"));
