import {
  type AppliedCharge,
  type ChargeMoment,
  type ChargePlan,
  type ChargeResult,
  corruptRecord,
  type Expectation,
  type LimitCharge,
} from "@latchkey/core";
import type { StoreContext } from "./engine/context.js";
import { unavailable, unexpected } from "./engine/errors.js";
import { addressOfHandle, handleOf, plain, type WorkspaceNames } from "./engine/names.js";
import { joinRows, type Row } from "./engine/rows.js";
import { SCRIPTS } from "./engine/scripts.js";
import { digits, orDash, parseBody, whole } from "./engine/stored-values.js";
import { locate } from "./read.js";

/** How often a charge is asked for again where a key or its counters turn out to lie elsewhere. */
const MOST_STEPS = 10;

/** Code of the character that stands for the first confirmation, and how many characters there are. */
const FIRST_OWNER = 33;
const MOST_CONFIRMS = 32;

const KINDS: ReadonlySet<unknown> = new Set(["charged", "rate-limited", "usage-exceeded"]);

/** What is known of a limit beside its window. */
type KnownLimit = Pick<LimitCharge, "name" | "limit" | "duration" | "cost">;
type Handle = string | undefined;

/** What of a charge is the same from one moment to the next: it is kept with the plan. */
class PreparedCharge {
  readonly context: StoreContext;
  readonly plan: ChargePlan;
  /** Of the keys among the confirmations. */
  readonly handles: readonly Handle[];
  /** Keys and arguments for a moment without a refill and a request, which is most of them; what is missing is the instant. */
  readonly params: readonly string[];
  /** Place of the instant, which comes first behind the Redis keys. The letters are two places later. */
  readonly nowAt: number;

  constructor(context: StoreContext, plan: ChargePlan, handles: readonly Handle[]) {
    const { confirms, cost, limits, mode, revision, workspaceId } = plan;
    if (confirms.length > MOST_CONFIRMS)
      throw new TypeError(`a charge can confirm ${MOST_CONFIRMS} records`);
    this.context = context;
    this.plan = plan;
    this.handles = handles;
    const names = context.names.of(workspaceId);
    const { letters, keys, args } = joinRows([
      ...confirms.map((_, index) => confirmation(names, plan, index, handles[index])),
      ...(cost === 1 ? [] : [["c", [], digits(cost)] as const]),
      ...(mode === "peek" ? [["l", []] as const] : []),
      ...limits.map((limit) => limitRow(names, limit)),
    ]);
    this.nowAt = keys.length + 1;
    this.params = [names.revision, ...keys, "", orDash(revision), letters, ...args];
  }
}

/**
 * The atomic step of a verification, in the letters of charge.lua: one round trip, two where a key is confirmed without its
 * handle.
 */
export function charge(
  context: StoreContext,
  plan: ChargePlan,
  moment: ChargeMoment,
): Promise<ChargeResult> {
  const { memo, confirms } = plan;
  // A copy of a plan brings the memo of the plan that it was copied from, and a plan may meet another store.
  const isOwn = memo instanceof PreparedCharge && memo.plan === plan && memo.context === context;
  if (isOwn) return run(memo, moment, 1);
  const handles = confirms.map(({ handle }) => (typeof handle === "string" ? handle : undefined));
  const unknown = confirms.flatMap(({ kind, id, version }, index) =>
    kind === "key" && version !== null && handles[index] === undefined ? [id] : [],
  );
  if (unknown.length === 0) return prepareAndRun(context, plan, handles, moment, 1);
  return locate(context, plan.workspaceId, unknown).then((found) => {
    const all = confirms.map(({ id }, index) => handles[index] ?? found.get(id));
    return prepareAndRun(context, plan, all, moment, 1);
  });
}

function prepareAndRun(
  context: StoreContext,
  plan: ChargePlan,
  handles: readonly Handle[],
  moment: ChargeMoment,
  step: number,
): Promise<ChargeResult> {
  const prepared = new PreparedCharge(context, plan, handles);
  plan.memo = prepared;
  return run(prepared, moment, step);
}

function run(prepared: PreparedCharge, moment: ChargeMoment, step: number): Promise<ChargeResult> {
  const { context, plan, nowAt } = prepared;
  const { now, refill, request } = moment;
  const params = prepared.params.slice();
  params[nowAt] = digits(now);
  if (refill !== null) {
    params[nowAt + 2] += "f";
    params.push(digits(refill.amount), digits(refill.dueAt));
  }
  if (request !== undefined) {
    params[nowAt + 2] += "q";
    params.push(request.fingerprint, digits(request.rememberUntil), aboutOf(plan.limits));
    const names = context.names.of(plan.workspaceId);
    params.splice(nowAt, 0, names.request(plan.confirms[0], request.id));
  }
  const keyCount = request === undefined ? nowAt : nowAt + 1;
  return context.connection.verify(SCRIPTS.charge, keyCount, params, (answer) => {
    const words = String(answer).split(" ");
    const isElsewhere = words[0] === "LOST" || words[0] === "SHARED";
    if (!isElsewhere) return readAnswer(String(answer), words, plan);
    if (step === MOST_STEPS) throw unavailable("the counters of a key were moved again and again");
    return follow(prepared, moment, step, words);
  });
}

/** Nothing was charged: the key or its counters are elsewhere than the handle said, or the key is gone. */
async function follow(
  { context, plan, handles }: PreparedCharge,
  moment: ChargeMoment,
  step: number,
  [word, number, shared = ""]: readonly string[],
): Promise<ChargeResult> {
  const moved = Number(number) - 1;
  const { id } = plan.confirms[moved] as Expectation;
  const known = addressOfHandle(handles[moved] ?? "");
  const isLost = word === "LOST";
  const found = isLost ? (await locate(context, plan.workspaceId, [id])).get(id) : known;
  if (found === undefined || (isLost && found === known)) return { kind: "stale", moved };
  const next = handles.map((handle, index) => (index === moved ? handleOf(found, shared) : handle));
  return prepareAndRun(context, plan, next, moment, step + 1);
}

function confirmation(
  names: WorkspaceNames,
  { confirms, limits, uses }: ChargePlan,
  index: number,
  handle: Handle,
): Row {
  const expectation = confirms[index] as Expectation;
  const { kind, id, version } = expectation;
  const isDrawn = uses === index;
  const isCounted = isDrawn || limits.some(({ owner }) => owner === index);
  const drawn = (letter: string) => (isDrawn ? letter.toUpperCase() : letter);
  const home = kind === "key" ? names.addresses : names.recordsOf(expectation);
  if (version === null) return [drawn("n"), [home], id];
  if (kind !== "key") {
    const expected = version === "exists" ? "*" : `${digits(version)} `;
    return [drawn(isCounted ? "t" : "r"), [home], id, expected];
  }
  const [address = "", shared] = (handle ?? plain(id)).split(" ");
  const stamp = version === "exists" ? `${id} ` : `${id} ${digits(version)}`;
  const record = names.keyAt(address);
  if (!isCounted || shared === undefined) return [drawn(isCounted ? "k" : "v"), [record], stamp];
  return [drawn("s"), [record, home], stamp, shared];
}

function limitRow(names: WorkspaceNames, limit: LimitCharge): Row {
  const { window, owner } = limit;
  const numbers = [digits(limit.limit), digits(limit.duration), digits(limit.cost)];
  const letter = owner === null ? "p" : String.fromCharCode(FIRST_OWNER + owner);
  return [letter, owner === null ? [names.window(window)] : [], ` ${window}=`, ...numbers];
}

/** What is remembered of the limits along with a request, whatever they are when it is repeated. */
function aboutOf(limits: readonly LimitCharge[]): string {
  return JSON.stringify(
    limits.map(({ name, limit, duration, cost }) => [name, limit, duration, cost]),
  );
}

function readAnswer(answer: string, words: readonly string[], plan: ChargePlan): ChargeResult {
  switch (words[0]) {
    case "STALE":
      return { kind: "stale", moved: words[1] === "0" ? "revision" : Number(words[1]) - 1 };
    case "CONFLICT":
      return { kind: "conflict" };
    case "CORRUPT":
      throw corruptRecord("counters");
    case "REPEAT":
      return readRemembered(answer.slice("REPEAT ".length));
    default:
      return readApplied(words, plan.limits);
  }
}

function readApplied(words: readonly string[], limits: readonly KnownLimit[]): AppliedCharge {
  const [kind, left] = words;
  if (!KINDS.has(kind)) throw unexpected();
  const readings = limits.map(({ name, limit, duration, cost }, index) => {
    const [startedAt, units] = (words[index + 2] ?? "").split(":");
    const used = whole(units, "window");
    return {
      name,
      limit,
      remaining: Math.max(0, limit - used),
      resetAt: whole(startedAt, "window") + duration,
      exceeded: kind === "rate-limited" && used + cost > limit,
    };
  });
  const remaining = left === "-" ? null : whole(left, "counters");
  return { kind: kind as AppliedCharge["kind"], remaining, limits: readings };
}

/** A result as it was remembered: the answer of charge.lua, and below it what the limits were. */
function readRemembered(remembered: string): AppliedCharge {
  const [answer = "", limits = ""] = remembered.split("\n");
  const known = parseBody(limits);
  if (!Array.isArray(known)) throw corruptRecord("request");
  const about = (known as [string, number, number, number][]).map(
    ([name, limit, duration, cost]): KnownLimit => ({ name, limit, duration, cost }),
  );
  return readApplied(answer.split(" "), about);
}
