import { afterAll, beforeAll, expect, test } from "vitest";
import { type Started, start } from "./start.js";

/** Starts an example that serves one guarded route, and visits it as its README says. The route gives three uses. */
export function testGuardedRoute(path: string): void {
  let server: Started;
  beforeAll(async () => {
    server = await start(path, 2, { PORT: "0", STORE_URL: "memory:" });
  });
  afterAll(async () => {
    expect(await server.stop()).toBe(0);
  });

  test("admits a valid key until its uses are gone, and nobody without one", async () => {
    const [url = "", key = ""] = server.lines;
    const visit = async (headers: Record<string, string>) => {
      const response = await fetch(url, { headers });
      return [response.status, await response.json()];
    };
    expect(await visit({})).toEqual([401, expect.objectContaining({ code: "KEY_MISSING" })]);
    const wrong = { Authorization: "Bearer no-such-key" };
    expect(await visit(wrong)).toEqual([401, expect.objectContaining({ code: "NOT_FOUND" })]);
    const right = { Authorization: `Bearer ${key}` };
    for (const usesLeft of [2, 1, 0])
      expect(await visit(right)).toEqual([
        200,
        { zoom: "7", keyId: expect.stringMatching(/^key_/), usesLeft },
      ]);
    expect(await visit(right)).toEqual([429, expect.objectContaining({ code: "USAGE_EXCEEDED" })]);
  });
}
