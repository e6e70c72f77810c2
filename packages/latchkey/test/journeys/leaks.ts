import { expect } from "vitest";
import { foreign, hex } from "../imports.js";
import { expectRefused, type TestContext } from "../test-context.js";
import type { Journey } from "./journey.js";

/** reportLeaks. */
export const LEAKS: Journey = {
  resource: "leaks",
  title: "revoke keys and root keys, once for each place, and are remembered when these are gone",
  async run(context) {
    await disableAll(context);
    await eachPolicy(context);
    await rootKeys(context);
    await expectRefused("BAD_REQUEST", [
      context.latchkey.reportLeaks({ leaks: [{ key: "x", url: "a".repeat(2_049) }] }),
      context.latchkey.reportLeaks({ leaks: Array(101).fill({ key: "x" }) }),
    ]);
  },
};

const PLACE = { url: "https://code.example/diff/1", source: "commit" };

async function disableAll({ latchkey, another }: TestContext) {
  const other = another();
  const { apiId } = await latchkey.createApi({ name: "tide tables" });
  const { keyId, key } = await latchkey.createKey({ apiId, externalId: "pier-7", remaining: 3 });
  const imported = await latchkey.createKeys([{ apiId, hash: hex(foreign(1)) }]);
  expect(await other.verifyKey({ key })).toMatchObject({ valid: true });
  const leaks = [
    { key: "no such key", ...PLACE },
    { key, ...PLACE },
    { key: `${key.slice(0, -1)}${key.endsWith("1") ? "2" : "1"}`, ...PLACE },
    { key: foreign(1), ...PLACE },
    { key, ...PLACE },
    { key, url: "https://code.example/diff/2" },
    { key: "" },
    { key: "x".repeat(100_000) },
  ];
  const action = "disabled";
  const own = { keyId, action, isRepeat: false };
  const first = await latchkey.reportLeaks({ leaks });
  expect(first.leaks).toEqual([
    null,
    own,
    null,
    { ...own, keyId: imported.keyIds[0] },
    { ...own, isRepeat: true },
    own,
    null,
    null,
  ]);
  expect(await other.verifyKey({ key })).toMatchObject({ code: "DISABLED" });
  expect(await other.verifyKey({ key: foreign(1) })).toMatchObject({ code: "DISABLED" });
  expect(await other.getKey({ keyId })).toMatchObject({ remaining: 2, enabled: false });
  const { events } = await other.listAuditEvents({ keyId });
  expect(events.map(({ type }) => type)).toEqual([
    "key.leaked",
    "key.leaked",
    "key.updated",
    "key.created",
  ]);
  expect(JSON.stringify(events)).not.toContain(key);
  const again = await other.reportLeaks({ leaks });
  expect(again.leaks).toEqual(first.leaks.map((leak) => leak && { ...leak, isRepeat: true }));
  expect(await latchkey.listAuditEvents({ keyId })).toEqual({ events });
}

async function eachPolicy({ latchkey, another }: TestContext) {
  const other = another();
  const { apiId } = await latchkey.createApi({ name: "tide tables" });
  const issue = async (recoverable: boolean) => latchkey.createKey({ apiId, recoverable });
  const [reported, deleted, rotated, plain] = await Promise.all(
    [false, false, true, false].map(issue),
  );
  const policies = new Map([
    [reported?.keyId, "report"],
    [deleted?.keyId, "delete"],
    [rotated?.keyId, "rotate"],
    [plain?.keyId, "rotate"],
  ] as const);
  const leaks = [reported, deleted, rotated, plain].map((one) => ({
    key: one?.key ?? "",
    ...PLACE,
  }));
  const decide = ({ id }: { readonly id: string }) => policies.get(id) ?? "disable";
  const first = await latchkey.reportLeaks({ leaks }, { decide });
  const actions = first.leaks.map((leak) => leak?.action);
  expect(actions).toEqual(["reported", "deleted", "rotated", "disabled"]);
  const verdicts = await Promise.all(leaks.map(({ key }) => other.verifyKey({ key })));
  expect(verdicts.map(({ code }) => code)).toEqual(["VALID", "NOT_FOUND", "EXPIRED", "DISABLED"]);
  const { rotatedTo = "" } = await other.getKey({ keyId: rotated?.keyId ?? "" });
  const { plaintext = "" } = await other.getKey({ keyId: rotatedTo, decrypt: true });
  expect(await other.verifyKey({ key: plaintext })).toMatchObject({
    keyId: rotatedTo,
    valid: true,
  });
  const log = await latchkey.listAuditEvents();
  const again = await other.reportLeaks({ leaks });
  expect(again.leaks).toEqual(first.leaks.map((leak) => ({ ...leak, isRepeat: true })));
  expect(await latchkey.listAuditEvents()).toEqual(log);
  // The key is deleted, but the report is still recognised.
  const elsewhere = await other.reportLeaks({ leaks: [{ key: deleted?.key ?? "", url: "b" }] });
  expect(elsewhere.leaks).toEqual([{ keyId: deleted?.keyId, action: "deleted", isRepeat: true }]);
}

async function rootKeys({ latchkey, another }: TestContext) {
  const other = another();
  const pier = latchkey.workspace("ws_pier");
  const here = await latchkey.createRootKey({ permissions: ["*"] });
  const there = await pier.createRootKey({ permissions: ["*"] });
  const known = await latchkey.createRootKey({ permissions: ["*"] });
  expect(await other.authenticateRootKey(there.key)).toMatchObject({ kind: "authenticated" });
  const report = (one: { readonly key: string }, policy?: "delete" | "report" | "rotate") =>
    latchkey.reportLeaks({ leaks: [{ key: one.key, ...PLACE }], policy });
  const cases = [
    [here, "delete", "deleted"],
    [there, "rotate", "disabled"],
    [known, "report", "reported"],
  ] as const;
  for (const [{ rootKeyId, key }, policy, action] of cases) {
    const leak = { rootKeyId, action, isRepeat: false };
    expect((await report({ key }, policy)).leaks).toEqual([leak]);
    expect((await report({ key })).leaks).toEqual([{ ...leak, isRepeat: true }]);
    const kind = policy === "report" ? "authenticated" : "refused";
    expect(await other.authenticateRootKey(key)).toMatchObject({ kind });
  }
  const { rootKeys } = await pier.listRootKeys();
  expect(rootKeys).toMatchObject([{ id: there.rootKeyId, enabled: false }]);
  const { events } = await pier.listAuditEvents();
  expect(events.map(({ type }) => type)).toEqual(["root_key.leaked", "root_key.created"]);
  expect(JSON.stringify(events)).not.toContain(there.key);
}
