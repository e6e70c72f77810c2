import { createLatchkey } from "@latchkey/core";
import { postgresStore } from "@latchkey/postgres";
import {
  ask,
  describeWithPostgres,
  duringTransaction,
  POSTGRES_URL,
  startServer,
} from "@latchkey/postgres/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runArguments } from "../src/program.js";
import { runCommand } from "../src/testing/run-command.js";
import { testHost } from "../src/testing/test-host.js";

test("latchkey migrate refuses a store without migrations", async () => {
  await expect(runCommand(["migrate", "--store", "memory:"])).rejects.toThrow(
    "--store must be postgres://",
  );
});

describeWithPostgres("latchkey migrate", () => {
  let server: Awaited<ReturnType<typeof startServer>> | undefined;
  beforeAll(async () => {
    server = POSTGRES_URL === null ? await startServer({ fsync: "off" }) : undefined;
  });
  afterAll(() => server?.remove());

  test("creates the tables for a store that does not, and may be called again", async () => {
    const url = POSTGRES_URL ?? server?.url ?? "";
    for (const _ of [1, 2])
      expect(await runCommand(["migrate", "--store", url])).toEqual(["the tables are up to date"]);
    const latchkey = createLatchkey({ store: postgresStore(url, { migrate: false }) });
    const { apiId } = await latchkey.createApi({ name: "tide-tables" });
    expect((await latchkey.getApi({ apiId })).name).toBe("tide-tables");
    await latchkey.close();
  });

  test("says that it still waits, while another transaction holds a lock on tables that it has to update", async () => {
    const url = POSTGRES_URL ?? server?.url ?? "";
    const schema = `waits_${process.pid}`;
    const args = ["migrate", "--store", url, "--schema", schema];
    await runCommand(args);
    await ask({ url }, `UPDATE ${schema}.schema_version SET version = 5`);
    const lines: string[] = [];
    const keep = (line: string) => void lines.push(line);
    let running: Promise<unknown> | undefined;
    await duringTransaction(url, `LOCK TABLE ${schema}.list IN ACCESS SHARE MODE`, async () => {
      running = runArguments(args, testHost({ env: {}, print: keep, warn: keep }));
      await expect
        .poll(() => lines, { timeout: 10_000 })
        .toEqual([
          expect.stringContaining("waiting for a lock on them that a long query or pg_dump"),
        ]);
    });
    await running;
    expect(lines[1]).toBe("the tables are up to date");
  });

  test("every command uses --schema, and a copy writes to --to-schema, with or without prepared statements", async () => {
    const store = ["--store", POSTGRES_URL ?? server?.url ?? "", "--no-prepared-statements"];
    const [from, to] = ["here", "there"].map((name) => `${name}_${process.pid}`) as [
      string,
      string,
    ];
    await runCommand(["migrate", ...store, "--schema", from]);
    await runCommand(["apis", "create", "--name", "tides", ...store, "--schema", from]);
    const [, url, unprepared] = store as [string, string, string];
    const both = ["--from", url, "--to", url, unprepared, "--schema", from, "--to-schema", to];
    await runCommand(["copy", ...both]);
    for (const schema of [from, to]) {
      const [api] = await runCommand(["apis", "list", "--json", ...store, "--schema", schema]);
      expect(JSON.parse(api ?? "")).toMatchObject({ name: "tides" });
    }
  });
});
