import {
  type AppliedCharge,
  type ChargeMoment,
  type ChargePlan,
  type ChargeResult,
  corruptRecord,
  type Expectation,
  type LimitCharge,
  type LimitReading,
} from "@latchkey/core";
import type { Connection } from "./engine/connection.js";
import { unavailable, unexpected } from "./engine/errors.js";
import {
  addressById,
  addressOfHandle,
  handleOf,
  type Names,
  type WorkspaceNames,
} from "./engine/names.js";
import { SCRIPTS } from "./engine/scripts.js";
import { digits, orDash, parseBody, whole } from "./engine/stored-values.js";
import type { Reading } from "./read.js";

/** How often a charge is asked for again where the counters of a key turn out to lie elsewhere. */
const MOST_STEPS = 10;

/** In the letters of charge.lua: the code of the character for the first confirmation. */
const FIRST_OWNER = 33;

const CONFLICT: ChargeResult = Object.freeze({ kind: "conflict" });
const KINDS: ReadonlySet<unknown> = new Set(["charged", "rate-limited", "usage-exceeded"]);

/** What is known of a limit beside its window. */
type KnownLimit = Pick<LimitCharge, "name" | "limit" | "duration" | "cost">;

/** The atomic step of a verification: puts a plan into the letters of charge.lua, and its answer into the words of core. */
export class Charging {
  readonly #connection: Connection;
  readonly #names: Names;
  readonly #reading: Reading;

  constructor(connection: Connection, names: Names, reading: Reading) {
    this.#connection = connection;
    this.#names = names;
    this.#reading = reading;
  }

  /** One round trip; two where a key is confirmed without its handle. */
  charge(plan: ChargePlan, moment: ChargeMoment): Promise<ChargeResult> {
    const { memo, confirms } = plan;
    // A copy of a plan brings the memo of the plan that it was copied from, and a plan may meet another store.
    if (memo instanceof PreparedCharge && memo.plan === plan && memo.maker === this)
      return this.#run(memo, moment, 1);
    const handles = confirms.map(({ handle }) => (typeof handle === "string" ? handle : undefined));
    const unknown = confirms.filter(
      ({ kind, version }, index) =>
        kind === "key" && version !== null && handles[index] === undefined,
    );
    if (unknown.length === 0) return this.#run(this.#prepare(plan, handles), moment, 1);
    const ids = unknown.map(({ id }) => id);
    return this.#reading.locate(plan.workspaceId, ids).then((found) => {
      const all = confirms.map(({ id }, index) => handles[index] ?? found.get(id));
      return this.#run(this.#prepare(plan, all), moment, 1);
    });
  }

  #prepare(plan: ChargePlan, handles: readonly (string | undefined)[]): PreparedCharge {
    const prepared = new PreparedCharge(this, this.#names.of(plan.workspaceId), plan, handles);
    plan.memo = prepared;
    return prepared;
  }

  #run(prepared: PreparedCharge, moment: ChargeMoment, step: number): Promise<ChargeResult> {
    const { keys, args, plan, limits } = prepared;
    const { refill, request } = moment;
    const params = [...keys];
    if (request !== undefined) params.push(prepared.requestName(request.id));
    params.push(...limits.keys);
    const keyCount = params.length;
    const more = `${refill === null ? "" : "f"}${request === undefined ? "" : "q"}`;
    params.push(digits(moment.now), prepared.revision, prepared.letters + more + limits.letters);
    params.push(...args);
    if (refill !== null) params.push(digits(refill.amount), digits(refill.dueAt));
    if (request !== undefined)
      params.push(request.fingerprint, digits(request.rememberUntil), prepared.about);
    params.push(...limits.args);
    return this.#connection.verify(SCRIPTS.charge, keyCount, params, (answer) => {
      const words = String(answer).split(" ");
      if (words[0] !== "LOST" && words[0] !== "SHARED")
        return readAnswer(String(answer), words, plan);
      if (step === MOST_STEPS)
        throw unavailable("the counters of a key were moved again and again");
      return this.#follow(prepared, moment, step, words) as ChargeResult & Promise<ChargeResult>;
    });
  }

  /** Nothing was charged: the key or its counters are elsewhere than the handle said, or the key is gone. */
  async #follow(
    { plan, handles }: PreparedCharge,
    moment: ChargeMoment,
    step: number,
    [word, number, shared = ""]: readonly string[],
  ): Promise<ChargeResult> {
    const moved = Number(number) - 1;
    const { id } = plan.confirms[moved] as Expectation;
    const known = addressOfHandle(handles[moved] ?? "");
    const found = word === "SHARED" ? known : await this.#locate(plan.workspaceId, id);
    if (found === undefined || (word === "LOST" && found === known))
      return { kind: "stale", moved };
    const next = handles.map((handle, index) =>
      index === moved ? handleOf(found, shared) : handle,
    );
    return this.#run(this.#prepare(plan, next), moment, step + 1);
  }

  async #locate(workspaceId: string, id: string): Promise<string | undefined> {
    return (await this.#reading.locate(workspaceId, [id])).get(id);
  }
}

/** What of a charge is the same from one moment to the next, in the letters of charge.lua. */
class PreparedCharge {
  readonly maker: Charging;
  readonly plan: ChargePlan;
  /** Of the keys among the confirmations. */
  readonly handles: readonly (string | undefined)[];
  readonly revision: string;
  letters = "";
  readonly keys: string[];
  readonly args: string[] = [];
  /** They come last, behind what differs from one moment to the next. */
  readonly limits = { letters: "", keys: [] as string[], args: [] as string[] };
  readonly #names: WorkspaceNames;
  #about: string | undefined;

  constructor(
    maker: Charging,
    names: WorkspaceNames,
    plan: ChargePlan,
    handles: readonly (string | undefined)[],
  ) {
    this.maker = maker;
    this.plan = plan;
    this.handles = handles;
    this.revision = orDash(plan.revision);
    this.keys = [names.revision];
    this.#names = names;
    for (const [index, expectation] of plan.confirms.entries()) this.#confirm(index, expectation);
    if (plan.cost !== 1) this.#add("c", [], digits(plan.cost));
    if (plan.mode === "peek") this.#add("l", []);
    for (const limit of plan.limits) this.#addLimit(limit);
  }

  /** What is remembered of the limits along with a request. */
  get about(): string {
    this.#about ??= JSON.stringify(
      this.plan.limits.map(({ name, limit, duration, cost }) => [name, limit, duration, cost]),
    );
    return this.#about;
  }

  requestName(requestId: string): string {
    return this.#names.request(this.plan.confirms[0], requestId);
  }

  #add(letter: string, keys: readonly string[], ...args: readonly string[]): void {
    this.letters += letter;
    this.keys.push(...keys);
    this.args.push(...args);
  }

  #confirm(index: number, expectation: Expectation): void {
    const { kind, id, version } = expectation;
    const { limits, uses } = this.plan;
    const isDrawn = uses === index;
    const isCounted = isDrawn || limits.some(({ owner }) => owner === index);
    const names = this.#names;
    if (version === null) {
      this.#add(
        isDrawn ? "N" : "n",
        [kind === "key" ? names.addresses : names.recordsOf(expectation)],
        id,
      );
    } else if (kind !== "key") {
      const expected = version === "exists" ? "*" : `${digits(version)} `;
      const letter = isDrawn ? "T" : isCounted ? "t" : "r";
      this.#add(letter, [names.recordsOf(expectation)], id, expected);
    } else {
      const [address = "", shared] = (this.handles[index] ?? addressById(id)).split(" ");
      const stamp = version === "exists" ? `${id} ` : `${id} ${digits(version)}`;
      const home = names.keyAt(address);
      if (!isCounted) this.#add("v", [home], stamp);
      else if (shared === undefined) this.#add(isDrawn ? "K" : "k", [home], stamp);
      else this.#add(isDrawn ? "S" : "s", [home, names.addresses], stamp, shared);
    }
  }

  #addLimit({ window, owner, limit, duration, cost }: LimitCharge): void {
    this.limits.letters += owner === null ? "p" : String.fromCharCode(FIRST_OWNER + owner);
    if (owner === null) this.limits.keys.push(this.#names.window(window));
    this.limits.args.push(` ${window}=`, digits(limit), digits(duration), digits(cost));
  }
}

function readAnswer(
  answer: string,
  words: readonly string[],
  { confirms, limits }: ChargePlan,
): ChargeResult {
  switch (words[0]) {
    case "STALE":
      return { kind: "stale", moved: words[1] === "0" ? "revision" : Number(words[1]) - 1 };
    case "CONFLICT":
      return CONFLICT;
    case "CORRUPT":
      throw corruptRecord(`counters of a ${confirms[0]?.kind ?? "limit"}`);
    case "REPEAT":
      return readRemembered(answer.slice("REPEAT ".length));
    default:
      return readApplied(words, limits);
  }
}

function readApplied(words: readonly string[], limits: readonly KnownLimit[]): AppliedCharge {
  const [kind, left] = words;
  if (!KINDS.has(kind)) throw unexpected();
  const readings: LimitReading[] = [];
  for (let index = 0; index < limits.length; index += 1) {
    const { name, limit, duration, cost } = limits[index] as KnownLimit;
    const window = words[index + 2] ?? "";
    const colon = window.indexOf(":");
    const used = whole(window.slice(colon + 1), "window");
    readings.push({
      name,
      limit,
      remaining: Math.max(0, limit - used),
      resetAt: whole(window.slice(0, colon), "window") + duration,
      exceeded: kind === "rate-limited" && used + cost > limit,
    });
  }
  const remaining = left === "-" ? null : whole(left, "counters");
  return { kind: kind as AppliedCharge["kind"], remaining, limits: readings };
}

/** A result as it was remembered: the answer of charge.lua, and below it what the limits were. */
function readRemembered(remembered: string): AppliedCharge {
  const [answer = "", limits = ""] = remembered.split("\n");
  const known = parseBody(limits);
  if (!Array.isArray(known)) throw corruptRecord("request");
  return readApplied(
    answer.split(" "),
    known.map((limit) => {
      const [name, most, duration, cost] = limit as [string, number, number, number];
      return { name, limit: whole(most, "request"), duration: whole(duration, "request"), cost };
    }),
  );
}
