import { hash } from "node:crypto";
import type { ChargeMoment, ChargePlan, Expectation, LimitCharge } from "@latchkey/core";
import type { Connection } from "./engine/connection.js";
import { KIND_CODE, versionCode } from "./engine/names.js";

/** What is known of a limit beside its window. */
export type KnownLimit = Pick<LimitCharge, "name" | "limit" | "duration" | "cost">;

/** Where the parameters of the statement are that are not the same each time. */
const NOW = 2;
const HANDLES = 6;

/** What of a charge is the same from one moment to the next: it is kept with the plan. */
export class PreparedCharge {
  readonly connection: Connection;
  readonly plan: ChargePlan;
  /** Whether the statement may change something. */
  readonly isWrite: boolean;
  /** Numbers of the counters that are needed, as last known: `{1,2}`. */
  handles: string;
  readonly #values: readonly (string | null)[];

  constructor(connection: Connection, plan: ChargePlan) {
    const { workspaceId, revision, confirms, mode, cost, uses, limits } = plan;
    this.connection = connection;
    this.plan = plan;
    this.isWrite = mode === "commit";
    this.handles = listOf(knownHandles(plan));
    this.#values = [
      workspaceId,
      revision === null ? null : String(revision),
      "",
      listOf(confirms.map(({ kind }) => KIND_CODE[kind])),
      listOf(confirms.map(({ id }) => quoted(id))),
      listOf(confirms.map(({ version }) => versionCode(version))),
      "",
      String(cost),
      uses === null ? null : String(uses + 1),
      String(mode === "peek"),
      listOf(limits.map(({ window }) => quoted(window))),
      listOf(limits.map(({ owner }) => (owner === null ? 0 : owner + 1))),
      listOf(limits.map(({ limit }) => limit)),
      listOf(limits.map(({ duration }) => duration)),
      listOf(limits.map((limit) => limit.cost)),
    ];
  }

  /** The parameters of the statement `charge`. */
  at({ now, refill, request }: ChargeMoment): (string | null)[] {
    const { confirms, limits } = this.plan;
    const values = this.#values.slice();
    values[NOW] = String(now);
    values[HANDLES] = this.handles;
    values.push(
      refill && String(refill.amount),
      refill && String(refill.dueAt),
      request ? requestName(confirms[0], request.id) : null,
      request?.fingerprint ?? null,
      request ? String(request.rememberUntil) : null,
      request ? aboutOf(limits) : null,
    );
    return values;
  }
}

/** Of the records that something is taken from. The rest the database answers. */
function knownHandles({ confirms, uses, limits }: ChargePlan): readonly unknown[] {
  const known = confirms.filter(
    (_, place) => uses === place || limits.some(({ owner }) => owner === place),
  );
  const handles = known.map(({ handle }) => handle);
  return [...new Set(handles.map(Number))].filter(Number.isSafeInteger).sort((a, b) => a - b);
}

/** As PostgreSQL writes an array. */
function listOf(items: readonly unknown[]): string {
  return `{${items.join(",")}}`;
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}

/**
 * The name under which a request is remembered, beside the first record of its plan. A digest, so that it tells nothing of a
 * record that was deleted. Names of windows have no space.
 */
function requestName(beside: Expectation | undefined, id: string): string {
  return ` ${hash("sha256", `${beside?.kind} ${beside?.id} ${id}`, "base64url")}`;
}

/** What is remembered of the limits along with a request, whatever they are when it is repeated. */
function aboutOf(limits: readonly LimitCharge[]): string {
  return JSON.stringify(
    limits.map(({ name, limit, duration, cost }) => [name, limit, duration, cost]),
  );
}
