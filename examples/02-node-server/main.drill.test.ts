import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type Started, start } from "../testing/start.js";

let server: Started;
let url = "";
let apiId = "";
let token = "";

beforeAll(async () => {
  server = await start("02-node-server/main.mjs", 3, { PORT: "0", STORE_URL: "memory:" });
  const [address = "", api = "", root = ""] = server.lines;
  url = address;
  apiId = api.replace("API_ID=", "");
  token = root.replace("ROOT_KEY=", "");
});

afterAll(async () => {
  expect(await server.stop()).toBe(0);
});

async function manage(operation: string, body: object) {
  const response = await fetch(`${url}/v1/${operation}`, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  const answer = (await response.json()) as { keyId: string; key: string; apiId: string };
  expect(response.status, JSON.stringify(answer)).toBe(200);
  return answer;
}

async function visit(path: string, key?: string) {
  const headers = key === undefined ? {} : { Authorization: `Bearer ${key}` };
  const response = await fetch(`${url}${path}`, { headers });
  const body = (await response.json()) as Record<string, unknown>;
  return { status: response.status, body, headers: response.headers };
}

// Longer than any run, so that no window ends in between.
const century = 100 * 365 * 24 * 60 * 60 * 1000;

describe("the tide table server", () => {
  test("admits a valid key, and nobody without one", async () => {
    const { key } = await manage("keys.createKey", { apiId, prefix: "tide" });
    expect(await visit("/tides/northmouth", key)).toMatchObject({
      status: 200,
      body: { harbour: "northmouth", highWater: ["03:12", "15:41"] },
    });
    const refused = await visit("/tides/northmouth");
    expect(refused).toMatchObject({ status: 401, body: { code: "KEY_MISSING" } });
    expect(refused.headers.get("WWW-Authenticate")).toMatch(/^Bearer/);
    expect(await visit("/tides/northmouth", "tide_unknown")).toMatchObject({
      status: 401,
      body: { code: "NOT_FOUND" },
    });
  });

  test("answers 401 to a disabled key", async () => {
    const { key, keyId } = await manage("keys.createKey", { apiId });
    await manage("keys.updateKey", { keyId, enabled: false });
    expect(await visit("/tides/eastness", key)).toMatchObject({
      status: 401,
      body: { code: "DISABLED" },
    });
  });

  test("answers 403 to a key of another API, and to one without the permission", async () => {
    const other = await manage("apis.createApi", { name: "cloud-cover" });
    const stranger = await manage("keys.createKey", { apiId: other.apiId });
    expect(await visit("/tides/eastness", stranger.key)).toMatchObject({
      status: 403,
      body: { code: "FORBIDDEN" },
    });
    const plain = await manage("keys.createKey", { apiId });
    expect(await visit("/charts/eastness", plain.key)).toMatchObject({
      status: 403,
      body: { code: "INSUFFICIENT_PERMISSIONS" },
    });
  });

  test("answers 429 with the limit and when to retry", async () => {
    const ratelimit = { limit: 2, duration: century };
    const { key } = await manage("keys.createKey", { apiId, ratelimit });
    const left: (string | null)[] = [];
    for (const status of [200, 200, 429]) {
      const answer = await visit("/tides/eastness", key);
      expect(answer.status).toBe(status);
      expect(answer.headers.get("RateLimit-Policy")).toMatch(/^"default";q=2;/);
      const [, remaining = null, reset = null] =
        /r=(\d+);t=(\d+)/.exec(answer.headers.get("RateLimit") ?? "") ?? [];
      left.push(remaining);
      expect(answer.headers.get("Retry-After")).toBe(status === 200 ? null : reset);
    }
    expect(left).toEqual(["1", "0", "0"]);
  });

  test("answers 429 to a used-up key, without a time to retry", async () => {
    const { key } = await manage("keys.createKey", { apiId, remaining: 1 });
    expect(await visit("/tides/eastness", key)).toMatchObject({ body: { usesLeft: 0 } });
    const refused = await visit("/tides/eastness", key);
    expect(refused).toMatchObject({ status: 429, body: { code: "USAGE_EXCEEDED" } });
    expect(refused.headers.has("Retry-After")).toBe(false);
  });

  test("charges charts to the limit that a customer's keys share", async () => {
    const externalId = "harbour-office";
    const ratelimits = [{ name: "charts", limit: 2, duration: century }];
    await manage("identities.createIdentity", { externalId, ratelimits });
    const keys: string[] = [];
    for (const name of ["pier", "lighthouse"]) {
      const { key, keyId } = await manage("keys.createKey", { apiId, name, externalId });
      const permissions = [{ name: "charts.read", create: true }];
      await manage("keys.updateKey", { keyId, permissions });
      keys.push(key);
    }
    const [pier, lighthouse] = keys;
    expect(await visit("/charts/eastness", pier)).toMatchObject({ status: 200 });
    expect(await visit("/charts/eastness", lighthouse)).toMatchObject({ status: 200 });
    expect(await visit("/charts/eastness", pier)).toMatchObject({
      status: 429,
      body: { code: "RATE_LIMITED" },
    });
  });

  test("answers 404 for an unknown harbour without taking a use", async () => {
    const { key } = await manage("keys.createKey", { apiId, remaining: 1 });
    expect(await visit("/tides/nowhere", key)).toMatchObject({ status: 404 });
    expect(await visit("/tides/eastness", key)).toMatchObject({ status: 200 });
  });

  test("answers 404 for a path that is no URL, and goes on", async () => {
    for (const path of ["//", "//tides", "/tides//", "/%"])
      expect(await visit(path)).toMatchObject({ status: 404 });
    expect(await visit("/tides/northmouth?at=noon")).toMatchObject({ status: 401 });
  });

  test("serves the same API when it is started again on the same store", async () => {
    const folder = mkdtempSync(join(tmpdir(), "latchkey-tides-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const printed: (string | undefined)[] = [];
    for (let run = 0; run < 2; run += 1) {
      const env = { PORT: "0", STORE_URL: `sqlite:${join(folder, "keys.db")}` };
      const started = await start("02-node-server/main.mjs", 3, env);
      printed.push(started.lines[1]);
      expect(await started.stop()).toBe(0);
    }
    expect(printed[0]).toMatch(/^API_ID=api_/);
    expect(printed[1]).toBe(printed[0]);
  });
});
