import { expect, test } from "vitest";
import { observed } from "./testing/observed.js";

test("iterating over a list makes a span and a measurement for each page, under the operation that reads it", async () => {
  const { latchkey, spans, metric, apiId } = await observed();
  for (let count = 0; count < 4; count += 1) await latchkey.createKey({ apiId });
  const before = spans().length;
  const found: string[] = [];
  for await (const { id } of latchkey.keysOf({ apiId, limit: 2 })) found.push(id);
  const { length } = spans().slice(before);
  expect(found).toHaveLength(5);
  const pages = spans().filter(({ name }) => name === "latchkey.listKeys");
  expect(pages).toHaveLength(3);
  const ofStore = spans()
    .slice(-length)
    .filter(({ name }) => name.startsWith("latchkey.store."));
  expect(new Set(ofStore.map(({ parent }) => parent))).toEqual(new Set(["latchkey.listKeys"]));
  const { series } = await metric("latchkey.operation.duration");
  const listed = series.filter(({ labels }) => labels["latchkey.operation.name"] === "listKeys");
  expect(listed).toMatchObject([{ count: 3 }]);
  const apis: string[] = [];
  for await (const { name } of latchkey.workspace("ws_north").apis()) apis.push(name);
  expect(apis).toEqual([]);
  expect(spans().at(-1)).toMatchObject({
    name: "latchkey.listApis",
    attributes: { "latchkey.workspace.id": "ws_north" },
  });
});
