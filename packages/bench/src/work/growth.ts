import type { Place, StoreKind } from "../fixture/stores.js";
import { interleave } from "../measure/interleave.js";
import type { Measurement } from "../measure/measurement.js";
import { GUARDED } from "../questions.js";
import type { Calls } from "../remote/protocol.js";
import { RemoteSide } from "../remote/remote-side.js";
import type { Scale } from "../scale.js";
import type { Work } from "./work.js";

/** Enough for the calls of a process that never meets a key twice. */
const HEAP_MB = 8_192;

/** Stores of different sizes, each in a process of its own, that take turns: what grows, and how large a key is. */
export function growth(kind: StoreKind): Work {
  return async ({ place, scale }) => {
    const known = scale.keys;
    const sides: RemoteSide[] = [];
    for (const keyCount of scale.sizes)
      sides.push(await openFilled(kind, place, { keyCount, known, auditLog: false }));
    const measurements = [
      await measure(sides, kind, "cold", scale, { operation: "verify" }),
      await measure(sides, kind, "verify", scale, { operation: "verify", isWarm: true }),
      await measure(sides, kind, "page", scale, { operation: "page" }),
      await measureMiddle(sides, kind, scale),
      await measure(sides, kind, "create", scale, { operation: "create" }),
    ];
    const largest = scale.sizes.at(-1) ?? 0;
    const bytes = (sides.at(-1)?.opened.bytes ?? 0) / largest;
    for (const side of sides) await side.close();
    return [...measurements, ...(await sizes(kind, place, scale, bytes))];
  };
}

/** As many keys before as after, where the list is read page by page. */
async function measureMiddle(
  sides: readonly RemoteSide[],
  kind: StoreKind,
  scale: Scale,
): Promise<Measurement> {
  for (const [index, side] of sides.entries()) {
    const pages = Math.floor((scale.sizes[index] ?? 0) / 200);
    await side.run({ operation: "skip", from: 0, calls: pages, inFlight: 1 });
  }
  return measure(sides, kind, "middle", scale, { operation: "page" });
}

async function openFilled(
  kind: StoreKind,
  place: Place,
  { auditLog, ...keys }: { keyCount: number; known: number; auditLog: boolean },
): Promise<RemoteSide> {
  const name = `size-${keys.keyCount}-${auditLog ? "log" : "plain"}`;
  const title = `${keys.keyCount.toLocaleString("en")} keys`;
  const opening = { kind, place, name, side: "latchkey", questionId: GUARDED.id } as const;
  return RemoteSide.open(title, { ...opening, keys, auditLog }, HEAP_MB);
}

async function measure(
  sides: readonly RemoteSide[],
  kind: StoreKind,
  what: "cold" | "verify" | "page" | "middle" | "create",
  { pace, slowPace, coldKeys, keys }: Scale,
  { operation, isWarm = false }: { operation: Calls["operation"]; isWarm?: boolean },
): Promise<Measurement> {
  const maxCalls = what === "cold" ? Math.floor(coldKeys / (pace.rounds + 1)) : keys;
  if (isWarm) for (const side of sides) await side.contender("verify").run(keys);
  const contenders = sides.map((side) => side.contender(operation, { maxCalls }));
  // Of what is cold, each key can be met once.
  const chosen = what === "cold" ? { ...pace, warmUpMs: 0, leadIn: 0 } : slowPace;
  const samples = await interleave(contenders, chosen);
  const title = {
    cold: "first verification",
    verify: "verification",
    page: "page of 100",
    middle: "page of 100 in the middle of the list",
    create: "createKey",
  };
  return { id: `growth/${kind}/${what}`, title: title[what], unit: "µs", sides: samples };
}

/** Bytes a key, and what the log entry of its creation adds to that. */
async function sizes(
  kind: StoreKind,
  place: Place,
  { sizes: [keyCount = 0] }: Scale,
  bytes: number,
): Promise<readonly Measurement[]> {
  const [plain, logged] = (await Promise.all(
    [false, true].map((auditLog) =>
      openFilled(kind, place, { keyCount: keyCount + 1, known: 1, auditLog }),
    ),
  )) as [RemoteSide, RemoteSide];
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
    size("entry", "the audit entry of its creation", entry),
  ];
}
