import type { LatchkeyEvent } from "@latchkey/core";
import { expect, test } from "vitest";
import { observed } from "./testing/observed.js";

test("metrics distinguish verifications that a lease decided without the store", async () => {
  let leased = 0;
  const onEvent = (event: LatchkeyEvent) => {
    if ("leased" in event) leased += 1;
  };
  const { latchkey, metric, key } = await observed({ leases: { ms: 10_000 }, onEvent });
  while (leased < 3) {
    await latchkey.verifyKey({ key });
    await new Promise((resolve) => setTimeout(resolve));
  }
  const { series } = await metric("latchkey.verification.duration");
  expect(series.filter(({ labels }) => labels["latchkey.leased"])).toMatchObject([{ count: 3 }]);
});
