import { createLatchkey } from "@latchkey/core";
import { postgresStore } from "@latchkey/postgres";
import { describeWithPostgres, POSTGRES_URL, startServer } from "@latchkey/postgres/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCommand } from "../src/testing/run-command.js";

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
