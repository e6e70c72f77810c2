import {
  corruptRecord,
  type Hold,
  type HoldMoment,
  type HoldResult,
  type HoldStep,
  holdSumsText,
  holdText,
  type KeyStore,
  parseHold,
  parseRememberedEnd,
} from "@latchkey/core";
import { refusedWith } from "./engine/errors.js";
import { SCRIPTS } from "./engine/scripts.js";
import { asList, digits, holderLetter, orDash, refillText } from "./engine/stored-values.js";
import type { Workspace } from "./engine/workspace.js";
import { sumsAt } from "./statistics.js";

/** Most holds that one script reads: some milliseconds, in which Redis does nothing else. */
const HOLDS_AT_ONCE = 1_000;

/** The methods of a store about holds. */
export function holdsOf(at: (workspaceId: string) => Workspace) {
  return {
    /** One round trip. If the script needs keys that it was not given, it does nothing, and there is one more. */
    async settle(workspaceId, step, moment) {
      const workspace = at(workspaceId);
      const [status, ...rest] = await ask(workspace, step, moment, async ({ keys, args }) =>
        asList(await workspace.run(SCRIPTS[SCRIPT_OF[step.kind]], keys, args), "reservation"),
      );
      const result = readReply(String(status), rest.map(String), idOf(step));
      if (result.kind === "ended" || result.kind === "expired")
        workspace.connection.held.forget(workspace.shared, idOf(step));
      return result;
    },
    /** First the ids, then the holds, in a round trip for each thousand. Holds that end in between are left out. */
    async holds(workspaceId, of, after, limit) {
      const workspace = at(workspaceId);
      const { shared, holds, holdEnds } = workspace;
      const keys = [shared, holds, holdEnds, workspace.recordsOf(of)];
      const all = asList(await workspace.run(SCRIPTS.listHolds, keys, [of.id]), "list");
      const ids = all
        .map(String)
        .filter((id) => after === null || id > after)
        .sort();
      const found: Hold[] = [];
      while (found.length < limit && ids.length > 0) {
        const wanted = ids.splice(0, Math.min(limit - found.length, HOLDS_AT_ONCE));
        const texts = await workspace.run(SCRIPTS.listHolds, keys, [of.id, ...wanted]);
        for (const [index, text] of asList(texts, "list").entries()) {
          if (text === null) continue;
          // In the form of hold-sums.lua: the names of its counters come first.
          found.push(parseHold(wanted[index] as string, String(text).replace(/^\S* /, "")));
        }
      }
      return found;
    },
  } satisfies Partial<KeyStore>;
}

function idOf(step: HoldStep): string {
  return "of" in step ? step.of.id : step.id;
}

/**
 * Runs the script of a step, and again with the names that it reports as missing.
 *
 * @param run - Resolves to the answer of the script: a list if names are missing.
 */
export async function ask<Answer>(
  workspace: Workspace,
  step: HoldStep,
  { now, revision, counts = [] }: HoldMoment,
  run: (rows: { readonly keys: string[]; readonly args: string[] }) => Promise<Answer>,
): Promise<Answer> {
  const isOfRecord = "of" in step;
  const id = idOf(step);
  const { connection, shared, holds, holdEnds } = workspace;
  const windows = isOfRecord ? [] : connection.held.of(shared, id);
  const names = new Set(windows.map((name) => `p${name}`));
  const first = isOfRecord ? workspace.recordsOf(step.of) : workspace.endOf(id);
  const homes = [...workspace.everyPartOf("key"), ...workspace.everyPartOf("identity")];
  const letter = isOfRecord ? holderLetter(step.of.kind) : stepLetter(step);
  const start = [orDash(revision), digits(now), letter, id];
  const sums = counts.length === 0 ? null : sumsAt(workspace, counts, now);
  const counted = sums === null ? [] : [...sums.members, `${sums.hour}EXTRA_USES=`];
  for (;;) {
    const named = [...names].map((name) => keyOf(workspace, name));
    const keys = [shared, holds, holdEnds, first, ...homes, ...named, ...(sums?.keys ?? [])];
    const args = [...start, digits(names.size), ...names, ...wordsOf(step)];
    if (step.kind === "end") args.push(...counted, digits(counts.length));
    const answer = await run({ keys, args });
    const known = names.size;
    const [status, ...missing] = Array.isArray(answer) ? answer : [];
    if (status === "MORE") for (const name of missing) names.add(String(name));
    if (names.size === known) return answer;
  }
}

function stepLetter(step: Exclude<HoldStep, { readonly of: unknown }>): string {
  if (step.kind === "renew") return "r";
  return step.isAlone === true ? "a" : "e";
}

const SCRIPT_OF = {
  end: "settle",
  renew: "settle",
  refresh: "refreshHolds",
  restore: "restoreHolds",
} as const;

/** The Redis key of a name that the script asks for. */
function keyOf(workspace: Workspace, name: string): string {
  const [letter, text] = [name[0], name.slice(1)];
  return letter === "p" ? workspace.window(text) : workspace.endOf(text);
}

function wordsOf(step: HoldStep): readonly string[] {
  switch (step.kind) {
    case "end": {
      const limits = step.limits.flatMap(({ name, cost }) => [encoded(name), digits(cost)]);
      return [orDash(step.uses), step.rest ? "1" : "0", ...limits];
    }
    case "renew":
      return [orDash(step.ttl)];
    case "refresh":
      return [refillText(step.refill)];
    case "restore": {
      const sums = step.sums === null ? "-" : holdSumsText(step.sums);
      const holds = step.holds.flatMap((hold) => [hold.id, holdText(hold)]);
      return [sums, ...holds];
    }
    default:
      return step satisfies never;
  }
}

/** The name of a limit in the form that windows use. */
function encoded(name: string): string {
  try {
    return encodeURIComponent(name);
  } catch {
    // A lone surrogate, which no limit has. No name has a colon, so this matches none.
    return ":";
  }
}

function readReply(
  status: string,
  [text = "", more = "", ...rest]: string[],
  id: string,
): HoldResult {
  switch (status) {
    case "STALE":
    case "UNKNOWN":
    case "CONFLICT":
      return { kind: STATUSES[status] };
    case "RESTORED":
      return { kind: "restored" };
    case "EXPIRED":
      return { kind: "expired", hold: text === "" ? null : parseHold(id, text) };
    case "RENEWED":
    case "OVER":
    case "UNNAMED":
      return { kind: KINDS[status], hold: parseHold(id, text) };
    case "ENDED":
    case "REPEAT": {
      const { ended } = parseRememberedEnd(id, text);
      if (ended === null) throw corruptRecord("reservation");
      return { kind: "ended", isRepeat: status === "REPEAT", ...ended };
    }
    case "REFRESHED": {
      const expired: Hold[] = [];
      const all = [more, ...rest];
      for (let index = 1; index < all.length; index += 2)
        expired.push(parseHold(all[index - 1] as string, all[index] as string));
      return { kind: "refreshed", expired, hasMore: text === "1" };
    }
    case "CORRUPT":
      throw corruptRecord("reservation");
    default:
      throw refusedWith();
  }
}

const STATUSES = { STALE: "stale", UNKNOWN: "unknown", CONFLICT: "conflict" } as const;
const KINDS = { RENEWED: "renewed", OVER: "over", UNNAMED: "unnamed" } as const;
