import { KEYS_A_CALL } from "../fixture/fill.js";
import type { StoreKind, StoreLocation } from "../fixture/stores.js";
import { interleave } from "../measure/interleave.js";
import type { Measurement } from "../measure/measurement.js";
import { GUARDED } from "../questions.js";
import type { Calls } from "../remote/protocol.js";
import { RemoteSide } from "../remote/remote-side.js";
import type { Scale } from "../scale.js";
import type { Work } from "./work.js";

/** Enough for a process that never verifies a key twice. */
const HEAP_MB = 8_192;

/** A measurement on each store. */
interface Asked {
  readonly title: string;
  readonly operation: Calls["operation"];
  /** Calls in a slice, if only some keys can be used for them; default: as many as fill the slice. */
  readonly calls?: number;
}

/** Measures stores of different sizes, each in its own process, in turn: how times grow, and the size of a key. */
export function growth(kind: StoreKind): Work {
  return async ({ location, scale }) => {
    const { keys: known, pace } = scale;
    const sides: RemoteSide[] = [];
    for (const keyCount of scale.sizes)
      sides.push(await openFilled(kind, location, { keyCount, known, auditLog: false }));
    const largest = scale.sizes.at(-1) ?? 0;
    const bytes = (sides.at(-1)?.opened.bytes ?? 0) / largest;
    // Each known key is verified at most once: the keys are shared among the rounds and one untimed slice.
    const once = Math.floor(known / (pace.rounds + 1));
    const measurements: Measurement[] = [];
    const measure = async (what: string, asked: Asked) =>
      measurements.push(await measureOne(sides, `growth/${kind}/${what}`, asked, scale));
    await measure("cold", { title: "first verification", operation: "verify", calls: once });
    for (const side of sides) await side.contender("verify").run(known);
    await measure("verify", { title: "verification", operation: "verify" });
    await measure("page", { title: "page of 100, with the total", operation: "page" });
    await toMiddle(sides, scale);
    await measure("middle", { title: "page of 100 in the middle of the list", operation: "page" });
    // So few that no store shrinks or grows by more than a third: deletions first, then creations.
    const few = Math.floor(once / 3);
    const calls = Math.max(1, Math.floor(few / KEYS_A_CALL));
    await measure("delete", { title: "deleteKey", operation: "delete", calls: few });
    await measure("create", { title: "createKey", operation: "create", calls: few });
    await measure("import", {
      title: "import of 100 keys in one call",
      operation: "import",
      calls,
    });
    for (const side of sides) await side.close();
    return [...measurements, ...(await sizes(kind, location, scale, bytes))];
  };
}

/** Reads each list up to its middle. */
async function toMiddle(sides: readonly RemoteSide[], { sizes: all }: Scale): Promise<void> {
  for (const [index, side] of sides.entries()) {
    const pages = Math.floor((all[index] ?? 0) / 200);
    await side.run({ operation: "skip", from: 0, calls: pages, inFlight: 1 });
  }
}

async function openFilled(
  kind: StoreKind,
  location: StoreLocation,
  { auditLog, ...keys }: { keyCount: number; known: number; auditLog: boolean },
): Promise<RemoteSide> {
  const name = `size-${keys.keyCount}-${auditLog ? "log" : "plain"}`;
  const title = `${keys.keyCount.toLocaleString("en")} keys`;
  const opening = { kind, location, name, side: "latchkey", questionId: GUARDED.id } as const;
  return RemoteSide.open(title, { ...opening, keys, auditLog }, HEAP_MB);
}

async function measureOne(
  sides: readonly RemoteSide[],
  id: string,
  { title, operation, calls }: Asked,
  { pace, slowPace, keys }: Scale,
): Promise<Measurement> {
  const bounds = calls === undefined ? { maxCalls: keys } : { minCalls: calls, maxCalls: calls };
  const contenders = sides.map((side) => side.contender(operation, bounds));
  // If the number of calls is fixed, there is no warm-up, so that all sizes begin alike.
  const chosen = calls === undefined ? slowPace : { ...pace, warmUpMs: 0, leadIn: 0 };
  return { id, title, unit: "µs", sides: await interleave(contenders, chosen) };
}

/** Bytes per key, and bytes that the audit entry of its creation adds. */
async function sizes(
  kind: StoreKind,
  location: StoreLocation,
  { sizes: [keyCount = 0] }: Scale,
  bytes: number,
): Promise<readonly Measurement[]> {
  const [plain, logged] = (await Promise.all(
    [false, true].map((auditLog) =>
      openFilled(kind, location, { keyCount: keyCount + 1, known: 1, auditLog }),
    ),
  )) as [RemoteSide, RemoteSide];
  const count = (keyCount + 1).toLocaleString("en");
  const entry = ((logged.opened.bytes ?? 0) - (plain.opened.bytes ?? 0)) / (keyCount + 1);
  for (const side of [plain, logged]) await side.close();
  const size = (id: string, title: string, value: number): Measurement => ({
    id: `bytes/${kind}/${id}`,
    title,
    unit: "bytes",
    sides: [{ name: "latchkey", samples: [value] }],
  });
  return [
    size("key", "a key, without audit log", bytes),
    size("entry", `the audit entry of its creation, over ${count} keys`, entry),
  ];
}
