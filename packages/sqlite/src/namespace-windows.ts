import {
  decideWindow,
  type NamespacePlan,
  type RateWindow,
  type WindowDecision,
} from "@latchkey/core";
import { Command, Query, type SqliteDatabase } from "./database.js";
import { FORGOTTEN_AT_ONCE, KEPT_AFTER_END_MS } from "./ended-windows.js";
import { readStored, whole } from "./values.js";

export const NAMESPACE_SQL = {
  find: `SELECT started_at, used FROM latchkey_namespace_window
    WHERE workspace_id = ? AND namespace = ? AND identifier = ? AND duration_ms = ?`,
  ended: `SELECT workspace_id, namespace, identifier, duration_ms FROM latchkey_namespace_window
    WHERE started_at + duration_ms < ? ORDER BY started_at + duration_ms LIMIT ${FORGOTTEN_AT_ONCE}`,
} as const;

/** Windows of limits that belong to no key. Forgotten as those are that requests made up. */
export class NamespaceWindows {
  readonly #find: Query;
  readonly #ended: Query;
  readonly #set: Command;
  readonly #forget: Command;

  constructor(database: SqliteDatabase) {
    this.#find = new Query(database, NAMESPACE_SQL.find);
    this.#ended = new Query(database, NAMESPACE_SQL.ended);
    this.#set = new Command(
      database,
      `INSERT INTO latchkey_namespace_window
        (workspace_id, namespace, identifier, duration_ms, started_at, used)
        VALUES (?, ?, ?, ?, ?, ?)
        ON CONFLICT (workspace_id, namespace, identifier, duration_ms)
        DO UPDATE SET started_at = excluded.started_at, used = excluded.used`,
    );
    this.#forget = new Command(
      database,
      `DELETE FROM latchkey_namespace_window
        WHERE workspace_id = ? AND namespace = ? AND identifier = ? AND duration_ms = ?`,
    );
  }

  /** Answers a plan that writes nothing, without the write lock; null where {@link take} is needed. */
  look(plan: NamespacePlan): WindowDecision | null {
    const decision = this.#decide(plan);
    return takes(plan, decision) ? null : decision;
  }

  /** Carries a plan out. To be called inside a write transaction. */
  take(plan: NamespacePlan): WindowDecision {
    const decision = this.#decide(plan);
    if (!takes(plan, decision)) return decision;
    const { workspaceId, namespace, identifier, durationMs, now } = plan;
    const { startedAt, used } = decision.window;
    this.#set.run(workspaceId, namespace, identifier, durationMs, startedAt, used);
    for (const ended of this.#ended.all(now - KEPT_AFTER_END_MS)) this.#forget.run(...ended);
    return decision;
  }

  #decide(plan: NamespacePlan): WindowDecision {
    return decideWindow(this.#get(plan), plan, plan.cost, plan.now);
  }

  #get({ workspaceId, namespace, identifier, durationMs }: NamespacePlan): RateWindow | null {
    const row = this.#find.first(workspaceId, namespace, identifier, durationMs);
    if (row === undefined) return null;
    return readStored("window", null, () => ({ startedAt: whole(row[0]), used: whole(row[1]) }));
  }
}

function takes({ cost }: NamespacePlan, { kind }: WindowDecision): boolean {
  return kind === "admit" && cost > 0;
}
