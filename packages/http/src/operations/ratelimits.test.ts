import { describe, expect, test } from "vitest";
import { openService, START } from "../testing/open-service.js";

const asked = { namespace: "mail.v1", identifier: "user_1", limit: 2, duration: 60_000 };
const reset = START - (START % 60_000) + 60_000;

describe("ratelimits.limit", () => {
  test("is 200 whether there is room or not", async () => {
    const service = await openService();
    const seen = [];
    for (const cost of [1, 0, 2, 1, 1])
      seen.push(await service.ok("ratelimits.limit", { ...asked, cost }));
    expect(seen).toEqual([
      { success: true, limit: 2, remaining: 1, reset },
      { success: true, limit: 2, remaining: 1, reset },
      { success: false, limit: 2, remaining: 1, reset },
      { success: true, limit: 2, remaining: 0, reset },
      { success: false, limit: 2, remaining: 0, reset },
    ]);
    service.advance(60_000);
    expect((await service.ok("ratelimits.limit", asked)).success).toBe(true);
  });

  test("a token for one namespace takes from that one alone, whatever dots are in its name", async () => {
    const service = await openService();
    const token = await service.rootKey("ratelimit.mail.v1.limit");
    const statuses = [];
    for (const namespace of ["mail.v1", "mail", "v1", "mail.v1.limit", "mail.v2", "default"])
      statuses.push(
        (await service.call("ratelimits.limit", { ...asked, namespace }, { token })).status,
      );
    expect(statuses).toEqual([200, 403, 403, 403, 403, 403]);
    const { namespace: _, ...bare } = asked;
    const byDefault = await service.rootKey("ratelimit.default.limit");
    expect((await service.call("ratelimits.limit", bare, { token: byDefault })).status).toBe(200);
    const { body } = await service.call("ratelimits.limit", bare, { token });
    expect(body.error.message).toBe(
      "this needs ratelimit.*.limit (or ratelimit.<namespace>.limit)",
    );
  });

  test("workspaces count apart", async () => {
    const service = await openService();
    const elsewhere = service.latchkey.workspace("ws_other");
    const { key: token } = await elsewhere.createRootKey({ permissions: ["*"] });
    await service.ok("ratelimits.limit", { ...asked, cost: 2 });
    expect((await service.ok("ratelimits.limit", asked, { token })).remaining).toBe(1);
  });

  test("names the wrong field", async () => {
    const service = await openService();
    const { status, body } = await service.call("ratelimits.limit", {
      namespace: "*",
      identifier: "",
      limit: 0,
      duration: 0,
      cost: -1,
      burst: 1,
    });
    expect([status, body.error.issues.map(({ path }: { path: string }) => path)]).toEqual([
      400,
      ["namespace", "identifier", "limit", "duration", "cost", "burst"],
    ]);
  });
});
