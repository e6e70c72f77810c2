import type {
  DefaultTypes,
  Latchkey,
  LatchkeyTypes,
  LimitName,
  VerifierInput,
  VerifyOutcome,
} from "@latchkey/core";
import { refuseUnknown } from "./options.js";

/** What a guard needs of a latchkey. */
export type GuardLatchkey<Types extends LatchkeyTypes = DefaultTypes> = Pick<
  Latchkey<Types>,
  "verifier" | "verifyKey" | "now" | "~types"
>;

/** A whole number >= 0, or what makes one of the request. 0 takes nothing. */
export type Cost<Request> = number | ((request: Request) => number | Promise<number>);

/** What a route asks of a key, beside whether it is good. */
export interface GuardQuestion<Request, Types extends LatchkeyTypes = DefaultTypes> {
  /** What the key must be permitted to do: a name, or `{ and: [...] }` or `{ or: [...] }` of queries. */
  readonly permissions?: VerifierInput<Types>["permissions"];
  /** The API that the key must belong to. */
  readonly apiId?: string;
  /** Uses to take: 1 unless given. */
  readonly cost?: Cost<Request>;
  /** Limits of the key or its identity to take from, by name; each costs 1 unless given. At most 50. */
  readonly ratelimits?: readonly {
    /** Name of the limit. */
    readonly name: LimitName<Types>;
    /** Units to take: 1 unless given. */
    readonly cost?: Cost<Request>;
  }[];
  /** Whether a request without a key passes as well, without a verdict. One with a key that is refused never does. */
  readonly optional?: boolean;
}

/** Asks the question of a route about one key. */
export type Ask<Request> = (
  key: string,
  ipAddress: string | null,
  request: Request,
) => Promise<VerifyOutcome>;

const QUESTION_FIELDS: ReadonlySet<string> = new Set([
  "permissions",
  "apiId",
  "cost",
  "ratelimits",
  "optional",
] satisfies (keyof GuardQuestion<unknown>)[]);

/**
 * Reads the question of a route once. A verifier asks it, unless a cost depends on the request.
 *
 * @throws TypeError, or LatchkeyError `BAD_REQUEST`, naming what is wrong with the question.
 */
export function readQuestion<Request>(
  latchkey: GuardLatchkey,
  question: GuardQuestion<Request>,
): Ask<Request> {
  refuseUnknown(question, QUESTION_FIELDS, "a field of a question");
  const { apiId, permissions, cost = 1, ratelimits, optional } = question;
  if (optional !== undefined && typeof optional !== "boolean")
    throw new TypeError('"optional" must be true or false');
  // Made in any case: a question that is wrong is found out before the first request.
  const verify = latchkey.verifier({
    apiId,
    permissions,
    cost: fixedCost(cost),
    ratelimits: ratelimits?.map((limit) => ({ ...limit, cost: fixedCost(limit.cost) })),
  });
  const costs = [cost, ...(ratelimits ?? []).map((limit) => limit.cost)];
  if (!costs.some((one) => typeof one === "function"))
    return (key, ipAddress) => verify(key, ipAddress === null ? undefined : { ipAddress });
  return async (key, ipAddress, request) =>
    latchkey.verifyKey({
      key,
      apiId,
      ipAddress: ipAddress ?? undefined,
      authorization: permissions === undefined ? undefined : { permissions },
      remaining: { cost: await costOf(cost, request) },
      ratelimits: await Promise.all(
        (ratelimits ?? []).map(async (limit) => ({
          ...limit,
          cost: await costOf(limit.cost ?? 1, request),
        })),
      ),
    });
}

/** A cost that is no function, for a question that is only checked. */
function fixedCost(cost: Cost<never> = 1): number {
  return typeof cost === "function" ? 1 : cost;
}

function costOf<Request>(cost: Cost<Request>, request: Request): number | Promise<number> {
  return typeof cost === "function" ? cost(request) : cost;
}
