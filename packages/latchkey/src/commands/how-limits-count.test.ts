import { describe, expect, test } from "vitest";
import { cliStore } from "../testing/cli-store.js";

describe("how a limit counts", () => {
  test("is given after the span, and shown the same way", async () => {
    const { run, json } = cliStore();
    const [{ apiId } = { apiId: "" }] = await json("apis create --name payments");
    for (const [given, figures, shown = given] of [
      ["100/1m:sliding", { algorithm: "sliding" }],
      ["100/1m:burst=20", { algorithm: "token-bucket", burst: 20 }],
      ["100/1m:token-bucket", { algorithm: "token-bucket" }],
      ["100/1m:concurrent", { algorithm: "concurrent" }],
      ["100/1m:shadow", { shadow: true }],
      ["100/1m:fixed", {}, "100/1m"],
      [
        "100/1m:shadow:token-bucket:burst=7",
        { algorithm: "token-bucket", burst: 7, shadow: true },
        "100/1m:burst=7:shadow",
      ],
    ] as const) {
      const options = `--ratelimit ${given} --ratelimits a=${given}:auto,b=${given}`;
      const [{ keyId } = { keyId: "" }] = await json(`keys create ${apiId} ${options}`);
      const limit = { limit: 100, duration: 60_000, ...figures };
      expect(await json(`keys get ${keyId}`)).toMatchObject([
        {
          ratelimits: [
            { name: "default", ...limit },
            { name: "a", ...limit, autoApply: true },
            { name: "b", ...limit, autoApply: false },
          ],
        },
      ]);
      expect((await run(`keys get ${keyId}`)).stdout).toContain(
        `\nratelimits\tdefault=${shown},a=${shown},b=${shown}\n`,
      );
    }
  });

  test.each([
    [
      "keys update key_1 --ratelimit 10/1m:leaky",
      "--ratelimit: what follows the span must be fixed, sliding, token-bucket, concurrent, burst=units or shadow",
    ],
    [
      "keys update key_1 --ratelimit 10/1m:auto",
      "--ratelimit: what follows the span must be fixed, sliding, token-bucket, concurrent, burst=units or shadow",
    ],
    [
      "keys update key_1 --ratelimit 10/1m:sliding:fixed",
      "--ratelimit: what follows the span must not be given twice",
    ],
    [
      "keys update key_1 --ratelimits a=1/1m:burst=0",
      "--ratelimits (item 1): the units of burst must be a whole number >= 1",
    ],
    [
      "keys update key_1 --ratelimit 5/2m:concurrent:shadow",
      '--ratelimit: shadow must not be given with algorithm "concurrent"',
    ],
    [
      "keys update key_1 --ratelimit 10/1m:sliding:burst=3",
      '--ratelimit: burst is only allowed with algorithm "token-bucket"',
    ],
  ])("%s is refused with the option and its bound", async (args, complaint) => {
    const { run, refuses } = cliStore();
    await run("permissions create docs.read");
    await refuses(args, complaint);
  });
});
