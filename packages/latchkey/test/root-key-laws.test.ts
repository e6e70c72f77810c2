import { createHandler } from "@latchkey/http";
import { expect, test } from "vitest";
import { type Chance, chanceOf, seedsOf } from "./chance.js";
import { describeOnEveryStore } from "./every-store.js";
import { NOON, rejectionOf, type TestContext } from "./test-context.js";

const HOUR_MS = 3_600_000;
const WORKSPACES = ["ws_pier", "ws_quay"] as const;
const IDS = ["api_1", "api_2", "*"];
const ON_ROOT_KEYS = ["create", "read", "update", "revoke"].map(
  (verb) => `root.*.${verb}_root_key`,
);
const PERMISSIONS = [
  "*",
  ...IDS.flatMap((id) => [`api.${id}.read_key`, `api.${id}.create_key`]),
  "ratelimit.mail.v1.limit",
  "ratelimit.*.limit",
  ...ON_ROOT_KEYS,
];

interface RootKey {
  readonly id: string;
  readonly permissions: readonly string[];
  readonly expires?: number;
  readonly enabled: boolean;
  readonly rotatedTo?: string;
}

/** The single grants of a permission, including those for APIs and namespaces that do not exist yet. */
function thingsOf(permission: string): readonly string[] {
  if (permission === "*") return ["everything else", ...PERMISSIONS.slice(1).flatMap(thingsOf)];
  const [resource, ...rest] = permission.split(".");
  const action = rest.pop();
  const id = rest.join(".");
  const ids = resource === "api" ? ["api_1", "api_2", "another"] : ["mail.v1", "another"];
  const named = id === "*" && resource !== "root" ? ids : [id];
  return named.map((each) => `${resource} ${each} ${action}`);
}

function isWithin(permissions: readonly string[], held: readonly string[]): boolean {
  const things = new Set(held.flatMap(thingsOf));
  return permissions.flatMap(thingsOf).every((thing) => things.has(thing));
}

function isNoLater(expires: number | undefined, last: number | undefined): boolean {
  return last === undefined || (expires !== undefined && expires <= last);
}

function drawn(chance: Chance): string[] {
  const count = 1 + chance.below(3);
  return Array.from({ length: count }, () => chance.pick(PERMISSIONS.slice(chance.below(2))));
}

/** Two workspaces with their contents, and a function to call as any root key. */
async function openWorld(context: TestContext) {
  const { latchkey } = context;
  const handlers = [createHandler({ latchkey }), createHandler({ latchkey: context.another() })];
  const secrets = new Map<string, string>();
  for (const workspaceId of WORKSPACES) {
    const own = latchkey.workspace(workspaceId);
    for (const permissions of [["*"], [...ON_ROOT_KEYS, "api.api_1.read_key"], ON_ROOT_KEYS]) {
      const made = await own.createRootKey({ permissions });
      secrets.set(made.rootKeyId, made.key);
    }
    const expires = context.now() + HOUR_MS;
    const made = await own.createRootKey({ permissions: ["*"], expires });
    secrets.set(made.rootKeyId, made.key);
  }
  const list = async (workspaceId: string) =>
    (await latchkey.workspace(workspaceId).listRootKeys({ limit: 100 }))
      .rootKeys as readonly RootKey[];
  async function call(chance: Chance, id: string, name: string, input: object) {
    const response = await chance.pick(handlers)(
      new Request(`http://keys.test/v1/rootKeys.${name}`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${secrets.get(id)}`,
          "content-type": "application/json",
        },
        body: JSON.stringify(input),
      }),
    );
    const body = (await response.json()) as { rootKeyId?: string; key?: string };
    if (body.key !== undefined) secrets.set(body.rootKeyId as string, body.key);
    return { status: response.status, body };
  }
  return { call, list, secrets };
}

describeOnEveryStore("root keys over HTTP", (open, runs) => {
  test.each(seedsOf(runs(4)))(
    "R1: no call gives a root key more than who calls holds (seed %i)",
    async (seed) => {
      const context = open();
      const chance = chanceOf(seed);
      const { call, list, secrets } = await openWorld(context);
      for (let step = 0; step < 25; step += 1) {
        context.advance(chance.below(120_000));
        const mine = chance.pick(WORKSPACES);
        const other = WORKSPACES[1 - WORKSPACES.indexOf(mine)] as string;
        const [before, beforeThere] = await Promise.all([list(mine), list(other)]);
        const caller = chance.pick(before);
        const target = chance.pick([...before, ...before, ...beforeThere]);
        const permissions = drawn(chance);
        const expires = chance.pick([null, context.now() + (1 + chance.below(60)) * 120_000]);
        const [name, input, needed] = chance.pick([
          ["createRootKey", { permissions, ...(expires !== null && { expires }) }, ["create"]],
          ["updateRootKey", { rootKeyId: target.id, permissions }, ["update"]],
          ["updateRootKey", { rootKeyId: target.id, expires }, ["update"]],
          ["updateRootKey", { rootKeyId: target.id, name: `n${step}` }, ["update"]],
          ["rotateRootKey", { rootKeyId: target.id, graceMs: HOUR_MS }, ["create", "update"]],
          // Keeps at least one caller.
          ...(before.length < 3
            ? []
            : ([["revokeRootKey", { rootKeyId: target.id }, ["revoke"]]] as const)),
        ] as const);
        const { status } = await call(chance, caller.id, name, input);
        const mayCall = needed.every((verb) =>
          isWithin([`root.*.${verb}_root_key`], caller.permissions),
        );
        const isHere = before.some(({ id }) => id === target.id);
        const says = name === "updateRootKey" || name === "createRootKey" ? Object.keys(input) : [];
        const isBounded =
          (!says.includes("permissions") || isWithin(permissions, caller.permissions)) &&
          (!(says.includes("expires") || name === "createRootKey") ||
            isNoLater(expires ?? undefined, caller.expires)) &&
          (name === "createRootKey" ||
            name === "revokeRootKey" ||
            isWithin(target.permissions, caller.permissions)) &&
          (name !== "rotateRootKey" || isNoLater(target.expires, caller.expires));
        const expected = !caller.enabled
          ? [401]
          : !mayCall
            ? [403]
            : name !== "createRootKey" && !isHere
              ? [404]
              : !isBounded
                ? [403]
                : // Already rotated, or expired.
                  name === "rotateRootKey" || target.rotatedTo !== undefined
                  ? [200, 409, 412]
                  : [200];
        expect([step, name, expected, status]).toEqual([
          step,
          name,
          expect.arrayContaining([status]),
          status,
        ]);

        const after = await list(mine);
        for (const now of after) {
          const was = before.find(({ id }) => id === now.id);
          const gained = now.permissions.filter((one) => !was?.permissions.includes(one));
          expect([step, name, gained, isWithin(gained, caller.permissions)]).toEqual([
            step,
            name,
            gained,
            true,
          ]);
          if (was === undefined || !isNoLater(now.expires, was.expires))
            expect([step, name, isNoLater(now.expires, caller.expires)]).toEqual([
              step,
              name,
              true,
            ]);
        }
        expect(await list(other)).toEqual(beforeThere);
        if (status !== 200) expect(after).toEqual(before);
      }
      const shown = JSON.stringify([
        ...(await Promise.all(WORKSPACES.map(list))),
        ...(await Promise.all(
          WORKSPACES.map((id) => context.latchkey.workspace(id).listAuditEvents({ limit: 100 })),
        )),
      ]);
      for (const secret of secrets.values()) expect(shown).not.toContain(secret);
    },
  );

  test("R2: what a root key holds is read in the commit, however long ago it was let in", async () => {
    const { latchkey, another, setClock } = open();
    const maker = await latchkey.createRootKey({ permissions: ["*"] });
    const target = await latchkey.createRootKey({ permissions: ["api.*.read_key"] });
    const by = { rootKeyId: maker.rootKeyId };
    const attempts = () => [
      another().createRootKey({ permissions: ["api.*.read_key"] }, { by }),
      another().updateRootKey({ rootKeyId: target.rootKeyId, name: "x" }, { by }),
      another().rotateRootKey({ rootKeyId: target.rootKeyId }, { by }),
    ];
    await latchkey.updateRootKey({ ...by, permissions: ["api.*.create_key"] });
    for (const error of await Promise.all(attempts().map(rejectionOf)))
      expect(error).toMatchObject({ code: "INSUFFICIENT_PERMISSIONS" });
    await latchkey.updateRootKey({ ...by, permissions: ["*"], expires: NOON + HOUR_MS });
    setClock(NOON + HOUR_MS);
    for (const error of await Promise.all(attempts().map(rejectionOf)))
      expect(error).toMatchObject({ code: "UNAUTHORIZED" });
    await latchkey.revokeRootKey(by);
    for (const error of await Promise.all(attempts().map(rejectionOf)))
      expect(error).toMatchObject({ code: "UNAUTHORIZED" });
    expect(await latchkey.listRootKeys()).toMatchObject({
      rootKeys: [{ id: target.rootKeyId, permissions: ["api.*.read_key"] }],
      total: 1,
    });
  });

  test("a repetition shows no secret again, even if the permissions of its caller have changed", async () => {
    const { latchkey } = open();
    const input = { permissions: ["api.*.read_key"], idempotencyKey: "gateway-1" };
    const maker = await latchkey.createRootKey({ permissions: ["*"] });
    const acting = latchkey.actingAs(maker.rootKeyId);
    const scope = { by: { permissions: ["*"] } };
    const { key: _, ...first } = await acting.createRootKey(input, scope);
    expect(await acting.createRootKey(input, { by: { permissions: [] } })).toEqual({
      ...first,
      secretShownBefore: true,
    });
    expect(await latchkey.listRootKeys()).toMatchObject({ total: 2 });
  });
});
