import { readFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createLatchkey, type Latchkey } from "@latchkey/core";
import { fillStore } from "../fixture/fill.js";
import { KeyIssuer } from "../fixture/keys.js";
import type { KeyRow } from "../fixture/rows.js";
import { storedBytes } from "../fixture/stored-bytes.js";
import { openStore } from "../fixture/stores.js";
import { inFlights } from "../measure/flights.js";
import { seededRandom, zipf } from "../measure/random.js";
import { GUARDED, questionOf } from "../questions.js";
import { latchkeySide } from "../sides/latchkey.js";
import { limitSide } from "../sides/limit.js";
import type { Side } from "../sides/side.js";
import type { Calls, CallsDone, Opened, Opening, Reply, Request } from "./protocol.js";
import { type Writes, writesOf } from "./writes.js";

// One side of a measurement in its own process, started by remote-side.ts. It ends when its parent disconnects.

const SEED = 20_260_701;
const DRAWS = 1_000_000;

/** The opened side, and for lists and changes the latchkey behind it. */
interface Open {
  readonly side: Side;
  readonly secrets: readonly string[];
  /** Indexes of secrets, in the order in which they are asked about; null: one after the other. */
  readonly drawn: Uint32Array | null;
  readonly latchkey: Latchkey | null;
  readonly apiId: string;
  readonly externalIds: readonly string[];
  /** Null: a limit, which only verifies. */
  readonly writes: Writes | null;
  readonly opened: Opened;
}

let open: Open | null = null;
let requests = 0;
/** Cursor of the next page of each list. */
const cursors: { [operation: string]: string | undefined } = {};

process.on("message", async (message) => {
  try {
    reply(await respond(message as Request));
  } catch (error) {
    process.stderr.write(`\n${error instanceof Error ? error.stack : String(error)}\n`);
    process.exit(1);
  }
});
process.on("disconnect", () => process.exit(0));

async function respond(request: Request): Promise<Reply> {
  if (request.kind === "calls") return { kind: "done", done: await run(request.calls) };
  if (request.kind === "close") {
    await open?.side.close();
    return { kind: "closed" };
  }
  open = await openSide(request.opening);
  return { kind: "opened", opened: open.opened };
}

async function openSide(opening: Opening): Promise<Open> {
  const { kind, location, name, keys } = opening;
  const question = questionOf(opening.questionId);
  if ("keyCount" in keys) return fill(opening, keys);
  const rows: readonly KeyRow[] = JSON.parse(readFileSync(keys.file, "utf8"));
  const secrets = rows.map(({ secret }) => secret);
  const unfilled = {
    secrets,
    drawn: opening.order === "zipf" ? drawnOf(secrets.length) : null,
    latchkey: null,
    apiId: rows[0]?.apiId ?? "",
    externalIds: [],
    writes: null,
    opened: { bytes: null },
  };
  if (opening.side === "limit") {
    const side = await limitSide(kind, location, name, kind === "memory" ? rows : [], question);
    return { ...unfilled, side: { ...side, keyCount: rows.length } };
  }
  const store = await openStore(kind, location, name);
  if (kind === "memory")
    await new KeyIssuer(createLatchkey({ store, usage: false }), question.keys).issue(secrets);
  const { auditLog, leaseMs } = opening;
  const leases = leaseMs === undefined ? {} : { leases: { ms: leaseMs } };
  const latchkey = createLatchkey({ store, auditLog, ...leases });
  const writes = writesOf(latchkey, unfilled.apiId, []);
  return { ...unfilled, latchkey, writes, side: latchkeySide(latchkey, question, rows.length) };
}

async function fill(
  { kind, location, name, auditLog }: Opening,
  { keyCount, known, ownership }: Extract<Opening["keys"], { keyCount: number }>,
): Promise<Open> {
  const store = await openStore(kind, location, name);
  const before = await storedBytes(kind, location, name);
  const latchkey = createLatchkey({ store, auditLog });
  const filled = await fillStore(latchkey, keyCount, known, ownership);
  const { apiId, secrets, keyIds, externalIds } = filled;
  const bytes = (await storedBytes(kind, location, name)) - before;
  return {
    side: latchkeySide(latchkey, GUARDED, secrets.length),
    secrets,
    drawn: null,
    latchkey,
    apiId,
    externalIds,
    writes: writesOf(latchkey, apiId, keyIds),
    opened: { bytes },
  };
}

async function run({ operation, from, calls, inFlight, isTurning }: Calls): Promise<CallsDone> {
  const { side, secrets, drawn, latchkey, apiId, externalIds, writes } = open as Open;
  let right = 0;
  let other = 0;
  const verify = async (index: number) => {
    requests += 1;
    const place = from + index;
    const at = drawn === null ? place % secrets.length : drawn[place % drawn.length];
    const secret = secrets[at as number] as string;
    const verdict = await side.verify(secret, `${process.pid}-${requests}`);
    if (side.isExpected(verdict)) right += 1;
    else other += 1;
  };
  /** Reads the next page of a list. The last page may be short; after it, the list starts again. */
  const turn = async (
    list: string,
    read: (at: {
      limit: number;
      cursor?: string;
    }) => Promise<{ readonly items: readonly unknown[]; readonly cursor?: string | undefined }>,
  ) => {
    const at = cursors[list];
    const { items, cursor } = await read({ limit: 100, ...(at !== undefined && { cursor: at }) });
    cursors[list] = cursor;
    if (items.length === 100) right += 1;
    else if (cursor !== undefined) other += 1;
  };
  const keyPage = (further: { externalId?: string }) => async (at: { limit: number }) => {
    const { keys, cursor } = await (latchkey as Latchkey).listKeys({ apiId, ...further, ...at });
    return { items: keys, cursor };
  };
  const page = () => turn("page", keyPage({}));
  const skip = async (index: number) => {
    if (index === 0) cursors.page = undefined;
    await page();
  };
  const externalIdOf = (index: number) => externalIds[(from + index) % externalIds.length] ?? "";
  const identity = async (index: number) => {
    const found = await latchkey?.getIdentity({ externalId: externalIdOf(index) });
    if (found?.externalId === externalIdOf(index)) right += 1;
    else other += 1;
  };
  const identities = () =>
    turn("identities", async (at) => {
      const list = await (latchkey as Latchkey).listIdentities(at);
      return { items: list.identities, cursor: list.cursor };
    });
  const owned = () => turn("owned", keyPage({ externalId: externalIdOf(0) }));
  const write = async (change: keyof Writes) => {
    await writes?.[change]();
    right += 1;
  };
  const operations = {
    verify,
    page,
    skip,
    create: () => write("create"),
    import: () => write("import"),
    delete: () => write("delete"),
    deleteApi: () => write("deleteApi"),
    identity,
    identities,
    owned,
  };
  const delays = monitorEventLoopDelay({ resolution: 1 });
  delays.enable();
  const startedAt = performance.now();
  const call = operations[operation];
  await inFlights(calls, inFlight, async (index) => {
    await call(index);
    if (isTurning === true) await nextTurn();
  });
  const elapsedMs = performance.now() - startedAt;
  delays.disable();
  return { elapsedMs, right, other, blockedMs: delays.max / 1e6 };
}

/** The draws for a number of secrets, the same in every process. */
function drawnOf(size: number): Uint32Array {
  const draw = zipf(size, seededRandom(SEED));
  return Uint32Array.from({ length: DRAWS }, draw);
}

function reply(message: Reply): void {
  process.send?.(message);
}
