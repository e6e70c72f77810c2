import { corruptRecord, type NamespacePlan, type WindowDecision } from "@latchkey/core";
import type { Connection } from "./connection.js";
import { type KeyNames, namespaceWindowName } from "./key-names.js";
import { asReply, type Reply, unexpected } from "./replies.js";
import { SCRIPTS } from "./scripts.js";
import { digits, whole } from "./values.js";

/** Limits that belong to no key. */
export class Namespaces {
  readonly #connection: Connection;
  readonly #names: KeyNames;

  constructor(connection: Connection, names: KeyNames) {
    this.#connection = connection;
    this.#names = names;
  }

  take(plan: NamespacePlan): Promise<WindowDecision> {
    const { workspaceId, namespace, identifier, limit, durationMs, cost, now } = plan;
    const names = this.#names.of(workspaceId);
    const params = [
      namespaceWindowName(names, namespace, identifier, durationMs),
      ...[limit, durationMs, cost, now].map(digits),
    ];
    return this.#connection.verify(SCRIPTS.takeFromNamespace, 1, params, (answer) =>
      decision(asReply(answer)),
    );
  }
}

function decision([status, startedAt, used]: Reply): WindowDecision {
  if (status === "CORRUPT") throw corruptRecord("rate limit");
  if (status !== "ADMIT" && status !== "REFUSE") throw unexpected(status);
  const window = { startedAt: whole(startedAt), used: whole(used) };
  return { kind: status === "ADMIT" ? "admit" : "refuse", window };
}
