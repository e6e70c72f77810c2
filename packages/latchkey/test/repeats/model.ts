import type { Latchkey } from "@latchkey/core";
import type { Chance } from "../chance.js";

interface KnownKey {
  readonly keyId: string;
  readonly apiId: string;
  /** Null: unlimited. */
  readonly remaining: number | null;
  readonly isRotated?: true;
}

/** The existing records in the model. */
export interface World {
  /** Ids by name. */
  readonly permissions: ReadonlyMap<string, string>;
  readonly apis: readonly string[];
  readonly keys: readonly KnownKey[];
  /** Ids of deleted APIs and keys, which calls name, too. */
  readonly gone: readonly string[];
}

export function emptyWorld(): World {
  return { permissions: new Map(), apis: [], keys: [], gone: [] };
}

/** The world after one call of an operation with this outcome; null if the outcome is impossible. */
export type Apply = (world: World, outcome: unknown) => World | null;

/** An operation with its input. */
export interface ModelCall {
  readonly input: string;
  readonly apply: Apply;
  readonly run: (latchkey: Latchkey, idempotencyKey: string) => Promise<unknown>;
}

/** Draws the input of one operation. */
export type DrawCall = (chance: Chance, world: World) => ModelCall;

/** An answer without its secret, and without the field that replaces the secret in a repetition. */
export function answerOf(outcome: unknown): unknown {
  const { key: _, secretShownBefore: __, ...others } = Object(outcome) as Record<string, unknown>;
  return others;
}

/** The actual records, in a form to compare with {@link shownWorld}. */
export async function worldOf(latchkey: Latchkey): Promise<unknown> {
  const permissions: string[] = [];
  for (const { name } of await latchkey.listPermissions()) permissions.push(name);
  const apis: (readonly [string, readonly unknown[]])[] = [];
  for await (const { id } of latchkey.apis()) {
    const keys: (readonly [string, number | null])[] = [];
    for await (const { id: keyId, remaining = null } of latchkey.keysOf({ apiId: id }))
      keys.push([keyId, remaining]);
    apis.push([id, keys.sort(byText)]);
  }
  return { permissions: permissions.sort(), apis: apis.sort(byText) };
}

/** The expected records, in the form of {@link worldOf}. */
export function shownWorld({ permissions, apis, keys }: World): unknown {
  const keysOf = (apiId: string) =>
    keys.filter((key) => key.apiId === apiId).map((key) => [key.keyId, key.remaining]);
  return {
    permissions: [...permissions.keys()].sort(),
    apis: apis.map((id) => [id, keysOf(id).sort(byText)]).sort(byText),
  };
}

function byText(one: unknown, other: unknown): number {
  return String(one) < String(other) ? -1 : 1;
}

function isRefused(outcome: unknown, code: string): boolean {
  const { refused } = Object(outcome) as { readonly refused?: string };
  return refused?.startsWith(code) === true;
}

const NAMES = ["tides.read", "tides.write", "gates.open"] as const;
/** More keys than one step deletes. */
const MANY_KEYS = 45;

/** One of these ids, a deleted one, or one that never existed. */
function pickId(chance: Chance, ids: readonly string[], { gone }: World, prefix: string): string {
  const old = gone.filter((id) => id.startsWith(prefix)).slice(-2);
  return chance.pick([...ids, ...ids, ...old, `${prefix}_none`]);
}

function withKeys(world: World, keys: readonly KnownKey[]): World {
  return { ...world, keys: [...world.keys, ...keys] };
}

function withoutKeysOf(world: World, apiId: string): World {
  const isOf = (key: KnownKey) => key.apiId === apiId;
  const gone = [...world.gone, ...world.keys.filter(isOf).map(({ keyId }) => keyId)];
  return { ...world, keys: world.keys.filter((key) => !isOf(key)), gone };
}

const createApi: DrawCall = (chance) => {
  const name = chance.pick(["tides", "gates"]);
  return {
    input: `createApi ${name}`,
    run: (latchkey, idempotencyKey) => latchkey.createApi({ name, idempotencyKey }),
    apply: (world, outcome) => {
      const { apiId } = outcome as { readonly apiId?: string };
      if (apiId === undefined || world.apis.includes(apiId)) return null;
      return { ...world, apis: [...world.apis, apiId] };
    },
  };
};

const deleteApi: DrawCall = (chance, drawn) => {
  const apiId = pickId(chance, drawn.apis, drawn, "api");
  return {
    input: `deleteApi ${apiId}`,
    run: async (latchkey, idempotencyKey) => ({
      answer: await latchkey.deleteApi({ apiId, idempotencyKey }),
    }),
    apply: (world, outcome) => {
      if (!world.apis.includes(apiId)) return isRefused(outcome, "NOT_FOUND") ? world : null;
      if (isRefused(outcome, "")) return null;
      const left = withoutKeysOf(world, apiId);
      const apis = world.apis.filter((id) => id !== apiId);
      return { ...left, apis, gone: [...left.gone, apiId] };
    },
  };
};

const createPermission: DrawCall = (chance) => {
  const name = chance.pick(NAMES);
  return {
    input: `createPermission ${name}`,
    run: (latchkey, idempotencyKey) => latchkey.createPermission({ name, idempotencyKey }),
    apply: (world, outcome) => {
      if (world.permissions.has(name)) return isRefused(outcome, "CONFLICT") ? world : null;
      const { permissionId } = outcome as { readonly permissionId?: string };
      if (permissionId === undefined) return null;
      return { ...world, permissions: new Map([...world.permissions, [name, permissionId]]) };
    },
  };
};

const deletePermission: DrawCall = (chance, drawn) => {
  const permissionId = pickId(chance, [...drawn.permissions.values()], drawn, "perm");
  return {
    input: `deletePermission ${permissionId}`,
    run: async (latchkey, idempotencyKey) => ({
      answer: await latchkey.deletePermission({ permissionId, idempotencyKey }),
    }),
    apply: (world, outcome) => {
      const left = [...world.permissions].filter(([, id]) => id !== permissionId);
      if (left.length === world.permissions.size)
        return isRefused(outcome, "NOT_FOUND") ? world : null;
      if (isRefused(outcome, "")) return null;
      return { ...world, permissions: new Map(left), gone: [...world.gone, permissionId] };
    },
  };
};

const createKey: DrawCall = (chance, drawn) => {
  const apiId = pickId(chance, drawn.apis, drawn, "api");
  const remaining = chance.pick([5, 6]);
  return {
    input: `createKey ${apiId} ${remaining}`,
    run: (latchkey, idempotencyKey) => latchkey.createKey({ apiId, remaining, idempotencyKey }),
    apply: (world, outcome) => {
      if (!world.apis.includes(apiId)) return isRefused(outcome, "NOT_FOUND") ? world : null;
      const { keyId } = outcome as { readonly keyId?: string };
      if (keyId === undefined) return null;
      return withKeys(world, [{ keyId, apiId, remaining }]);
    },
  };
};

const createKeys: DrawCall = (chance, drawn) => {
  const apiId = pickId(chance, drawn.apis, drawn, "api");
  const count = chance.pick([2, MANY_KEYS]);
  const drawnOnce = chance.below(1_000_000_000);
  return {
    input: `createKeys ${apiId} ${count} ${drawnOnce}`,
    run: (latchkey, idempotencyKey) =>
      latchkey.createKeys(
        Array.from({ length: count }, (_, index) => ({
          apiId,
          plaintext: `old_${drawnOnce}_${index}_9c2a7d51`,
        })),
        { idempotencyKey },
      ),
    apply: (world, outcome) => {
      if (!world.apis.includes(apiId)) return isRefused(outcome, "NOT_FOUND") ? world : null;
      const { keyIds } = outcome as { readonly keyIds?: readonly string[] };
      // After a day it is a new call, whose secrets exist unless their keys were deleted.
      if (keyIds === undefined) return isRefused(outcome, "CONFLICT") ? world : null;
      return withKeys(
        world,
        keyIds.map((keyId) => ({ keyId, apiId, remaining: null })),
      );
    },
  };
};

const deleteKeys: DrawCall = (chance, drawn) => {
  const apiId = pickId(chance, drawn.apis, drawn, "api");
  return {
    input: `deleteKeys ${apiId}`,
    run: (latchkey, idempotencyKey) => latchkey.deleteKeys({ apiId, idempotencyKey }),
    apply: (world, outcome) => {
      if (!world.apis.includes(apiId)) return isRefused(outcome, "NOT_FOUND") ? world : null;
      const left = withoutKeysOf(world, apiId);
      const { deletedKeys } = outcome as { readonly deletedKeys?: number };
      return deletedKeys === world.keys.length - left.keys.length ? left : null;
    },
  };
};

const deleteKey: DrawCall = (chance, drawn) => {
  const ids = drawn.keys.slice(-3).map(({ keyId }) => keyId);
  const keyId = pickId(chance, ids, drawn, "key");
  return {
    input: `deleteKey ${keyId}`,
    run: async (latchkey, idempotencyKey) => ({
      answer: await latchkey.deleteKey({ keyId, idempotencyKey }),
    }),
    apply: (world, outcome) => {
      const keys = world.keys.filter((key) => key.keyId !== keyId);
      if (keys.length === world.keys.length) return isRefused(outcome, "NOT_FOUND") ? world : null;
      return isRefused(outcome, "") ? null : { ...world, keys, gone: [...world.gone, keyId] };
    },
  };
};

const rotateKey: DrawCall = (chance, drawn) => {
  const ids = drawn.keys.filter(({ remaining }) => remaining === null).map(({ keyId }) => keyId);
  const keyId = pickId(chance, ids.slice(-3), drawn, "key");
  return {
    input: `rotateKey ${keyId}`,
    run: (latchkey, idempotencyKey) => latchkey.rotateKey({ keyId, graceMs: 0, idempotencyKey }),
    apply: (world, outcome) => {
      const before = world.keys.find((key) => key.keyId === keyId);
      if (before === undefined) return isRefused(outcome, "NOT_FOUND") ? world : null;
      if (before.isRotated) return "refused" in Object(outcome) ? world : null;
      const { keyId: next } = outcome as { readonly keyId?: string };
      if (next === undefined) return null;
      const keys = world.keys.filter((one) => one !== before);
      const rotated = { ...before, isRotated: true } as const;
      return { ...world, keys: [...keys, rotated, { ...before, keyId: next }] };
    },
  };
};

const updateRemaining: DrawCall = (chance, drawn) => {
  const ids = drawn.keys.filter(({ remaining }) => remaining !== null).map(({ keyId }) => keyId);
  const keyId = pickId(chance, ids.slice(-3), drawn, "key");
  const value = chance.pick([1, 10]);
  return {
    input: `updateRemaining ${keyId} ${value}`,
    run: (latchkey, idempotencyKey) =>
      latchkey.updateRemaining({ keyId, op: "increment", value, idempotencyKey }),
    apply: (world, outcome) => {
      const before = world.keys.find((key) => key.keyId === keyId);
      if (before === undefined) return isRefused(outcome, "NOT_FOUND") ? world : null;
      if (before.remaining === null) return "refused" in Object(outcome) ? world : null;
      const remaining = before.remaining + value;
      if ((outcome as { readonly remaining?: number }).remaining !== remaining) return null;
      const keys = world.keys.map((key) => (key === before ? { ...key, remaining } : key));
      return { ...world, keys };
    },
  };
};

/** Writes of every kind: in one commit, in steps, in rounds, with a secret. */
export const CALLS: readonly DrawCall[] = [
  ...[createApi, deleteApi, createPermission, deletePermission, createKey, createKeys],
  ...[deleteKeys, deleteKey, rotateKey, updateRemaining],
];
