import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLatchkey } from "@latchkey/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { postgresStore } from "./index.js";
import {
  PATIENT,
  startServer,
  type TestServer,
  untilAnswering,
} from "./testing/postgres-server.js";

const { status, stdout } = spawnSync("pgbouncer", ["--version"], { encoding: "utf8" });
const isThere = status === 0;
if (!isThere) console.warn("\nSKIPPED: PgBouncer in transaction mode\nInstall pgbouncer.\n");

/** Since 1.21, PgBouncer prepares statements again on the connection that it passes them to. */
const knowsPreparedStatements = Number(/ 1\.(\d+)/.exec(stdout)?.[1]) >= 21;

describe.skipIf(!isThere)("PgBouncer in transaction mode", () => {
  let server: TestServer;
  let folder: string;
  let bouncer: ChildProcess;
  let url: string;

  beforeAll(async () => {
    server = await startServer({ fsync: "off" });
    folder = mkdtempSync(join(tmpdir(), "latchkey-pgbouncer-"));
    const settings = join(folder, "pgbouncer.ini");
    writeFileSync(
      settings,
      `[databases]
postgres = user=postgres host=${server.folder} dbname=postgres
[pgbouncer]
listen_addr =
unix_socket_dir = ${folder}
auth_type = any
pool_mode = transaction
default_pool_size = 2
`,
    );
    // It refuses to run as root.
    const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined;
    if (user !== undefined) chownSync(folder, user.uid, user.gid);
    bouncer = spawn("pgbouncer", ["-q", settings], { ...user, cwd: folder, stdio: "ignore" });
    url = `postgres://postgres@/postgres?host=${encodeURIComponent(folder)}&port=6432`;
    await untilAnswering(url, bouncer);
  });
  afterAll(async () => {
    const ended = once(bouncer, "exit");
    bouncer.kill("SIGKILL");
    await ended;
    rmSync(folder, { recursive: true });
    await server.remove();
  });

  test.each(knowsPreparedStatements ? [false, true] : [false])(
    "serves many connections with few: keys are made, verified at once, changed and revoked (prepared statements: %s)",
    async (preparedStatements) => {
      const store = postgresStore(url, { ...PATIENT, preparedStatements, maxConnections: 8 });
      const latchkey = createLatchkey({ store, usage: false });
      const { apiId } = await latchkey.createApi({ name: "payments" });
      const limit = { limit: 1_000, duration: 60_000 };
      const keys = await Promise.all(
        Array.from({ length: 8 }, () =>
          latchkey.createKey({ apiId, remaining: 100, ratelimit: limit, externalId: "shop" }),
        ),
      );
      const verdicts = await Promise.all(
        keys.flatMap(({ key }) => Array.from({ length: 10 }, () => latchkey.verifyKey({ key }))),
      );
      expect(verdicts.filter(({ valid }) => valid)).toHaveLength(80);
      for (const { key, keyId } of keys) {
        expect(await latchkey.getKey({ keyId })).toMatchObject({ remaining: 90 });
        await latchkey.deleteKey({ keyId });
        expect(await latchkey.verifyKey({ key })).toMatchObject({ code: "NOT_FOUND" });
      }
      const { keys: left } = await latchkey.listKeys({ apiId });
      expect(left).toEqual([]);
      await latchkey.close();
    },
  );
});
