import {
  corruptRecord,
  type HoldMoment,
  type HoldResult,
  type HoldStep,
  holdSumsText,
  holdText,
  isSlotsOfAnother,
  type KeyStore,
  KIND_CODE,
  LatchkeyError,
  parseHold,
  parseRememberedEnd,
  type UsedLimit,
} from "@latchkey/core";
import type { Connection } from "./engine/connection.js";
import { fieldsOf, listOf, quoted } from "./row-text.js";
import { SettleQueue } from "./settle-queue.js";
import { countedAt } from "./statistics.js";

type RestoreStep = Extract<HoldStep, { kind: "restore" }>;

/** The methods of a store about holds. */
export function holdsOf(connection: Connection) {
  const queue = new SettleQueue(connection);
  return {
    /** One statement, and so one transaction, together with other steps of the workspace. */
    async settle(workspaceId, step, moment) {
      if (step.kind === "restore") return restore(connection, workspaceId, step, moment);
      const { counts, now } = moment;
      const counted = counts ? countedAt(workspaceId, counts, now) : null;
      const plain = counts ? null : plainEnd(step, moment);
      const waiting = { row: stepRow(step, moment), plain, counted };
      const text = await queue.add(workspaceId, waiting, connection.deadline());
      return resultOf(text, step);
    },
    async holds(workspaceId, { kind, id }, after, limit) {
      const values = [workspaceId, String(KIND_CODE[kind]), id, after ?? "", String(limit)];
      const rows = await connection.ask(connection.sql.holds, values);
      return rows.map(([holdId, value]) => parseHold(String(holdId), String(value)));
    },
  } satisfies Partial<KeyStore>;
}

async function restore(
  connection: Connection,
  workspaceId: string,
  { of, sums, holds }: RestoreStep,
  { revision }: HoldMoment,
): Promise<HoldResult> {
  const rows = holds.map((hold) => ({ id: hold.id, ends: hold.expiresAt, value: holdText(hold) }));
  const values = [
    workspaceId,
    revision === null ? null : String(revision),
    String(KIND_CODE[of.kind]),
    of.id,
    sums && holdSumsText(sums),
    JSON.stringify(rows),
  ];
  const [[answer] = []] = await connection.ask(connection.sql.restore, values, true);
  return { kind: answer === "stale" ? "stale" : "restored" };
}

/** A step in the form of the function `settle`: a row, as an item of an array. */
export function stepRow(
  step: Exclude<HoldStep, RestoreStep>,
  { now, revision }: HoldMoment,
): string {
  return quoted(`(${fieldsOf([revision, now, step.kind, ...stepFields(step)])})`);
}

function stepFields(step: Exclude<HoldStep, RestoreStep>): readonly unknown[] {
  const nothing = listOf([]);
  if (step.kind === "refresh") {
    const { of, refill } = step;
    const carried = [refill?.carry?.units, refill?.carry?.since];
    const due = [refill?.amount, refill?.dueAt, ...carried];
    return [null, null, nothing, nothing, null, null, KIND_CODE[of.kind], quoted(of.id), ...due];
  }
  const nowhere = [null, null, null, null, null, null];
  if (step.kind === "renew")
    return [quoted(step.id), null, nothing, nothing, null, step.ttl, ...nowhere];
  const { id, uses, limits, rest, isAlone } = step;
  const names = listOf(limits.map(windowName));
  const costs = listOf(limits.map(({ cost }) => cost));
  return [quoted(id), uses, names, costs, rest, isAlone === true ? 0 : null, ...nowhere];
}

/** Parameters of the statement that ends a hold without slots: see engine/plain-end-sql.ts. */
function plainEnd(
  step: Exclude<HoldStep, RestoreStep>,
  { now, revision }: HoldMoment,
): readonly (string | null)[] | null {
  if (step.kind !== "end" || isSlotsOfAnother(step)) return null;
  const { id, uses, limits, rest, isAlone } = step;
  const names = `{${limits.map(windowName).join(",")}}`;
  const costs = `{${limits.map(({ cost }) => cost).join(",")}}`;
  const [expected, asked] = [revision, uses].map((each) => (each === null ? null : String(each)));
  const figures = [asked ?? null, names, costs, String(rest), String(isAlone === true)];
  return [expected ?? null, String(now), id, ...figures];
}

/** The name of a limit in the form of window names, as an item of an array. */
function windowName({ name }: UsedLimit): string {
  return quoted(encodeURIComponent(name));
}

/** Result of the function `settle`: see engine/migrations/settle.ts. */
function resultOf(text: string, step: Exclude<HoldStep, RestoreStep>): HoldResult {
  const id = "id" in step ? step.id : "";
  const space = text.indexOf(" ");
  const word = space === -1 ? text : text.slice(0, space);
  const rest = space === -1 ? null : text.slice(space + 1);
  switch (word) {
    case "stale":
    case "unknown":
    case "conflict":
      return { kind: word };
    case "expired":
      return { kind: word, hold: rest === null ? null : parseHold(id, rest) };
    case "over":
    case "unnamed":
    case "renewed":
      return { kind: word, hold: parseHold(id, String(rest)) };
    case "repeat":
    case "ended": {
      const { ended } = parseRememberedEnd(id, String(rest));
      if (ended === null) throw corruptRecord("reservation");
      return { kind: "ended", isRepeat: word === "repeat", ...ended };
    }
    case "refreshed": {
      const [hasMore, ...lines] = String(rest).split("\n");
      const expired = lines.map((line) => {
        const end = line.indexOf(" ");
        return parseHold(line.slice(0, end), line.slice(end + 1));
      });
      return { kind: word, expired, hasMore: hasMore === "1" };
    }
    default:
      throw new LatchkeyError("INTERNAL_SERVER_ERROR", "a step was answered in unknown words");
  }
}
