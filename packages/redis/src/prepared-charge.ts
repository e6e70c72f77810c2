import {
  type ChargeMoment,
  type ChargePlan,
  type CodeSums,
  type Expectation,
  type HoldPlan,
  type LimitCharge,
  limitsText,
} from "@latchkey/core";
import { Rows } from "./engine/rows.js";
import { digits, expectedText, holderLetter, orDash } from "./engine/stored-values.js";
import type { Workspace } from "./engine/workspace.js";
import { sumsAt } from "./statistics.js";

/** Character code of the first confirmation, and the number of characters. */
const FIRST_OWNER = 33;
const MOST_CONFIRMS = 32;

/** Positions among the arguments, which begin with the number of keys and the number of arguments. */
const NOW = 2;
const LETTERS = 4;

/** The part of a charge that is the same at every moment. Cached in `plan.memo`. */
export class PreparedCharge extends Rows {
  readonly at: Workspace;
  readonly plan: ChargePlan;
  constructor(at: Workspace, plan: ChargePlan) {
    super();
    const { confirms, cost, limits, mode, revision } = plan;
    if (confirms.length > MOST_CONFIRMS)
      throw new TypeError(`a charge can confirm ${MOST_CONFIRMS} records`);
    this.at = at;
    this.plan = plan;
    this.args.push("", "", "", orDash(revision), "");
    for (const [index, expectation] of confirms.entries()) this.#confirm(expectation, index);
    if (cost !== 1) this.add("c", [], digits(cost));
    if (mode === "peek") this.add("l", []);
    for (const limit of limits) this.#takeFrom(limit);
    complete(this.keys, this.args, this.letters);
  }

  #confirm(expectation: Expectation, index: number): void {
    const letter = this.plan.uses === index ? "R" : "r";
    const home = this.at.recordsOf(expectation);
    this.add(letter, [home], expectation.id, expectedText(expectation));
  }

  #takeFrom(limit: LimitCharge): void {
    const { window, owner, duration, cost } = limit;
    const letter = owner === null ? "p" : String.fromCharCode(FIRST_OWNER + owner);
    const keys = owner === null ? [this.at.window(window)] : [];
    this.add(letter, keys, ` ${window}=`, figuresText(limit), digits(duration), digits(cost));
  }

  /** Keys and arguments of charge-counted.lua if the plan is counted, and of charge.lua otherwise. */
  rowsAt(moment: ChargeMoment): Pick<Rows, "keys" | "args"> {
    const rows = this.#chargeAt(moment);
    const { counts } = this.plan;
    if (counts === undefined) return rows;
    const { subjects, sums } = counts;
    const { keys, members, hour } = sumsAt(this.at, subjects, moment.now);
    const added = KINDS.map((kind) => wordsOf(sums[kind], hour));
    const all = [...rows.keys, ...keys];
    const args = [
      ...rows.args,
      ...members,
      ...added,
      `${hour}SHADOW_LIMITED=1`,
      digits(subjects.length),
    ];
    complete(all, args, rows.args[LETTERS] as string);
    return { keys: all, args };
  }

  /** Keys and arguments of charge.lua. Most moments have neither a refill nor a request. */
  #chargeAt({ now, refill, request, holdId }: ChargeMoment): Pick<Rows, "keys" | "args"> {
    const args = this.args.slice();
    args[NOW] = digits(now);
    const { confirms, hold, limits, mode } = this.plan;
    const held = mode === "peek" ? undefined : hold;
    if (refill === null && request === undefined && held === undefined)
      return { keys: this.keys, args };
    const keys = this.keys.slice();
    let { letters } = this;
    if (refill !== null) {
      letters += refill.carry === undefined ? "f" : "F";
      if (refill.carry === undefined) args.push(digits(refill.amount));
      args.push(digits(refill.dueAt));
    }
    if (held !== undefined) {
      letters += "h";
      keys.push(this.at.holds, this.at.holdEnds);
      args.push(...holdWords(held, confirms, holdId ?? "-"));
    }
    if (request !== undefined) {
      letters += "q";
      keys.push(this.at.request(confirms[0], request.id));
      args.push(request.fingerprint, digits(request.rememberUntil), limitsText(limits));
    }
    complete(keys, args, letters);
    return { keys, args };
  }
}

/** The arguments of "h", including the id of the hold. */
function holdWords(
  { keeps, ttl, slotTtl, most }: HoldPlan,
  confirms: readonly Expectation[],
  id: string,
): readonly string[] {
  const beside = confirms.slice(0, most.length);
  const [key = "-", identity = "-"] = beside.map((record) => record.id);
  const kinds = beside.map(({ kind }) => holderLetter(kind)).join("");
  const spans = [keeps === "all" ? "a" : "s", digits(ttl), orDash(slotTtl)];
  return [...spans, kinds, id, key, identity, ...most.map(digits)];
}

const KINDS = ["charged", "repeat", "rate-limited", "usage-exceeded"] as const;

/** Additions to sums, in the form that add-statistics.lua stores. */
function wordsOf(sums: CodeSums, hour: string): string {
  return Object.entries(sums)
    .map(([code, count]) => `${hour}${code}=${digits(count)}`)
    .join("");
}

const MARKS = { fixed: "", sliding: "s", "token-bucket": "t", concurrent: "c" } as const;

/** The figures of a limit in the form of charge.lua: a plain window is just a number. */
function figuresText({ algorithm, limit, burst, shadow, held }: LimitCharge): string {
  const figures = `${MARKS[algorithm]}${shadow ? "!" : ""}${digits(limit)}`;
  if (algorithm !== "token-bucket") return figures;
  return `${figures}/${digits(burst)}${held ? `+${digits(held)}` : ""}`;
}

function complete(keys: readonly string[], args: string[], letters: string): void {
  args[0] = String(keys.length);
  args[1] = String(args.length);
  args[LETTERS] = letters;
}
