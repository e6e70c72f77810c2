import type { Usage, UsageChange, UsageChangeResult } from "@latchkey/core";
import { type Reply, unexpected } from "./replies.js";
import { damaged, text, whole } from "./values.js";

/** Uses as they are kept apart from a key: `<uses left, nothing for unlimited>:<refilledAt>`. */
export function encodeUses({ remaining, refilledAt }: Usage): string {
  return `${remaining ?? ""}:${refilledAt}`;
}

/** The opposite of {@link encodeUses}. */
export function usesOf(stored: unknown): Usage {
  const [left, refilledAt, ...more] = text(stored).split(":");
  if (more.length > 0) return damaged();
  return { remaining: left === "" ? null : whole(left), refilledAt: whole(refilledAt) };
}

/** A change of uses as change-usage.lua takes it; undefined leaves them. */
export function usageArguments(change: UsageChange | undefined): readonly string[] {
  if (change === undefined) return ["", "", "", "", ""];
  const { operation, due, settledAt } = change;
  return [
    operation.kind,
    numberOf(operation),
    due === null ? "" : String(due.amount),
    due === null ? "" : String(due.dueAt),
    String(settledAt),
  ];
}

/** Reads the uses that a change has led to: `{"UPDATED", uses left, refilledAt}`. */
export function changedUses([, left, refilledAt]: Reply): Usage {
  return { remaining: left === "" ? null : whole(left), refilledAt: whole(refilledAt) };
}

/** Reads why a change of uses was refused. */
export function usageRefused([status, left]: Reply): {
  readonly kind: "usage-refused";
  readonly reason: Exclude<UsageChangeResult, { kind: "changed" }>;
} {
  switch (status) {
    case "UNLIMITED":
      return { kind: "usage-refused", reason: { kind: "unlimited" } };
    case "INSUFFICIENT":
      return { kind: "usage-refused", reason: { kind: "insufficient", remaining: whole(left) } };
    case "OVERFLOW":
      return { kind: "usage-refused", reason: { kind: "overflow", remaining: whole(left) } };
    default:
      throw unexpected(status);
  }
}

function numberOf(operation: UsageChange["operation"]): string {
  switch (operation.kind) {
    case "keep":
      return "";
    case "set":
      return operation.remaining === null ? "" : String(operation.remaining);
    case "increment":
    case "decrement":
      return String(operation.by);
    default:
      return operation satisfies never;
  }
}
