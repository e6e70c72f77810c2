import { expect, test } from "vitest";
import { createPortalClient } from "./client.js";

/** A client whose server answers with these statuses in turn (0: no answer), and the idempotency keys that the server received. */
function clientOf(...statuses: readonly number[]) {
  const keys: string[] = [];
  const fetch = async (_: unknown, init: RequestInit = {}): Promise<Response> => {
    keys.push(JSON.parse(`${init.body}`).idempotencyKey);
    const status = statuses[keys.length - 1] ?? 200;
    if (status === 0) throw new TypeError("the connection was lost");
    return Response.json({ error: { code: "UNKNOWN" } }, { status });
  };
  const client = createPortalClient("https://example.com/account/keys/", { fetch });
  const create = (name: string) => client.createKey({ name }).catch(() => undefined);
  return { keys, create };
}

test.each([0, 500, 503, 401])("after %i, the same call repeats the same write", async (status) => {
  const { keys, create } = clientOf(0, status);
  for (let time = 0; time < 3; time += 1) await create("boat");
  expect(new Set(keys).size).toBe(1);
  await create("boat");
  expect(new Set(keys).size).toBe(2);
});

test.each([200, 400, 409, 412])(
  "after %i, the same call is a new write, and so is any other call",
  async (status) => {
    const { keys, create } = clientOf(0, status);
    for (const name of ["boat", "boat", "boat", "ship"]) await create(name);
    expect(new Set(keys).size).toBe(3);
  },
);
