import type { Latchkey, VerifyOutcome } from "@latchkey/core";

/** Input of `verifyKey`. */
export type VerifyInput = Parameters<Latchkey["verifyKey"]>[0];

/** A rate limit of a key or of an identity. */
export interface LimitShape {
  readonly name: string;
  readonly limit: number;
  readonly duration: number;
  readonly autoApply: boolean;
  /** A fixed window by default, the only algorithm that the other sides know. */
  readonly algorithm?: "fixed" | "sliding" | "token-bucket";
}

/** The settings that all keys of a question share. */
export interface KeyShape {
  readonly permissions: readonly string[];
  readonly enabled: boolean;
  readonly isExpired: boolean;
  /** Uses; null: unlimited. */
  readonly remaining: number | null;
  readonly limits: readonly LimitShape[];
  /** Limits of the identity that ten keys share; null: the keys have none. */
  readonly identityLimits: readonly LimitShape[] | null;
  /** The API's allow-list, one CIDR range; null: every address. */
  readonly addresses: string | null;
  /** Whether the keys exist at all. */
  readonly isKnown: boolean;
}

/** A question that programs ask about a key, with the keys it is asked about and the expected verdict. */
export interface Question {
  readonly id: string;
  readonly title: string;
  readonly keys: KeyShape;
  /** Required permissions: all of at least one of these lists. Null: none. */
  readonly anyOf: readonly (readonly string[])[] | null;
  /** The address that the key is presented from; null: none is given. */
  readonly address: string | null;
  /** Uses that it costs. */
  readonly cost: number;
  /** Limits that the question takes from by name. */
  readonly named: readonly { readonly name: string; readonly cost: number }[];
  /** Whether every call has its own request id, so that a repeat takes nothing. */
  readonly hasRequestId: boolean;
  readonly expected: VerifyOutcome["code"];
  /** The question as an input of `verifyKey`, written as in a program. */
  input(secret: string, requestId: string): VerifyInput;
}

/** More uses and units than any run takes: every verification is counted, and none is refused. */
const PLENTY = 1e12;

/** Duration of every window. It ends in 2029: if one ended during a run, one side would see that sooner than another. */
const DECADE_MS = 315_360_000_000;

const bareKeys: KeyShape = {
  permissions: ["docs.list", "docs.read"],
  enabled: true,
  isExpired: false,
  remaining: null,
  limits: [],
  identityLimits: null,
  addresses: null,
  isKnown: true,
};

const countedKeys: KeyShape = {
  ...bareKeys,
  remaining: PLENTY,
  limits: [{ name: "default", limit: PLENTY, duration: DECADE_MS, autoApply: true }],
};

const bare: Question = {
  id: "bare",
  title: "bare",
  keys: bareKeys,
  anyOf: null,
  address: null,
  cost: 1,
  named: [],
  hasRequestId: false,
  expected: "VALID",
  input: (key) => ({ key }),
};

const permission: Question = {
  ...bare,
  id: "permission",
  title: "permission",
  anyOf: [["docs.read"]],
  input: (key) => ({ key, authorization: { permissions: "docs.read" } }),
};

/** The question of a guarded route, which most goals are about. */
export const GUARDED: Question = {
  ...permission,
  id: "uses",
  title: "permission, uses, window",
  keys: countedKeys,
};

/** Keys with fewer uses than a run asks for. */
export const SCARCE: Question = {
  ...GUARDED,
  id: "scarce",
  title: "permission, 50 uses, window",
  keys: { ...countedKeys, remaining: 50 },
};

/** In the order of the tables. */
export const QUESTIONS: readonly Question[] = [
  bare,
  permission,
  { ...bare, id: "bare-uses", title: "bare; uses, window", keys: countedKeys },
  GUARDED,
  {
    ...GUARDED,
    id: "or",
    title: "permission query with `or`; uses, window",
    anyOf: [["docs.admin"], ["docs.read", "docs.list"]],
    input: (key) => ({
      key,
      authorization: { permissions: { or: ["docs.admin", { and: ["docs.read", "docs.list"] }] } },
    }),
  },
  {
    ...GUARDED,
    id: "cost",
    title: "permission, cost, named limit",
    keys: {
      ...countedKeys,
      limits: [{ name: "reads", limit: PLENTY, duration: DECADE_MS, autoApply: false }],
    },
    cost: 2,
    named: [{ name: "reads", cost: 3 }],
    input: (key) => ({
      key,
      authorization: { permissions: "docs.read" },
      remaining: { cost: 2 },
      ratelimits: [{ name: "reads", cost: 3 }],
    }),
  },
  {
    ...GUARDED,
    id: "identity",
    title: "permission, uses, two limits of the identity",
    keys: {
      ...countedKeys,
      limits: [],
      identityLimits: [
        { name: "calls", limit: PLENTY, duration: DECADE_MS, autoApply: true },
        { name: "reads", limit: PLENTY, duration: DECADE_MS, autoApply: false },
      ],
    },
    named: [{ name: "reads", cost: 1 }],
    input: (key) => ({
      key,
      authorization: { permissions: "docs.read" },
      ratelimits: [{ name: "reads" }],
    }),
  },
  {
    ...GUARDED,
    id: "request-id",
    title: "permission, uses, window, `requestId`",
    hasRequestId: true,
    input: (key, requestId) => ({
      key,
      authorization: { permissions: "docs.read" },
      requestId,
    }),
  },
  {
    ...permission,
    id: "not-found",
    title: "refused: NOT_FOUND",
    keys: { ...bareKeys, isKnown: false },
    expected: "NOT_FOUND",
  },
  {
    ...GUARDED,
    id: "disabled",
    title: "refused: DISABLED",
    keys: { ...countedKeys, enabled: false },
    expected: "DISABLED",
  },
  {
    ...GUARDED,
    id: "forbidden",
    title: "refused: FORBIDDEN (address)",
    keys: { ...countedKeys, addresses: "192.0.2.0/24" },
    address: "198.51.100.7",
    expected: "FORBIDDEN",
    input: (key) => ({
      key,
      authorization: { permissions: "docs.read" },
      ipAddress: "198.51.100.7",
    }),
  },
  {
    ...GUARDED,
    id: "expired",
    title: "refused: EXPIRED",
    keys: { ...countedKeys, isExpired: true },
    expected: "EXPIRED",
  },
  {
    ...GUARDED,
    id: "insufficient-permissions",
    title: "refused: INSUFFICIENT_PERMISSIONS",
    anyOf: [["docs.admin"]],
    expected: "INSUFFICIENT_PERMISSIONS",
    input: (key) => ({ key, authorization: { permissions: "docs.admin" } }),
  },
  {
    ...GUARDED,
    id: "rate-limited",
    title: "refused: RATE_LIMITED",
    keys: {
      ...countedKeys,
      limits: [{ name: "default", limit: 1, duration: DECADE_MS, autoApply: true }],
    },
    expected: "RATE_LIMITED",
  },
  {
    ...GUARDED,
    id: "usage-exceeded",
    title: "refused: USAGE_EXCEEDED",
    keys: { ...countedKeys, remaining: 0 },
    expected: "USAGE_EXCEEDED",
  },
];

/** @throws RangeError if no question has the id. */
export function questionOf(id: string): Question {
  const question = [...QUESTIONS, SCARCE].find((one) => one.id === id);
  if (question === undefined) throw new RangeError(`no such question: ${id}`);
  return question;
}

/** A limit that a question takes from. `slot`: its index among the limits of its owner. */
export interface ChargedLimit {
  readonly owner: "key" | "identity";
  readonly slot: number;
  readonly shape: LimitShape;
  readonly cost: number;
}

/** The limits that a question takes from: those of the key and the identity that apply automatically, then those that it names. */
export function chargedLimits({ keys, named }: Question): readonly ChargedLimit[] {
  const all = (["key", "identity"] as const).flatMap((owner) =>
    ((owner === "key" ? keys.limits : keys.identityLimits) ?? []).map((shape, slot) => ({
      owner,
      slot,
      shape,
    })),
  );
  const isNamed = ({ name }: LimitShape) => named.some((one) => one.name === name);
  const automatic = all.filter(({ shape }) => shape.autoApply && !isNamed(shape));
  return [
    ...automatic.map((limit) => ({ ...limit, cost: 1 })),
    ...named.flatMap(({ name, cost }) =>
      all.filter(({ shape }) => shape.name === name).map((limit) => ({ ...limit, cost })),
    ),
  ];
}
