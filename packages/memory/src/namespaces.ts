import { decideWindow, type NamespacePlan, type WindowDecision } from "@latchkey/core";
import { ExpiringWindows } from "./expiring-windows.js";

/** The limits that belong to no key, of all workspaces. */
export class Namespaces {
  readonly #windows = new ExpiringWindows();

  take(plan: NamespacePlan): WindowDecision {
    const { cost, durationMs, now } = plan;
    const name = counterName(plan);
    const decision = decideWindow(this.#windows.get(name), plan, cost, now);
    // Frozen, since the window that is kept is the one that is handed out.
    Object.freeze(decision.window);
    if (decision.kind === "admit" && cost > 0) {
      this.#windows.set(name, decision.window, durationMs, now);
    }
    return decision;
  }

  clear(): void {
    this.#windows.clear();
  }
}

/** The namespace goes with its length: it may hold any character, so that nothing would tell where it ends. */
function counterName({ workspaceId, namespace, identifier, durationMs }: NamespacePlan): string {
  return `${workspaceId} ${durationMs} ${namespace.length} ${namespace} ${identifier}`;
}
