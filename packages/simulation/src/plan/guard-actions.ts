import type { Latchkey, PermissionQuery } from "@latchkey/core";
import { type CreateFetchGuard, createGuard } from "@latchkey/guard/fetch";
import { onKey } from "./action.js";

/** How long a guard may take to decide, in ms. */
export const GUARD_TIMEOUT_MS = 900;

/** The outcome of a guarded request. */
export interface GuardedAnswer {
  readonly status: number;
  /** Whether the handler was called. */
  readonly isAdmitted: boolean;
  /** Id of the key that the handler was called with; null: none. */
  readonly keyId: string | null;
}

/** A request to a guarded route, and the route's question. */
interface GuardedArgs {
  readonly cost: number;
  readonly permissions?: Extract<PermissionQuery, string>;
  /** Which headers carry the key. */
  readonly form: "bearer" | "header" | "both" | "none";
  readonly isOptional: boolean;
  /** Whether the question inherits `optional` from its prototype, which must not count. */
  readonly isInherited: boolean;
  /** Whether the function that finds the address fails. */
  readonly isAddressLost: boolean;
}

const guards = new WeakMap<Latchkey, CreateFetchGuard>();

function guardOf(latchkey: Latchkey): CreateFetchGuard {
  const known = guards.get(latchkey);
  if (known !== undefined) return known;
  const guard = createGuard(latchkey, {
    timeoutMs: GUARD_TIMEOUT_MS,
    getAddress: ({ headers }) =>
      headers.has("x-lost") ? Promise.reject(new Error("no address")) : "192.0.2.1",
    onError: () => undefined,
  });
  guards.set(latchkey, guard);
  return guard;
}

/** Requests to guarded routes. */
export const GUARD_ACTIONS = {
  guarded: onKey(
    12,
    (random): GuardedArgs => ({
      cost: 1,
      form: random.pick(["bearer", "bearer", "header", "both", "none"]),
      ...(random.chance(25) && { permissions: random.pick(["read", "write"]) }),
      isOptional: random.chance(20),
      isInherited: random.chance(10),
      isAddressLost: random.chance(10),
    }),
    async (latchkey, { secret }, args): Promise<GuardedAnswer> => {
      const { permissions, form, isOptional, isInherited, isAddressLost } = args;
      const question = {
        ...(permissions !== undefined && { permissions }),
        ...(isOptional && { optional: true }),
      };
      const asked: typeof question = isInherited ? Object.create({ optional: true }) : question;
      let admitted: Pick<GuardedAnswer, "isAdmitted" | "keyId"> = {
        isAdmitted: false,
        keyId: null,
      };
      const route = guardOf(latchkey)(asked, (_, apiKey) => {
        admitted = { isAdmitted: true, keyId: apiKey?.keyId ?? null };
        return new Response("in");
      });
      const headers = new Headers();
      if (form === "bearer" || form === "both") headers.set("authorization", `Bearer ${secret}`);
      if (form === "header" || form === "both") headers.set("x-api-key", secret);
      if (isAddressLost) headers.set("x-lost", "1");
      const { status } = await route(new Request("http://localhost/", { headers }));
      return { status, ...admitted };
    },
  ),
} as const;
