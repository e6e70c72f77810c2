import {
  type ChargeMoment,
  type ChargePlan,
  KIND_CODE,
  type LimitCharge,
  limitsText,
  requestName,
} from "@latchkey/core";
import type { Connection } from "./engine/connection.js";
import { versionCode } from "./engine/names.js";
import { stepRow } from "./holds.js";
import { plainChargeOf } from "./plain-charge.js";
import { amountOf, escaped, fieldsOf, listOf, quoted } from "./row-text.js";
import { countedAt } from "./statistics.js";

/** The part of a charge that is the same at every moment. Cached in `plan.memo`. */
export class PreparedCharge {
  readonly connection: Connection;
  readonly plan: ChargePlan;
  /** Whether it may change something. */
  readonly isWrite: boolean;
  /** Numbers of the counters that it needs, in ascending order, as last known: `1,2`. */
  handles: string;
  /** Null if only the function will do. */
  readonly plain: ReturnType<typeof plainChargeOf>;
  readonly #onlyWindow: string | null;
  readonly #fixed: string;

  constructor(connection: Connection, plan: ChargePlan) {
    const { workspaceId, revision, confirms, mode, cost, uses, limits, hold, counts } = plan;
    this.connection = connection;
    this.plan = plan;
    this.isWrite = mode === "commit" || counts !== undefined;
    const [first] = limits;
    const isPlain = limits.every(({ algorithm, shadow }) => algorithm === "fixed" && !shadow);
    const isOnly =
      uses === null && hold === undefined && limits.length === 1 && first?.owner === null;
    this.#onlyWindow = isOnly ? `${workspaceId} ${first.window}` : null;
    this.handles = knownHandles(plan).join(",");
    const fields = [
      quoted(workspaceId),
      revision,
      listOf(confirms.map(({ kind }) => KIND_CODE[kind])),
      listOf(confirms.map(({ id }) => quoted(id))),
      listOf(confirms.map(({ version }) => versionCode(version))),
      cost,
      uses === null ? null : uses + 1,
      mode === "peek",
      mode === "commit" &&
        (hold !== undefined ||
          limits.some(({ owner, cost: units }) => owner !== null && units > 0)),
      listOf(limits.map(({ window }) => quoted(window))),
      listOf(limits.map(({ owner }) => (owner === null ? 0 : owner + 1))),
      listOf(limits.map(({ limit }) => limit)),
      listOf(limits.map(({ duration }) => duration)),
      listOf(limits.map((limit) => limit.cost)),
      listOf(isPlain ? [] : limits.map(algorithmText)),
      listOf(isPlain ? [] : limits.map(({ burst }) => burst)),
      listOf(isPlain ? [] : limits.map(({ shadow }) => shadow)),
      listOf(hold?.most ?? []),
      hold?.keeps === "all",
      hold?.ttl,
      hold?.slotTtl,
    ];
    this.#fixed = escaped(fieldsOf(fields));
    this.plain = counts === undefined ? plainChargeOf(connection, plan) : null;
  }

  /**
   * The lock that it takes first and others may wait for: the number of counters (with a key and an identity usually the identity's), or
   * the only window that it takes from; null for neither.
   */
  get firstLock(): string | null {
    if (this.plan.mode === "peek") return null;
    return this.#onlyWindow ?? /^\d+/.exec(this.handles)?.[0] ?? null;
  }

  /** Which other charges may share its statement. Windows without an owner and requests would stay locked while it waits for others. */
  batchableAt({ request, ends }: ChargeMoment): "all" | "same lock" | "none" {
    if (ends !== undefined) return "none";
    if (this.plan.mode === "peek") return "all";
    if (request !== undefined) return "none";
    if (this.#onlyWindow !== null) return "same lock";
    return this.plan.limits.some(({ owner }) => owner === null) ? "none" : "all";
  }

  /** The plan in the form of the function `charge`: a row, as an item of an array. */
  at({ now, refill, request, holdId = "" }: ChargeMoment): string {
    const due = refill === null ? "," : `${amountOf(refill) ?? ""},${refill.dueAt}`;
    const remembered = request ? escaped(this.#remembered(request)) : ",,,";
    const held = this.plan.hold && escaped(quoted(holdId));
    return `"(${this.#fixed},\\"{${this.handles}}\\",${now},${due},${remembered},${held ?? ""})"`;
  }

  /** The workspace, and the end of a hold that comes first, in the form of the function `settle`; null for none. */
  endingAt({ now, ends }: ChargeMoment): readonly string[] | null {
    if (ends === undefined) return null;
    const { workspaceId, revision } = this.plan;
    return [workspaceId, `{${stepRow(ends, { now, revision })}}`];
  }

  /** What the charge counts; null for nothing. */
  countedAt({ now }: ChargeMoment) {
    const { workspaceId, counts } = this.plan;
    return counts === undefined
      ? null
      : { ...countedAt(workspaceId, counts.subjects, now), ...counts.sums };
  }

  #remembered({ id, fingerprint, rememberUntil }: NonNullable<ChargeMoment["request"]>): string {
    const { confirms, limits } = this.plan;
    const name = quoted(requestName(confirms[0], id));
    return [name, quoted(fingerprint), rememberUntil, quoted(limitsText(limits))].join(",");
  }
}

/** How a limit counts, and how many units of a bucket are taken for a lease. */
function algorithmText({ algorithm, held }: LimitCharge): string {
  return algorithm === "token-bucket" && held ? `${algorithm}:${held}` : algorithm;
}

/** Numbers of counters of the records that the charge takes from or holds. The database returns the others. */
function knownHandles({ confirms, uses, limits, hold }: ChargePlan): readonly number[] {
  const beside = hold?.most.length ?? 0;
  const known = confirms.filter(
    (_, index) => index < beside || uses === index || limits.some(({ owner }) => owner === index),
  );
  const handles = known.map(({ handle }) => handle);
  return [...new Set(handles.map(Number))].filter(Number.isSafeInteger).sort((a, b) => a - b);
}
