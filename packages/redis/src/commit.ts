import {
  type Change,
  type CommitResult,
  type CounterChange,
  corruptRecord,
  holdSumsText,
  type ListEntry,
  type RecordAddress,
  type Usage,
  type UsageRefusal,
} from "@latchkey/core";
import { refusedWith } from "./engine/errors.js";
import type { Names } from "./engine/names.js";
import { Rows } from "./engine/rows.js";
import { SCRIPTS } from "./engine/scripts.js";
import {
  asList,
  digits,
  expectedText,
  holderLetter,
  orDash,
  parseUsage,
  refillText,
  usageText,
  whole,
} from "./engine/stored-values.js";
import type { Workspace } from "./engine/workspace.js";

/** Applies a change in one round trip. */
export async function commit(workspace: Workspace, change: Change): Promise<CommitResult> {
  const script = isGrowth(change) ? SCRIPTS.commit : SCRIPTS.commitFreeing;
  const { keys, args } = describe(change, workspace);
  return readReply(await workspace.run(script, keys, args), change.counters.length);
}

/** Encodes a change in the letters of commit.lua. */
function describe(change: Change, names: Names) {
  const [checks, writes] = [new Rows(), new Rows()];
  const numbers = new Map<string, number>();
  let count = 0;
  const know = (record: RecordAddress, expected: string): number => {
    count += 1;
    numbers.set(`${record.kind} ${record.id}`, count);
    checks.add("r", [names.recordsOf(record)], record.id, expected);
    return count;
  };
  const numberOf = (record: RecordAddress): string =>
    String(numbers.get(`${record.kind} ${record.id}`) ?? know(record, ""));
  const addEntry = (letter: string, { list, of, id }: ListEntry): void => {
    const entered = names.list(list, of);
    writes.add(letter, [entered.list], `${entered.start}${id}`);
  };

  for (const expectation of change.expects) know(expectation, expectedText(expectation));
  for (const release of change.releases) checks.addName("l", names, release, release.id);
  for (const claim of change.claims) checks.addName("c", names, claim, claim.id);
  for (const each of change.counters) checks.add("u", [], numberOf(each), ...changeWords(each));
  for (const { record, counters } of change.puts) {
    const { kind, version, link, body } = record;
    const head = `${digits(version)} ${link ?? ""}`;
    const row = [numberOf(record), head, body === undefined ? "" : JSON.stringify(body)] as const;
    if (kind === "auditEntry") writes.add("e", [], ...row);
    else if (counters === undefined) writes.add("p", [], ...row);
    else if ("usage" in counters) {
      const { holds } = counters.usage;
      const beside = holds === undefined ? [] : [holderLetter(kind), holdSumsText(holds)];
      writes.add(holds === undefined ? "n" : "m", [], ...row, usageText(counters.usage), ...beside);
    } else writes.add("s", [], ...row, numberOf({ kind, id: counters.sharedWith }));
  }
  for (const record of change.deletes) {
    writes.add("d", [], numberOf(record));
    if (record.kind !== "auditEntry") continue;
    for (const key of [names.log, names.unnumbered]) writes.add("x", [key], record.id);
  }
  for (const entry of change.leaves) addEntry("x", entry);
  for (const entry of change.enters) addEntry("z", entry);
  for (const window of change.dropWindows) writes.add("w", [names.window(window)]);
  if (change.revision !== null) writes.add("v", [], digits(change.revision));
  return {
    keys: [
      names.shared,
      names.holds,
      names.holdEnds,
      names.log,
      names.unnumbered,
      names.list("auditEntry").list,
      ...checks.keys,
      ...writes.keys,
    ],
    args: [checks.letters, writes.letters, ...checks.args, ...writes.args],
  };
}

/** Encodes a change of counters: the change of uses as change-usage.lua takes it, the windows that stay, and those that go. */
function changeWords({ usage, keepWindows, dropWindows }: CounterChange): readonly string[] {
  const kept = keepWindows === undefined ? "*" : ` ${keepWindows.join(" ")} `;
  const dropped = dropWindows === undefined ? "-" : ` ${dropWindows.join(" ")} `;
  if (usage === undefined) return ["-", kept, dropped];
  const { operation, due, restartsAt } = usage;
  const { kind } = operation;
  const number = kind === "set" ? operation.remaining : kind === "keep" ? null : operation.by;
  const words = [kind, orDash(number), orDash(restartsAt), refillText(due)];
  return [words.join(" "), kept, dropped];
}

/** Whether a server that is out of memory may refuse the change. A change that takes access away creates nothing. */
function isGrowth({ claims, expects }: Change): boolean {
  const made = expects.filter(({ version }) => version === null);
  return claims.length > 0 || made.some(({ kind }) => kind !== "workspace");
}

/** `counters`: how many counters the change names. */
function readReply(answer: unknown, counters: number): CommitResult {
  const [status, ...rest] = asList(answer, "change");
  const index = () => whole(rest[0], "change");
  switch (status) {
    case "OK":
      if (rest.length !== counters) throw corruptRecord("change");
      return { kind: "committed", usages: rest.map(readUses) };
    case "STALE":
      return { kind: "stale", index: index() };
    case "TAKEN":
      return { kind: "taken", index: index() };
    case "REFUSED":
      return { kind: "refused", index: index(), reason: readRefusal(rest[1], rest[2]) };
    case "CORRUPT":
      throw corruptRecord("counters");
    default:
      throw refusedWith();
  }
}

function readUses(text: unknown): Usage {
  const usage = parseUsage(String(text));
  if (usage === undefined) throw corruptRecord("counters");
  return usage;
}

function readRefusal(kind: unknown, left: unknown): UsageRefusal {
  if (kind === "unlimited") return { kind };
  if (kind === "insufficient" || kind === "overflow")
    return { kind, remaining: whole(left, "counters") };
  throw refusedWith();
}
