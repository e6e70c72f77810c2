import { exportHeader, exportKeys, exportText, importKeys, openSource } from "@latchkey/import";
import { expect, test } from "vitest";
import { describeOnMemoryOrAll } from "./every-store.js";
import { describeOnMemory, issue, rejectionOf } from "./test-context.js";

describeOnMemoryOrAll("the tags of a key", (open) => {
  test("can be shown, changed and cleared, and are in each verdict, in the given order and without repetitions", async () => {
    const context = open();
    const { latchkey } = context;
    const given = ["team:maps", "prod", "team:maps", "v1.2_a-b"];
    const { apiId, keyId, key } = await issue(context, { tags: given });
    const tags = ["team:maps", "prod", "v1.2_a-b"];
    expect(await latchkey.getKey({ keyId })).toMatchObject({ tags });
    const other = context.another();
    // Tags of the verification are labels of that call.
    expect(await other.verifyKey({ key, tags: ["path=/"] })).toMatchObject({ keyTags: tags });
    expect(await other.verifyKey({ key, dryRun: true })).toMatchObject({ keyTags: tags });
    await latchkey.updateKey({ keyId, tags: ["test"] });
    expect(await other.verifyKey({ key })).toMatchObject({ code: "VALID", keyTags: ["test"] });
    const successor = await latchkey.rotateKey({ keyId });
    expect((await latchkey.listKeys({ apiId })).keys).toMatchObject([
      { tags: ["test"] },
      { tags: ["test"] },
    ]);
    await latchkey.updateKey({ keyId: successor.keyId, tags: null });
    expect(await latchkey.getKey({ keyId: successor.keyId })).not.toHaveProperty("tags");
    expect(await other.verifyKey({ key: successor.key })).not.toHaveProperty("keyTags");
  });
});

describeOnMemory("the tags of a key", (open) => {
  test("are at most 32, of 1 to 64 characters each", async () => {
    const context = open();
    const { latchkey } = context;
    const { apiId, keyId } = await issue(context);
    const most = Array.from({ length: 32 }, (_, at) => `${at}`.padStart(64, "a"));
    await latchkey.createKey({ apiId, tags: most });
    await latchkey.updateKey({ keyId, tags: most });
    for (const [tags, path] of [
      [[...most, "b"], "tags"],
      [["a".repeat(65)], "tags.0"],
      [["a", ""], "tags.1"],
      [["a b"], "tags.0"],
      [["é"], "tags.0"],
      ["a", "tags"],
    ] as const)
      for (const call of [
        latchkey.createKey({ apiId, tags: tags as never }),
        latchkey.updateKey({ keyId, tags: tags as never }),
        latchkey.createKeys([{ apiId, plaintext: "old_3f9c2a7d51e84b06", tags: tags as never }]),
      ])
        expect(JSON.stringify((await rejectionOf(call)).issues)).toMatch(`${path}"`);
  });

  test("are in the audit log, and setting the same tags changes nothing", async () => {
    const context = open();
    const { latchkey } = context;
    const { keyId } = await issue(context, { tags: ["a", "b"] });
    await latchkey.updateKey({ keyId, tags: ["a", "b"] });
    await latchkey.updateKey({ keyId, tags: [] });
    const { events } = await latchkey.listAuditEvents({ keyId });
    const said = events.map(({ changes }) => changes.find(({ field }) => field === "tags"));
    expect(said).toEqual([
      { field: "tags", before: ["a", "b"] },
      { field: "tags", after: ["a", "b"] },
    ]);
  });

  test.each(["csv", "jsonl"] as const)("survive an export and an import as %s", async (format) => {
    const context = open();
    await issue(context, { tags: ["team:maps", "prod"] });
    let text = exportHeader(format);
    for await (const { keys } of exportKeys({ from: context.latchkey }))
      text += exportText(format, keys);
    const target = open().latchkey;
    const { apiId } = await target.createApi({ name: "tides" });
    const lines = async function* () {
      yield text;
    };
    const from = openSource(format, lines());
    for await (const report of importKeys({ from, into: target, apiId }))
      expect(report).toMatchObject({ written: 1, notes: [] });
    expect((await target.listKeys({ apiId })).keys).toMatchObject([
      { tags: ["team:maps", "prod"] },
    ]);
  });
});
