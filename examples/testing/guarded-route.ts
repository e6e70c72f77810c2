import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
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

  testRestart(path);
}

/** Starts an example that serves one guarded route twice on the same store. */
export function testRestart(path: string): void {
  test("can be started again on the same store, and still admits the key of the first start", async () => {
    const folder = mkdtempSync(join(tmpdir(), "latchkey-route-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const env = { PORT: "0", STORE_URL: `sqlite:${join(folder, "keys.db")}` };
    const first = await start(path, 2, env);
    expect(await first.stop()).toBe(0);
    const second = await start(path, 2, env);
    const [url = ""] = second.lines;
    const statusWith = async (key = "") =>
      (await fetch(url, { headers: { Authorization: `Bearer ${key}` } })).status;
    expect(await Promise.all([first, second].map(({ lines }) => statusWith(lines[1])))).toEqual([
      200, 200,
    ]);
    expect(await second.stop()).toBe(0);
  });
}
