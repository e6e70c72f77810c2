import { STORE_KINDS, STORE_TITLES, type StoreKind } from "../fixture/stores.js";
import type { GoalResult } from "../goals.js";
import type { Measurement, SideSamples } from "../measure/measurement.js";
import { quartiles, ratios } from "../measure/statistics.js";
import { spread, spreadWithUnit, threeDigits, withUnit } from "./numbers.js";
import type { Table } from "./table.js";

/** The other sides in a table of questions, besides the limit and latchkey. */
const OTHERS = ["verifier", "better-auth", "rate-limiter-flexible"];
const MARKS = ["¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"];

/** The tables of a run, without empty ones. */
export function tablesOf(
  measurements: readonly Measurement[],
  goals: readonly GoalResult[],
): readonly Table[] {
  return [
    ...STORE_KINDS.map((store) => questionTable(store, measurements)),
    sidesTable("Other states", measurements, [
      "algorithms/",
      "reserve/",
      "cold/",
      "working-set/",
      "processes/",
      "busy/",
      "durable/",
      "deletion/",
    ]),
    leaseTable(measurements),
    exactTable(measurements),
    sidesTable("Other work", measurements, [
      "create/",
      "import/",
      "page/",
      "http/",
      "modules/",
      "tarball/",
      "bytes/",
    ]),
    growthTable("Growth", measurements, /^growth\/|^owned\/.*\/identit/),
    growthTable("Growth of one identity", measurements, /^owned\/.*\/(?:verify|owned)$/),
    goalTable(goals),
  ].filter(({ rows }) => rows.length > 0);
}

/** Warm verifications on one store: every question, every side. */
function questionTable(store: StoreKind, measurements: readonly Measurement[]): Table {
  const own = measurements.filter(({ id }) => id.startsWith(`verify/${store}/`));
  const others = OTHERS.filter((name) =>
    own.some((one) => findSide(one, name) || isAbsent(one, name)),
  );
  const reasons: string[] = [];
  const rows = own.map((measurement) => {
    const [limit] = measurement.sides;
    const ours = findSide(measurement, "latchkey");
    const cells = others.map((name) => {
      const side = findSide(measurement, name);
      if (side !== undefined && limit !== undefined) return times(side, limit);
      const reason = measurement.absent?.find((absent) => absent.name === name)?.reason;
      if (reason === undefined) return "–";
      if (!reasons.includes(reason)) reasons.push(reason);
      return `–${MARKS[reasons.indexOf(reason)] ?? ""}`;
    });
    return [
      measurement.title,
      limit === undefined ? "–" : spread(quartiles(limit.samples)),
      ours === undefined ? "–" : spread(quartiles(ours.samples)),
      ours === undefined || limit === undefined ? "–" : times(ours, limit),
      ...cells,
    ];
  });
  return {
    title: `${STORE_TITLES[store]}: verifications of keys in use`,
    headings: [
      "question",
      "limit µs",
      "latchkey µs",
      "× limit",
      ...others.map((name) => `${name} × limit`),
    ],
    rows,
    footnotes: reasons.map((reason, index) => `${MARKS[index] ?? ""} ${reason}.`),
  };
}

/** One row for each measurement: its sides by name, and the ratio of the last to the first. */
function sidesTable(
  title: string,
  measurements: readonly Measurement[],
  prefixes: readonly string[],
): Table {
  const own = measurements.filter(({ id }) => prefixes.some((prefix) => id.startsWith(prefix)));
  const rows = own.map((measurement) => {
    const { id, sides, unit } = measurement;
    const [base] = sides;
    const last = sides.at(-1);
    const [, store = ""] = id.split("/");
    const isStore = (STORE_KINDS as readonly string[]).includes(store);
    const name = isStore
      ? `${STORE_TITLES[store as StoreKind]}: ${measurement.title}`
      : measurement.title;
    const figure = (side: SideSamples) => spreadWithUnit(quartiles(side.samples), unit);
    if (base === undefined || last === undefined) return [name, "–", "–", "–"];
    if (sides.length === 1) return [name, "–", figure(base), "–"];
    return [
      name,
      `${base.name} ${figure(base)}`,
      `${last.name} ${figure(last)}`,
      times(last, base),
    ];
  });
  const notes = [...new Set(own.flatMap((measurement) => measurement.notes ?? []))];
  return {
    title,
    headings: ["work", "compared with", "measured", "ratio"],
    rows,
    footnotes: notes.map((note) => `${note}.`),
  };
}

/** Leased verifications against those on the memory store, and against unleased ones. */
function leaseTable(measurements: readonly Measurement[]): Table {
  const own = measurements.filter(({ id }) => /^leases\/.*\/\d+$/.test(id));
  const rows = own.map((measurement) => {
    const [, store = "", keys = ""] = measurement.id.split("/");
    const [memory, plain, leased] = ["memory", "not leased", "leased"].map((name) =>
      findSide(measurement, name),
    );
    const alone = own.find(({ id }) => id === `leases/${store}/${keys}/1`);
    const first = alone && findSide(alone, "leased");
    const compared = (side: SideSamples | undefined, base: SideSamples | undefined) =>
      side === undefined || base === undefined ? "–" : times(side, base);
    return [
      `${STORE_TITLES[store as StoreKind]}: ${measurement.title}`,
      ...[memory, plain, leased].map((side) =>
        side === undefined ? "–" : spread(quartiles(side.samples)),
      ),
      compared(plain, memory),
      compared(leased, memory),
      alone === measurement ? "–" : compared(first, leased),
    ];
  });
  return {
    title: "Leases of 500 ms: verifications with permission, one use, one window",
    headings: [
      "work",
      "memory µs",
      "not leased µs",
      "leased µs",
      "not leased × memory",
      "leased × memory",
      "leased, × as fast as one process",
    ],
    rows,
    footnotes: [],
  };
}

function exactTable(measurements: readonly Measurement[]): Table {
  const own = measurements.filter(({ id }) => id.startsWith("exact/"));
  const names = [...new Set(own.flatMap(({ sides }) => sides.map(({ name }) => name)))];
  return {
    title: "A thousand verifications at once of one key with 100 uses: admitted",
    headings: ["store", ...names],
    rows: own.map((measurement) => [
      STORE_TITLES[measurement.id.split("/")[1] as StoreKind],
      ...names.map((name) => {
        const side = findSide(measurement, name);
        return side === undefined ? "–" : withUnit(quartiles(side.samples).median, "admitted");
      }),
    ]),
    footnotes: [],
  };
}

function growthTable(title: string, measurements: readonly Measurement[], ids: RegExp): Table {
  const own = measurements.filter(({ id }) => ids.test(id));
  const sizes = own[0]?.sides.map(({ name }) => name) ?? [];
  return {
    title,
    headings: ["work", ...sizes.map((name) => `${name}, µs`), "largest / smallest"],
    rows: own.map(({ id, title, sides }) => {
      const [first] = sides;
      const last = sides.at(-1);
      const store = STORE_TITLES[id.split("/")[1] as StoreKind];
      return [
        `${store}: ${title}`,
        ...sides.map(({ samples }) => spread(quartiles(samples))),
        first === undefined || last === undefined ? "–" : times(last, first),
      ];
    }),
    footnotes: [],
  };
}

function goalTable(goals: readonly GoalResult[]): Table {
  return {
    title: "Goals",
    headings: ["goal", "work", "bound", "measured", ""],
    rows: goals.map(({ goal, figure, isMet }) => [
      goal.id,
      goal.work,
      boundText(goal.bound),
      figure === null ? "not measured" : threeDigits(figure),
      figure === null ? "" : isMet ? "met" : "missed",
    ]),
    footnotes: [],
  };
}

/** A bound as text, such as `≤ 1.5`. */
export function boundText(bound: GoalResult["goal"]["bound"]): string {
  return "atMost" in bound
    ? `≤ ${bound.atMost.toLocaleString("en")}`
    : `≥ ${bound.atLeast.toLocaleString("en")}`;
}

function times(side: SideSamples, base: SideSamples): string {
  return threeDigits(ratios(side.samples, base.samples).median);
}

function findSide({ sides }: Measurement, wanted: string): SideSamples | undefined {
  return sides.find(({ name }) => name === wanted);
}

function isAbsent({ absent = [] }: Measurement, wanted: string): boolean {
  return absent.some(({ name }) => name === wanted);
}
