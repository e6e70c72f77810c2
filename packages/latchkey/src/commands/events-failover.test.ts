import { createLatchkey } from "@latchkey/core";
import { startProxy, startServer } from "@latchkey/redis/testing";
import { expect, onTestFinished, test } from "vitest";
import { openStore } from "../open-store.js";
import { cliStore } from "../testing/cli-store.js";
import { runInProcess } from "../testing/run-in-process.js";

test("latchkey events read --follow waits for a store that is away, and says so once", async () => {
  const server = await startServer();
  onTestFinished(() => server.remove());
  const link = await startProxy(server.port);
  onTestFinished(() => link.close());
  const latchkey = createLatchkey({ store: openStore(server.url) });
  onTestFinished(() => latchkey.close());
  await latchkey.createApi({ name: "maps" });
  const said: string[] = [];
  let last = "";
  let pauses = 0;
  const pause = async () => {
    pauses += 1;
    if (pauses === 1) link.leadTo(null);
    if (pauses === 3) {
      await latchkey.createApi({ name: "tides" });
      link.leadTo(server.port);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
    return !last.includes("tides");
  };
  const { exitCode, stderr } = await runInProcess(
    ["events", "read", "--follow", "--json"],
    { LATCHKEY_STORE: link.url },
    {
      pause,
      print: (line) => {
        last = line;
      },
      warn: (line) => said.push(line),
    },
  );
  expect([exitCode, stderr]).toEqual([0, ""]);
  expect(said).toEqual([
    expect.stringMatching(/; waiting for it$/),
    expect.stringMatching(/^cursor /),
  ]);
  expect(JSON.parse(last)).toMatchObject({ changes: [{ after: "tides" }] });
});

test("latchkey events read prints the cursor if it fails after it has read", async () => {
  const { run, url } = cliStore();
  await run("apis create --name maps");
  let now = Date.UTC(2032, 0, 1);
  const latchkey = createLatchkey({ store: openStore(url), clock: () => now });
  onTestFinished(() => latchkey.close());
  const pause = async () => {
    await latchkey.createApi({ name: "tides" });
    now += 1_000;
    await latchkey.pruneAuditEvents({ before: now });
    await latchkey.createApi({ name: "gates" });
    return true;
  };
  const { exitCode, stdout, stderr } = await run("events read --follow", { pause });
  expect([exitCode, stdout.match(/api\.created/g)]).toEqual([1, ["api.created"]]);
  expect(stderr).toMatch(
    /^latchkey: cursor \S+\nlatchkey: events that follow this cursor were pruned/,
  );
});
