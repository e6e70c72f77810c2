import { describeWithRedis } from "@latchkey/redis/testing";
import { expect, test } from "vitest";
import { run } from "../testing/run.js";

describeWithRedis("the fleet on Redis", () => {
  test("admits exactly the limit through two servers together", async () => {
    const { exitCode, stdout } = await run("03-redis-fleet/main.mjs");
    expect(stdout).toContain("exactly the limit");
    expect(exitCode).toBe(0);
  });
});
