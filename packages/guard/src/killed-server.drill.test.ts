import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { createLatchkey } from "@latchkey/core";
import { sqliteStore } from "@latchkey/sqlite";
import { expect, onTestFinished, test } from "vitest";

const PROGRAM = fileURLToPath(new URL("./testing/killed-server.mjs", import.meta.url));

test("after a server is killed, its slots are free after their duration, and its reservations after the ttl, on every entry", async () => {
  const folder = mkdtempSync(join(tmpdir(), "latchkey-guard-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "keys.db");
  const openAt = (clock: () => number) => {
    const opened = createLatchkey({ store: sqliteStore(path), clock });
    onTestFinished(() => opened.close());
    return opened;
  };
  const startedAt = Date.now();
  const { createApi, createKey } = openAt(() => startedAt);
  const { apiId } = await createApi({ name: "map tiles" });

  const child = spawn(process.execPath, [PROGRAM, path], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  const ports = Object.entries(JSON.parse(String(line)) as Readonly<Record<string, number>>);
  expect(ports).toHaveLength(10);

  const parallel = {
    name: "parallel",
    limit: 1,
    duration: "30m",
    algorithm: "concurrent",
  } as const;
  const keys = await Promise.all(
    ports.map(async ([entry, port]) => {
      const { key, keyId } = await createKey({
        apiId,
        remaining: 100,
        ratelimits: [parallel],
      });
      const request = get({ port, host: "127.0.0.1", headers: { "X-API-Key": key } });
      request.on("error", () => undefined);
      const [response] = await once(request, "response");
      expect([entry, response.statusCode]).toEqual([entry, 200]);
      response.on("error", () => undefined);
      await once(response, "data");
      return { entry, key, keyId };
    }),
  );

  child.kill("SIGKILL");
  await once(child, "close");

  const killedAt = Date.now();
  for (const { entry, key, keyId } of keys) {
    let now = killedAt;
    // A latchkey's clock must never go back.
    const latchkey = openAt(() => now);
    const ask = () =>
      latchkey.verifyKey({ key, remaining: { cost: 0 }, ratelimits: [{ name: "parallel" }] });
    const code = async () => (await ask()).code;
    const left = async () => {
      const { remaining, reserved } = await latchkey.getKey({ keyId });
      return { remaining, reserved };
    };
    const { reservations } = await latchkey.listReservations({ keyId });
    const refused = await ask();
    if (refused.code !== "RATE_LIMITED") throw new Error(`${entry}: ${refused.code}`);
    const { retryAfterMs = 0 } = refused;
    expect([entry, retryAfterMs <= 30 * 60_000, await left()]).toEqual([
      entry,
      true,
      { remaining: 60, reserved: 40 },
    ]);
    now = killedAt + retryAfterMs - 1;
    expect([entry, await code()]).toEqual([entry, "RATE_LIMITED"]);
    now += 1;
    expect([entry, await code()]).toEqual([entry, "VALID"]);
    const { expiresAt } = reservations[0] as { readonly expiresAt: number };
    now = expiresAt - 1;
    expect([entry, await left()]).toEqual([entry, { remaining: 60, reserved: 40 }]);
    now += 1;
    expect([entry, await left()]).toEqual([entry, { remaining: 100 }]);
  }
});
