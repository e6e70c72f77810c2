import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createLatchkey, memoryStore } from "latchkey";
import { expect, onTestFinished, test } from "vitest";
import { createGuard } from "./guard.mjs";

type Question = NonNullable<Parameters<ReturnType<typeof createGuard>>[2]>;

/** A server that lets a good key in with 204, and asks the next question with each request. */
async function serve(questions: Question[]) {
  const latchkey = createLatchkey({ store: memoryStore() });
  const { apiId } = await latchkey.createApi({ name: "tide-tables" });
  const { key } = await latchkey.createKey({ apiId });
  const guard = createGuard(latchkey, apiId);
  const server = createServer(async (request, response) => {
    const caller = await guard(request, response, questions.shift());
    if (caller !== null) response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const visit = () =>
    fetch(`http://127.0.0.1:${port}`, { headers: { Authorization: `Bearer ${key}` } });
  return { latchkey, visit };
}

test("answers 409 to a request id that was used for another question", async () => {
  const { visit } = await serve([
    { requestId: "visit-1" },
    { requestId: "visit-1", remaining: { cost: 2 } },
  ]);
  expect((await visit()).status).toBe(204);
  const reused = await visit();
  expect(reused.status).toBe(409);
  expect(await reused.json()).toEqual({ error: "CONFLICT" });
});

test("answers 400 to a question that names a limit nobody has set", async () => {
  const { visit } = await serve([{ ratelimits: [{ name: "charts" }] }]);
  const refused = await visit();
  expect(refused.status).toBe(400);
  expect(await refused.json()).toEqual({ error: "BAD_REQUEST" });
});

test("answers 403 while the workspace is disabled", async () => {
  const { latchkey, visit } = await serve([]);
  await latchkey.setWorkspaceEnabled(false);
  const refused = await visit();
  expect(refused.status).toBe(403);
  expect(await refused.json()).toEqual({ error: "FORBIDDEN" });
});

test("answers 503 when the store cannot tell", async () => {
  const { latchkey, visit } = await serve([]);
  await latchkey.close();
  const refused = await visit();
  expect(refused.status).toBe(503);
  expect(await refused.json()).toEqual({ error: "STORE_UNAVAILABLE" });
});
