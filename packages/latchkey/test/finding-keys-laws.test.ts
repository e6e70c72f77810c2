import type { KeyView, Latchkey, ListKeysInput } from "@latchkey/core";
import { expect, test } from "vitest";
import { type Chance, chanceOf, seedsOf } from "./chance.js";
import { describeOnEveryStore } from "./every-store.js";
import { DAY_MS, HOUR_MS, rejectionOf, type TestContext } from "./test-context.js";

const OWNERS = ["pier-1", "pier-2", "pier-3"] as const;
const NAMES = ["North Gate", "south gate", "Lighthouse", null] as const;
const PREFIXES = ["pay_live", "pay_test", ""] as const;
const ENVIRONMENTS = ["live", "test", null] as const;
/** Which of the two requested permissions each permission of a key grants. */
const GRANTS: Readonly<Record<string, readonly string[]>> = {
  "docs.*": ["docs.read"],
  "docs.read": ["docs.read"],
  team: ["team"],
};

/** A key in the model. */
interface ModelKey {
  readonly id: string;
  readonly key: string;
  readonly apiId: string;
  readonly createdAt: number;
  owner: string | undefined;
  name: string | undefined;
  environment: string | undefined;
  isOn: boolean;
  expires: number | undefined;
  remaining: number | undefined;
  lastUsedAt: number | undefined;
  isRotated: boolean;
  readonly permissions: string[];
  readonly tags: string[];
  readonly hasRole: boolean;
}

/** A reader in the middle of the pages of one question. */
interface Reader {
  readonly question: ListKeysInput;
  /** Keys that have existed and matched all the time without a change of their value; with that value. */
  readonly due: Map<string, number | undefined>;
  readonly seen: string[];
  cursor: string | undefined;
}

/** Keys and their changes, in the store and in a model. */
class Model {
  readonly keys = new Map<string, ModelKey>();
  apiIds: string[] = [];
  /** Permissions of the role. */
  granted: readonly string[] = ["team"];

  constructor(
    readonly context: TestContext,
    readonly chance: Chance,
  ) {}

  matches(key: ModelKey, asked: ListKeysInput): boolean {
    const now = this.context.now();
    const isDead = key.expires !== undefined && key.expires <= now;
    const enabled = key.isOn && !isDead && key.remaining !== 0;
    const held = [...key.permissions, ...(key.hasRole ? this.granted : [])];
    const { expiresBefore, expiresAfter, usedBefore, usedAfter } = asked;
    const { createdBefore, createdAfter, nameContains, permission } = asked;
    const expires = key.expires ?? Number.NaN;
    return (
      (asked.apiId === undefined || key.apiId === asked.apiId) &&
      (asked.externalId === undefined || key.owner === asked.externalId) &&
      (asked.enabled === undefined || enabled === asked.enabled) &&
      (expiresBefore === undefined || expires < Number(expiresBefore)) &&
      (expiresAfter === undefined || expires >= Number(expiresAfter)) &&
      (usedBefore === undefined || (key.lastUsedAt ?? -1) < Number(usedBefore)) &&
      (usedAfter === undefined || (key.lastUsedAt ?? -1) >= Number(usedAfter)) &&
      (createdBefore === undefined || key.createdAt < Number(createdBefore)) &&
      (createdAfter === undefined || key.createdAt >= Number(createdAfter)) &&
      (nameContains === undefined ||
        (key.name ?? "").toLowerCase().includes(nameContains.toLowerCase())) &&
      (asked.start === undefined || mayBegin(key.key, asked.start)) &&
      (asked.environment === undefined || key.environment === asked.environment) &&
      (asked.tags ?? []).every((tag) => key.tags.includes(tag)) &&
      (asked.role === undefined || key.hasRole) &&
      (permission === undefined || held.some((name) => GRANTS[name]?.includes(permission)))
    );
  }

  /** The matching keys in the requested order. */
  find(asked: ListKeysInput): readonly ModelKey[] {
    const found = [...this.keys.values()].filter((key) => this.matches(key, asked));
    const placed = found.sort((one, other) => {
      const [first, second] = [valueIn(one, asked), valueIn(other, asked)];
      return first === second ? (one.id < other.id ? -1 : 1) : first - second;
    });
    return asked.order === "desc" ? placed.toReversed() : placed;
  }

  question(): ListKeysInput {
    const { chance, context } = this;
    const question: Record<string, unknown> = {};
    const instant = () => context.now() + (chance.below(5) - 2) * HOUR_MS;
    const filters: Readonly<Record<string, () => unknown>> = {
      enabled: () => chance.below(2) === 0,
      expiresBefore: instant,
      expiresAfter: instant,
      usedBefore: instant,
      usedAfter: instant,
      createdBefore: instant,
      createdAfter: instant,
      nameContains: () => chance.pick(["gate", "LIGHT", "h g"]),
      start: () => {
        const secrets = [...this.keys.values()].map(({ key }) => key);
        const known = chance.pick(["pay_", ...secrets]).slice(0, 1 + chance.below(16));
        return `${known}${chance.pick(["", "…", "...", "****"])}`;
      },
      permission: () => chance.pick(["docs.read", "team"]),
      role: () => "crew",
      environment: () => chance.pick(["live", "test"]),
      tags: () => chance.pick([["eu"], ["eu", "billing"]]),
    };
    for (let more = chance.below(3); more > 0; more -= 1) {
      const name = chance.pick(Object.keys(filters));
      question[name] = filters[name]?.();
    }
    if (chance.below(2) === 0) question.apiId = chance.pick(this.apiIds);
    if (chance.below(2) === 0) question.externalId = chance.pick(OWNERS);
    if (chance.below(3) === 0) question.order = chance.pick(["asc", "desc"]);
    const isSmall = question.apiId !== undefined || question.externalId !== undefined;
    if (isSmall && chance.below(3) === 0)
      question.orderBy = chance.pick(["createdAt", "expires", "lastUsedAt"]);
    return question;
  }

  async change(latchkey: Latchkey): Promise<void> {
    const { chance, context, keys } = this;
    const action = chance.below(13);
    const key = keys.size === 0 ? undefined : chance.pick([...keys.values()]);
    if (action < 3 || key === undefined) return this.#create(latchkey);
    const keyId = key.id;
    if (action === 3) {
      await latchkey.deleteKey({ keyId });
      keys.delete(keyId);
    } else if (action === 4 && !key.isRotated) {
      key.isOn = !key.isOn;
      const expires = key.expires !== undefined && key.expires <= context.now();
      if (key.isOn && key.remaining === 0) key.isOn = false;
      else await latchkey.updateKey({ keyId, enabled: key.isOn });
      // Enabling an expired key removes its expiry.
      if (key.isOn && expires) key.expires = undefined;
    } else if (action === 5) {
      key.name = chance.pick(NAMES) ?? undefined;
      key.owner = chance.pick([...OWNERS, null]) ?? undefined;
      const [name, externalId] = [key.name ?? null, key.owner ?? null];
      await latchkey.updateKey({ keyId, name, externalId });
    } else if (action === 6 && !key.isRotated) {
      key.expires = context.now() + (1 + chance.below(4)) * HOUR_MS;
      await latchkey.updateKey({ keyId, expires: key.expires });
    } else if (action === 7) context.advance(chance.below(HOUR_MS));
    else if (action === 8 && keys.size > 8) await this.#deleteApi(latchkey, key.apiId);
    else if (action === 9) {
      this.granted = chance.pick([[], ["team"], ["docs.*", "team"]]);
      const [role] = await latchkey.listRoles();
      const permissions = [...this.granted];
      await latchkey.setRolePermissions({ roleId: role?.id ?? "", permissions });
    } else if (action === 10) await this.#rotate(latchkey, key);
    else {
      const verdict = await latchkey.verifyKey({ key: key.key });
      if (verdict.valid) {
        key.lastUsedAt = context.now();
        if (key.remaining !== undefined) key.remaining -= 1;
      }
      // Flushes the counts first.
      await latchkey.getVerifications({ keyId, start: context.now(), end: context.now() + 1 });
    }
  }

  async #create(latchkey: Latchkey): Promise<void> {
    const { chance, context } = this;
    const isLasting = chance.below(2) === 0;
    const settings = {
      apiId: chance.pick(this.apiIds),
      name: chance.pick(NAMES) ?? undefined,
      prefix: chance.pick(PREFIXES),
      environment: chance.pick(ENVIRONMENTS) ?? undefined,
      expires: isLasting ? undefined : context.now() + HOUR_MS * (1 + chance.below(4)),
      remaining: chance.pick([1, 2, null, null]) ?? undefined,
      permissions: chance.pick([[], ["docs.*"], ["docs.read", "team"]]),
      tags: chance.pick([[], ["billing"], ["billing", "eu"]]),
    };
    const owner = chance.pick([...OWNERS, null]) ?? undefined;
    const isOn = chance.below(5) > 0;
    const hasRole = chance.below(3) === 0;
    const { keyId, key } = await latchkey.createKey({
      ...settings,
      externalId: owner,
      enabled: isOn,
      roles: hasRole ? ["crew"] : [],
    });
    const createdAt = context.now();
    const state = { owner, isOn, hasRole, createdAt, isRotated: false, lastUsedAt: undefined };
    this.keys.set(keyId, { ...settings, ...state, id: keyId, key });
  }

  async #rotate(latchkey: Latchkey, old: ModelKey): Promise<void> {
    const now = this.context.now();
    const isExpired = old.expires !== undefined && old.expires <= now;
    // A key with a number of uses would share it with its successor.
    if (old.isRotated || isExpired || old.remaining !== undefined) return;
    const graceMs = this.chance.pick([0, HOUR_MS]);
    const { keyId, key } = await latchkey.rotateKey({ keyId: old.id, graceMs });
    this.keys.set(keyId, { ...old, id: keyId, key, createdAt: now, lastUsedAt: undefined });
    old.isRotated = true;
    old.expires = Math.min(old.expires ?? now + graceMs, now + graceMs);
  }

  async #deleteApi(latchkey: Latchkey, apiId: string): Promise<void> {
    await latchkey.deleteApi({ apiId });
    for (const key of this.keys.values()) if (key.apiId === apiId) this.keys.delete(key.id);
    const { apiId: another } = await latchkey.createApi({ name: "another" });
    this.apiIds = [...this.apiIds.filter((id) => id !== apiId), another];
  }
}

/** Whether a secret may start like this, judged by its stored start: three characters after the prefix. */
function mayBegin(secret: string, masked: string): boolean {
  const [typed = ""] = masked.split(/…|\.|\*/);
  const start = secret.slice(0, secret.lastIndexOf("_") + 1 + 3);
  return start.startsWith(typed) || typed.startsWith(start);
}

/** The value by which a key is ordered; 0 for an order by id alone. */
function valueIn(
  key: Pick<ModelKey | KeyView, "expires" | "lastUsedAt">,
  { orderBy }: ListKeysInput,
): number {
  if (orderBy === "expires") return key.expires ?? Number.POSITIVE_INFINITY;
  return orderBy === "lastUsedAt" ? (key.lastUsedAt ?? -1) : 0;
}

describeOnEveryStore("finding keys", (open, runs) => {
  test.each(seedsOf(runs(2)))(
    "F1: readers meet exactly once every key that existed and matched all the time, despite concurrent changes (seed %i)",
    async (seed) => {
      const context = open();
      const chance = chanceOf(seed);
      const processes = [context.latchkey, context.another()] as const;
      const model = new Model(context, chance);
      await context.latchkey.ensurePermissions(["docs.*", "docs.read", "team"]);
      await context.latchkey.createRole({ name: "crew", permissions: ["team"] });
      for (const name of ["tides", "winds", "waves"])
        model.apiIds.push((await context.latchkey.createApi({ name })).apiId);
      for (let count = 0; count < 30; count += 1) await model.change(context.latchkey);
      let done = 0;
      const readers: Reader[] = [];
      for (let step = 0; step < 180; step += 1) {
        if (readers.length < 5) {
          const question = model.question();
          const due = new Map(model.find(question).map((key) => [key.id, valueIn(key, question)]));
          readers.push({ question, due, seen: [], cursor: undefined });
        }
        await model.change(chance.pick(processes));
        for (const { question, due } of readers)
          for (const [id, value] of due) {
            const key = model.keys.get(id);
            const stayed = key && model.matches(key, question) && valueIn(key, question) === value;
            if (!stayed) due.delete(id);
          }
        const reader = chance.pick(readers);
        if (await readPage(reader, chance.pick(processes), model)) {
          for (const id of reader.due.keys())
            expect([id, reader.seen.filter((one) => one === id).length, reader.question]).toEqual([
              ...[id, 1],
              reader.question,
            ]);
          readers.splice(readers.indexOf(reader), 1);
          done += 1;
        }
      }
      expect(done).toBeGreaterThan(15);
    },
  );

  test("F1: a page of any question equals the result of the model, and pages of one key add up to one page", async () => {
    const context = open();
    const { latchkey } = context;
    const other = context.another();
    const chance = chanceOf(99);
    const model = new Model(context, chance);
    await latchkey.ensurePermissions(["docs.*", "docs.read", "team"]);
    await latchkey.createRole({ name: "crew", permissions: ["team"] });
    for (const name of ["tides", "winds", "waves", "empty"])
      model.apiIds.push((await latchkey.createApi({ name })).apiId);
    for (let count = 0; count < 90; count += 1) await model.change(latchkey);
    for (let count = 0; count < runs(60); count += 1) {
      const question = model.question();
      const expected = model.find(question).map(({ id }) => id);
      const { keys, cursor } = await latchkey.listKeys(question);
      expect([question, keys.map(({ id }) => id), cursor]).toEqual([question, expected, undefined]);
      const one: string[] = [];
      const limit = 1 + chance.below(3);
      for await (const { id } of other.keysOf({ ...question, limit })) one.push(id);
      expect([question, one]).toEqual([question, expected]);
    }
  });

  test("F2: a cursor of another question is refused, but one of another page size is not", async () => {
    const { latchkey } = open();
    const { apiId } = await latchkey.createApi({ name: "tides" });
    const { apiId: otherApiId } = await latchkey.createApi({ name: "winds" });
    const expires = Date.now() + 400_000 * DAY_MS;
    for (let count = 0; count < 4; count += 1)
      for (const one of [apiId, otherApiId])
        await latchkey.createKey({ apiId: one, externalId: "pier-1", name: "gate", expires });
    const { id: identityId } = await latchkey.getIdentity({ externalId: "pier-1" });
    const questions: readonly ListKeysInput[] = [
      {},
      { apiId },
      { apiId: otherApiId },
      { apiId, externalId: "pier-1" },
      { externalId: "pier-1" },
      { identityId },
      { identityId, apiId },
      { order: "desc" },
      { apiId, order: "desc" },
      { apiId, orderBy: "expires" },
      { apiId, orderBy: "expires", order: "desc" },
      { apiId, orderBy: "lastUsedAt" },
      { enabled: true },
      { apiId, enabled: true },
      { expiresAfter: 1 },
      { expiresAfter: 2 },
      { createdAfter: 1 },
      { createdBefore: expires },
      { expiresBefore: expires + 1 },
      { usedBefore: expires },
      { nameContains: "gate" },
      { nameContains: "g" },
      { start: "Z" },
      { tags: [] },
    ];
    const cursors: (readonly [ListKeysInput, string])[] = [];
    for (const question of questions) {
      const { cursor } = await latchkey.listKeys({ ...question, limit: 1 });
      expect([question, typeof cursor]).toEqual([question, "string"]);
      cursors.push([question, cursor ?? ""]);
    }
    for (const question of questions)
      for (const [of, cursor] of cursors) {
        const asking = latchkey.listKeys({ ...question, cursor, limit: 2 });
        if (of === question) expect((await asking).keys).toHaveLength(2);
        else
          expect(await rejectionOf(asking)).toMatchObject({
            code: "BAD_REQUEST",
            issues: [{ path: "cursor" }],
          });
      }
    for (const [question, cursor] of cursors)
      for (const bad of [`${cursor}A`, cursor.slice(1), "", "A"])
        expect([
          question,
          bad,
          (await rejectionOf(latchkey.listKeys({ ...question, cursor: bad }))).code,
        ]).toEqual([question, bad, "BAD_REQUEST"]);
    const theirs = latchkey.workspace("ws_northwind");
    for (const [question, cursor] of cursors.filter(([{ apiId }]) => apiId === undefined))
      expect((await rejectionOf(theirs.listKeys({ ...question, cursor }))).code).toBe(
        "BAD_REQUEST",
      );
  });
});

/** @returns Whether it was the last page. */
async function readPage(reader: Reader, latchkey: Latchkey, model: Model): Promise<boolean> {
  const { question, cursor, seen } = reader;
  const limit = 1 + model.chance.below(6);
  const isGone = question.apiId !== undefined && !model.apiIds.includes(question.apiId);
  const asking = latchkey.listKeys({ ...question, limit, ...(cursor && { cursor }) });
  if (isGone) {
    expect((await rejectionOf(asking)).code).toBe("NOT_FOUND");
    reader.due.clear();
    return true;
  }
  const page = await asking;
  const { keys } = page;
  expect(keys.length).toBeLessThanOrEqual(limit);
  for (const { id } of keys) {
    const known = model.keys.get(id);
    expect([question, id, known !== undefined && model.matches(known, question)]).toEqual([
      ...[question, id],
      true,
    ]);
    if ((question.orderBy ?? "createdAt") === "createdAt") expect(seen).not.toContain(id);
  }
  seen.push(...keys.map(({ id }) => id));
  reader.cursor = page.cursor;
  return page.cursor === undefined;
}
