import type { LeakPolicy } from "@latchkey/core";
import { describe, expect, test } from "vitest";
import { chanceOf } from "./chance.js";
import { DAMAGES, damagesOfMembers } from "./damage.js";
import { describeOnEveryStore } from "./every-store.js";
import { foreign } from "./imports.js";
import { DAY_MS, describeOnMemory, issue, VAULT_KEYS } from "./test-context.js";
import { overtaken } from "./wrapped-store.js";

const VAULT = { current: "a", keys: { a: VAULT_KEYS[0] } };
const POLICIES: readonly LeakPolicy[] = ["disable", "report", "delete", "rotate"];
const URL = "https://code.example/diff/1";

describeOnEveryStore("leaks", (open) => {
  test.each(["created", "imported"])(
    "a key with the prefix of root keys is found, and root keys still are: %s",
    async (how) => {
      const { latchkey } = open();
      const { apiId } = await latchkey.createApi({ name: "tides" });
      const { key, keyId } = await latchkey.createKey({ apiId, prefix: "lk_root" });
      if (how === "imported") {
        await latchkey.deleteKey({ keyId });
        await latchkey.createKeys([{ apiId, plaintext: key }]);
      }
      const root = await latchkey.createRootKey({ permissions: ["*"] });
      expect((await latchkey.verifyKey({ key })).code).toBe("VALID");
      const { leaks } = await latchkey.reportLeaks({
        leaks: [key, root.key].map((each) => ({ key: each, url: URL })),
      });
      expect(leaks).toMatchObject([
        { keyId: expect.any(String), action: "disabled" },
        { rootKeyId: root.rootKeyId, action: "disabled" },
      ]);
      expect((await latchkey.verifyKey({ key })).code).toBe("DISABLED");
    },
  );

  test("X1: repeated reports, from any process and with any policy, return the same and change nothing", async () => {
    const seed = 20260310;
    const chance = chanceOf(seed);
    const context = open({ vault: VAULT });
    const processes = [context.latchkey, context.another()] as const;
    const { apiId } = await context.latchkey.createApi({ name: "tide tables" });
    const settings = [
      {},
      { recoverable: true },
      { enabled: false },
      { expires: context.now() + 1 },
      { remaining: 1, externalId: "pier-7" },
    ];
    const keys: string[] = [foreign(1), foreign(2), "no such key"];
    for (let count = 0; count < 12; count += 1)
      keys.push((await context.latchkey.createKey({ apiId, ...chance.pick(settings) })).key);
    await context.latchkey.createKeys([{ apiId, plaintext: foreign(1) }]);
    context.advance(1);
    const rounds = Array.from({ length: 8 }, () => ({
      policy: chance.pick(POLICIES),
      leaks: Array.from({ length: 5 }, () => ({
        key: chance.pick(keys),
        url: `${URL}/${chance.below(3)}`,
      })),
    }));
    const labels = async ({ leaks, policy }: (typeof rounds)[number]) =>
      (await chance.pick(processes).reportLeaks({ leaks, policy })).leaks;
    const first = [];
    for (const round of rounds) first.push(await labels(round));
    const everything = async () => [
      await context.another().listKeys({ apiId }),
      await context.another().listAuditEvents(),
    ];
    const after = await everything();
    for (const [at, { leaks }] of rounds.entries()) {
      const again = await labels({ leaks, policy: chance.pick(POLICIES) });
      const ids = (some: typeof again) => some.map((leak) => leak?.keyId ?? null);
      expect(ids(again), `seed ${seed}`).toEqual(ids(first[at] ?? []));
      expect(again.every((leak) => leak === null || leak.isRepeat)).toBe(true);
    }
    expect(await everything()).toEqual(after);
  });

  test.each(POLICIES)(
    "X1: of five processes with the same report, only one acts: %s",
    async (policy) => {
      const context = open({ vault: VAULT });
      const { keyId, key } = await issue(context, { recoverable: true });
      const leaks = [{ key, url: URL }];
      const answers = await Promise.all(
        Array.from({ length: 5 }, () => context.another().reportLeaks({ leaks, policy })),
      );
      expect(answers.map((answer) => answer.leaks[0]?.keyId)).toEqual(Array(5).fill(keyId));
      expect(answers.filter((answer) => answer.leaks[0]?.isRepeat === false)).toHaveLength(1);
      const { events } = await context.another().listAuditEvents({ keyId });
      expect(events.filter(({ type }) => type === "key.leaked")).toHaveLength(1);
    },
  );

  test.each(
    [-5, 5].flatMap((days) =>
      (["disable", "rotate"] as const).flatMap((policy) =>
        [0, 3].map((graceDays) => ({ days, policy, graceDays })),
      ),
    ),
  )(
    "no process admits the secret afterwards: $policy by a clock $days days off, in $graceDays days of grace",
    async ({ days, policy, graceDays }) => {
      const context = open({ vault: VAULT });
      const { keyId, key } = await issue(context, { recoverable: true });
      if (graceDays > 0) await context.latchkey.rotateKey({ keyId, graceMs: graceDays * DAY_MS });
      const wrong = context.another({ clock: () => context.now() + days * DAY_MS });
      const { leaks } = await wrong.reportLeaks({ leaks: [{ key, url: URL }], policy });
      expect(leaks).toMatchObject([{ keyId, isRepeat: false }]);
      expect((await context.latchkey.verifyKey({ key })).valid).toBe(false);
      const other = context.another({ clock: () => context.now() + 3_600_000 });
      expect((await other.verifyKey({ key })).valid).toBe(false);
    },
  );

  test.each(["disable", "delete", "rotate"] as const)(
    "nor does a process whose clock is behind that of the process that created the key: %s",
    async (policy) => {
      const context = open({ vault: VAULT });
      const ahead = context.another({ clock: () => context.now() + 5 * DAY_MS });
      const { apiId } = await context.latchkey.createApi({ name: "tide tables" });
      const { key } = await ahead.createKey({ apiId, recoverable: true });
      expect((await context.latchkey.verifyKey({ key })).valid).toBe(true);
      await context.latchkey.reportLeaks({ leaks: [{ key, url: URL }], policy });
      for (const days of [0, 5, -5]) {
        const other = context.another({ clock: () => context.now() + days * DAY_MS });
        expect((await other.verifyKey({ key })).valid).toBe(false);
      }
    },
  );

  test.each(POLICIES)(
    "a key that is deleted and imported again while its report is handled, is handled: %s",
    async (policy) => {
      const context = open();
      const { apiId } = await context.latchkey.createApi({ name: "tide tables" });
      const make = () => context.latchkey.createKeys([{ apiId, plaintext: foreign(1) }]);
      await make();
      const [first] = (await context.latchkey.listKeys({ apiId })).keys;
      const anew = async () => {
        await context.latchkey.deleteKey({ keyId: first?.id ?? "" });
        await make();
      };
      const reporting = context.another({ store: overtaken(context.store, anew) });
      const { leaks } = await reporting.reportLeaks({
        leaks: [{ key: foreign(1), url: URL }],
        policy,
      });
      const { keys } = await context.latchkey.listKeys({ apiId });
      const code = {
        disable: "DISABLED",
        rotate: "DISABLED",
        report: "VALID",
        delete: "NOT_FOUND",
      };
      const keyId = policy === "delete" ? expect.any(String) : keys[0]?.id;
      expect(leaks).toMatchObject([{ keyId, isRepeat: false }]);
      expect(leaks[0]?.keyId).not.toBe(first?.id);
      expect((await context.latchkey.verifyKey({ key: foreign(1) })).code).toBe(code[policy]);
    },
  );

  test("a deleted key that is imported again while its report is handled, is not in the log", async () => {
    const context = open();
    const { apiId } = await context.latchkey.createApi({ name: "tide tables" });
    const key = foreign(1);
    const make = () => context.latchkey.createKeys([{ apiId, plaintext: key }]);
    await make();
    const first = { leaks: [{ key, url: URL }], policy: "delete" } as const;
    await context.latchkey.reportLeaks(first);
    const reporting = context.another({ store: overtaken(context.store, make) });
    const { leaks } = await reporting.reportLeaks({ leaks: [{ key, url: `${URL}?key=${key}` }] });
    expect(leaks).toMatchObject([{ action: "disabled", isRepeat: false }]);
    const { events } = await context.latchkey.listAuditEvents();
    expect(JSON.stringify(events)).toContain(`${URL}?key=…`);
    expect(JSON.stringify(events)).not.toContain(key);
  });

  test("X1: a repeat returns the key that was reported at that place, not a later one of the same secret", async () => {
    const context = open();
    const { apiId } = await context.latchkey.createApi({ name: "tide tables" });
    const reportAt = async (url: string) => {
      const leaks = [{ key: foreign(1), url }];
      return (await context.another().reportLeaks({ leaks, policy: "delete" })).leaks;
    };
    const answers = [];
    for (const url of [`${URL}/a`, `${URL}/b`]) {
      await context.latchkey.createKeys([{ apiId, plaintext: foreign(1) }]);
      answers.push((await reportAt(url))[0]);
      context.advance(1);
    }
    for (const [at, place] of ["a", "b"].entries())
      expect(await reportAt(`${URL}/${place}`)).toEqual([{ ...answers[at], isRepeat: true }]);
    expect(await reportAt(`${URL}/c`)).toEqual([{ ...answers[1], isRepeat: true }]);
  });

  test("a damaged key is disabled, or deleted on request", async () => {
    const context = open();
    const { apiId } = await context.latchkey.createApi({ name: "tide tables" });
    const sample = await context.latchkey.createKey({ apiId, externalId: "pier-7" });
    const damages = [...DAMAGES, ...(await damagesOfMembers(context.store, "key", sample.keyId))];
    for (const { damage, kind } of damages)
      for (const policy of ["disable", "delete"] as const) {
        const { keyId, key } = await context.latchkey.createKey({ apiId, externalId: "pier-7" });
        await damage(context.store, "key", keyId);
        const report = () => context.another().reportLeaks({ leaks: [{ key, url: URL }], policy });
        const action = policy === "delete" ? "deleted" : "disabled";
        const leak = { keyId, action, isRepeat: false };
        expect((await report()).leaks, kind).toEqual([leak]);
        expect((await report()).leaks, kind).toEqual([{ ...leak, isRepeat: true }]);
        const verdict = await context
          .another()
          .verifyKey({ key })
          .catch(({ code }: { readonly code: string }) => ({ valid: false, code }));
        expect(verdict.valid, kind).toBe(false);
      }
  });
});

describeOnMemory("a leak", (open) => {
  test("X1: a report is recognised even after a thousand other places", async () => {
    const context = open();
    const { latchkey } = context;
    const { key, keyId } = await issue(context);
    const leaks = Array.from({ length: 1_001 }, (_, at) => ({ key, url: `${URL}/${at}` }));
    for (let from = 0; from < leaks.length; from += 100)
      await latchkey.reportLeaks({ leaks: leaks.slice(from, from + 100) });
    await latchkey.updateKey({ keyId, enabled: true });
    const again = await latchkey.reportLeaks({ leaks: leaks.slice(0, 1) });
    expect(again.leaks).toEqual([{ keyId, action: "disabled", isRepeat: true }]);
    expect((await latchkey.verifyKey({ key })).code).toBe("VALID");
  });

  test("that an operator has dealt with is not disabled again by the same report", async () => {
    const context = open();
    const { keyId, key } = await issue(context);
    const report = (url: string) => context.latchkey.reportLeaks({ leaks: [{ key, url }] });
    await report(URL);
    await context.latchkey.updateKey({ keyId, enabled: true });
    await report(URL);
    expect(await context.latchkey.verifyKey({ key })).toMatchObject({ valid: true });
    await report(`${URL}/another`);
    expect(await context.latchkey.verifyKey({ key })).toMatchObject({ code: "DISABLED" });
  });

  test("is forgotten with the audit log, and then the same report is a new one", async () => {
    const context = open();
    const { keyId, key } = await issue(context);
    const report = async () =>
      (await context.latchkey.reportLeaks({ leaks: [{ key, url: URL }], policy: "delete" })).leaks;
    expect(await report()).toMatchObject([{ keyId, action: "deleted" }]);
    context.advance(DAY_MS);
    await context.latchkey.pruneAuditEvents({ before: context.now() });
    expect(await report()).toEqual([null]);
  });

  test("takes no uses, and does not count as a verification", async () => {
    const context = open();
    const { keyId, key } = await issue(context, {
      remaining: 5,
      ratelimit: { limit: 1, duration: "1h" },
    });
    await context.latchkey.reportLeaks({ leaks: [{ key }], policy: "report" });
    const { latchkey } = context;
    expect(await latchkey.getKey({ keyId })).not.toHaveProperty("lastUsedAt");
    expect(await latchkey.verifyKey({ key })).toMatchObject({ valid: true, remaining: 4 });
    const day = { start: context.now() - DAY_MS, end: context.now() + DAY_MS };
    const { verifications } = await latchkey.getVerifications({ keyId, ...day });
    const outcomes = verifications.map((hour) => hour.outcomes);
    expect(outcomes.filter((each) => Object.keys(each).length > 0)).toEqual([{ VALID: 1 }]);
  });

  test("is found under every pepper of the ring, and remembered under each", async () => {
    const [a, b] = VAULT_KEYS;
    const context = open({ pepper: { current: "a", keys: { a } } });
    const { keyId, key } = await issue(context);
    const leaks = [{ key, url: URL }];
    await context.latchkey.reportLeaks({ leaks, policy: "delete" });
    const later = context.another({ pepper: { current: "b", keys: { a, b } } });
    expect((await later.reportLeaks({ leaks })).leaks).toMatchObject([{ keyId, isRepeat: true }]);
    const without = context.another({ pepper: { current: "b", keys: { b } } });
    expect((await without.reportLeaks({ leaks })).leaks).toEqual([null]);
  });

  test("of a key with a damaged API or identity disables the key", async () => {
    for (const kind of ["api", "identity"] as const) {
      const context = open();
      const { apiId, keyId, key } = await issue(context, { externalId: "pier-7" });
      const { id: identityId } = await context.latchkey.getIdentity({ externalId: "pier-7" });
      await DAMAGES[0].damage(context.store, kind, kind === "api" ? apiId : identityId);
      const { leaks } = await context.another().reportLeaks({ leaks: [{ key }] });
      expect(leaks).toEqual([{ keyId, action: "disabled", isRepeat: false }]);
      const { found } = await context.store.read("ws_default", [{ kind: "key", id: keyId }]);
      expect(found[0]?.record.body).toMatchObject({ disabled: true });
    }
  });

  test("of a key of a deleted API is none, because the key was deleted with it", async () => {
    const context = open();
    const { apiId, key } = await issue(context);
    await context.latchkey.deleteApi({ apiId });
    expect((await context.latchkey.reportLeaks({ leaks: [{ key }] })).leaks).toEqual([null]);
  });

  test("of a key in a disabled workspace, or of an expired key, is a leak", async () => {
    const context = open();
    const { keyId, key } = await issue(context, { expires: context.now() + 1 });
    context.advance(1);
    await context.latchkey.setWorkspaceEnabled(false);
    await context.latchkey.reportLeaks({ leaks: [{ key }], policy: "rotate" });
    await context.latchkey.setWorkspaceEnabled(true);
    await context.latchkey.updateKey({ keyId, expires: null });
    expect(await context.latchkey.verifyKey({ key })).toMatchObject({ code: "DISABLED" });
  });

  test("of a key that expired because nobody used it disables the key if it cannot be rotated", async () => {
    const context = open({ vault: VAULT });
    const { keyId, key } = await issue(context, { expiresWhenUnused: "1d", recoverable: true });
    context.advance(2 * DAY_MS);
    const { leaks } = await context.latchkey.reportLeaks({ leaks: [{ key }], policy: "rotate" });
    expect(leaks).toEqual([{ keyId, action: "disabled", isRepeat: false }]);
    await context.latchkey.updateKey({ keyId, expiresWhenUnused: null });
    expect(await context.latchkey.verifyKey({ key })).toMatchObject({ code: "DISABLED" });
  });

  test("is none in another workspace", async () => {
    const context = open();
    const { key } = await issue(context);
    const other = context.latchkey.workspace("ws_other");
    expect((await other.reportLeaks({ leaks: [{ key }] })).leaks).toEqual([null]);
    expect(await context.latchkey.verifyKey({ key })).toMatchObject({ valid: true });
  });

  test("leaves no secret in the log, even if the URL contains it", async () => {
    const context = open();
    const { key } = await issue(context);
    const second = await issue(context);
    const odd = "old secret/of+another=system";
    await context.latchkey.createKeys([{ apiId: second.apiId, plaintext: odd }]);
    const url = `https://code.example/${encodeURIComponent(odd)}?a=${key}&b=${second.key}`;
    const leaks = [key, second.key, odd].map((one) => ({ key: one, url, source: odd }));
    await context.latchkey.reportLeaks({ leaks });
    const { events } = await context.latchkey.listAuditEvents();
    const log = JSON.stringify(events);
    for (const secret of [key, second.key, odd, encodeURIComponent(odd)])
      expect(log).not.toContain(secret);
    expect(log).toContain("https://code.example/…?a=…&b=…");
  });
});

describe("without an audit log", () => {
  describeOnMemory("a leak", (open) => {
    test.each(POLICIES)(
      "X1: repeated gets the same answer, and changes nothing: %s",
      async (policy) => {
        const context = open({ auditLog: false, vault: VAULT });
        const { apiId, keyId, key } = await issue(context, { recoverable: true });
        const report = () => context.latchkey.reportLeaks({ leaks: [{ key, url: URL }], policy });
        expect((await report()).leaks).toMatchObject([{ keyId, isRepeat: false }]);
        const after = await context.another().listKeys({ apiId });
        context.advance(1_000);
        expect((await report()).leaks).toMatchObject([{ keyId }]);
        expect(await context.another().listKeys({ apiId })).toEqual(after);
        const code = {
          disable: "DISABLED",
          report: "VALID",
          delete: "DISABLED",
          rotate: "EXPIRED",
        };
        expect((await context.latchkey.verifyKey({ key })).code).toBe(code[policy]);
      },
    );
  });
});
