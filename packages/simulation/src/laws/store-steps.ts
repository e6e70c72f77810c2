import type { Change, ChargeMoment, ChargePlan, ChargeResult } from "@latchkey/core";
import type { ServerLaw } from "../world/server.js";

/** Kinds of records whose changes the audit log tells. */
const AUDITED: ReadonlySet<string> = new Set(["key", "identity", "api", "role", "permission"]);

/** A change of configuration and its entry in the audit log are one write. */
export const changesAreLogged: ServerLaw = async (_, { method, args, result }) => {
  if (method !== "commit" || (result as { kind: string }).kind !== "committed") return null;
  const { puts, deletes } = args[1] as Change;
  const changed = [...puts.map(({ record }) => record), ...deletes].find(({ kind }) =>
    AUDITED.has(kind),
  );
  const isLogged = puts.some(({ record }) => record.kind === "auditEntry");
  return changed === undefined || isLogged
    ? null
    : `${changed.kind} ${changed.id} changed unlogged`;
};

/** What is counted stays within its bounds. */
export const countersStayInBounds: ServerLaw = async (_, { method, result }) => {
  if (method !== "charge") return null;
  const { remaining = null, limits = [] } = result as Partial<
    Extract<ChargeResult, { readonly limits: unknown }>
  >;
  if (remaining !== null && !(Number.isSafeInteger(remaining) && remaining >= 0))
    return `${remaining} uses left`;
  const wrong = limits.find(({ limit, remaining: left }) => !(left >= 0 && left <= limit));
  return wrong === undefined ? null : `${wrong.remaining} of ${wrong.limit} left of ${wrong.name}`;
};

/** A refusal moves nothing. */
export const refusalsMoveNothing: ServerLaw = async (server, { method, args, result }) => {
  if (method !== "charge") return null;
  const { kind } = result as ChargeResult;
  if (kind !== "rate-limited" && kind !== "usage-exceeded") return null;
  const [plan, moment] = args as [ChargePlan, ChargeMoment];
  // Whatever was remembered of the request: this asks as if for the first time.
  const again = await server.peek(plan, moment);
  if (moment.request !== undefined || again.kind === "stale") return null;
  return JSON.stringify(again) === JSON.stringify(result)
    ? null
    : `a refusal moved a counter of ${plan.workspaceId}`;
};
