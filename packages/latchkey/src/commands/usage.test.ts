import { expect, test } from "vitest";
import { cliStore } from "../testing/cli-store.js";

const onStdin = (secret: string) => ({ readInput: async () => `${secret}\n` });
const TOMORROW = Date.UTC(2031, 4, 18, 14);

test("latchkey usage export prints settled rows as JSON lines, and where the next export starts", async () => {
  const { run, json } = cliStore();
  const [api] = await json("apis create --name maps");
  const [made] = await json(`keys create ${api?.apiId}`);
  for (const _ of [1, 2]) await run("verify -", onStdin(`${made?.key}`));
  const later = { clock: () => TOMORROW };
  const question = "usage export --by api --granularity hour --start 2031-05-17";
  const { stdout, stderr, exitCode } = await run(question, later);
  expect([exitCode, stderr]).toEqual([0, "latchkey: until 2031-05-18T13:00:00.000Z\n"]);
  const rows = stdout.trim().split("\n");
  expect(rows.map((row) => JSON.parse(row))).toMatchObject([
    { apiId: api?.apiId, start: Date.UTC(2031, 4, 17, 12), outcomes: { VALID: 2 }, uses: 2 },
  ]);
  expect((await run(question, later)).stdout).toBe(stdout);
});

test("latchkey usage export names unknown options", async () => {
  const { run } = cliStore();
  await run("apis create --name maps");
  const { exitCode, stderr } = await run("usage export --by nobody");
  expect(exitCode).not.toBe(0);
  expect(stderr).toContain("--by");
});
