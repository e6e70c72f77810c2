import { expect, test } from "vitest";
import { openService } from "../testing/open-service.js";

test.each(["key", "identity", "api", "tag"] as const)(
  "rows of usage by %s match the document",
  async (by) => {
    const service = await openService();
    const { latchkey } = service;
    const { apiId } = await latchkey.createApi({ name: "tides" });
    const { key, keyId } = await latchkey.createKey({
      apiId,
      externalId: "pier-7",
      tags: ["north"],
    });
    const { id: identityId } = await latchkey.getIdentity({ externalId: "pier-7" });
    await latchkey.verifyKey({ key });
    const start = service.now();
    service.advance(3 * 3_600_000);
    const question = { start, end: service.now(), granularity: "hour", by };
    const whose = {
      key: { keyId },
      identity: { identityId },
      api: { apiId },
      tag: { tag: "north" },
    }[by];
    const { rows } = (await service.ok("usage.exportUsage", question)) as { rows: object[] };
    expect(rows).toEqual([expect.objectContaining({ ...whose, outcomes: { VALID: 1 }, uses: 1 })]);
  },
);
