import { STORE_KINDS, STORE_TITLES, type StoreKind } from "../fixture/stores.js";
import type { Measurement } from "../measure/measurement.js";
import { quartiles, ratios } from "../measure/statistics.js";
import { GUARDED, QUESTIONS } from "../questions.js";
import { barChart } from "./bar-chart.js";
import { lineChart } from "./line-chart.js";

/** A picture with the name of its file. */
export interface Chart {
  readonly file: string;
  readonly title: string;
  readonly svg: string;
}

const SIDES = ["latchkey", "rate-limiter-flexible", "better-auth"];
const SIDE_TITLES = ["latchkey", "rate-limiter-flexible (one window only)", "better-auth"];
const STORES = STORE_KINDS.map((store) => STORE_TITLES[store]);
const LIMIT = { value: 1, name: "hand-written limit" };
const MULTIPLES = "multiples of its time, logarithmic";
const OF_STORE = ["verify", "cold", "page", "middle", "create", "import", "delete"];
const OF_OWNERS = ["identity", "identities", "verify", "owned"];

/** The charts that have at least one measured value. */
export function chartsOf(measurements: readonly Measurement[]): readonly Chart[] {
  const find = (id: string) => measurements.find((one) => one.id === id);
  const growth = growthChart(find, {
    file: "growth.svg",
    title: "Time against the number of keys in the store",
    across: "keys in the store, logarithmic",
    ids: (store) => OF_STORE.map((work) => `growth/${store}/${work}`),
  });
  const owned = growthChart(find, {
    file: "owned.svg",
    title: "Time against the number of identities, and of the keys of one",
    across: "identities, or keys of one identity, logarithmic",
    ids: (store) => OF_OWNERS.map((work) => `owned/${store}/${work}`),
  });
  return [guardedChart(find), questionsChart(find), leasesChart(find), growth, owned].filter(
    (chart) => chart !== null,
  );
}

type Find = (id: string) => Measurement | undefined;

/** The question of a guarded route: latchkey and the peers. Null: nothing was measured. */
function guardedChart(find: Find): Chart | null {
  const groups = STORE_KINDS.map((store) => ({
    name: STORE_TITLES[store],
    values: SIDES.map((side) => ratioOf(find(`verify/${store}/${GUARDED.id}/1`), side)),
  })).filter(hasValues);
  if (groups.length === 0) return null;
  const title = "One verification: permission, one use, one window";
  const chart = { title, axis: MULTIPLES, series: SIDE_TITLES, groups, origin: LIMIT };
  return { file: "guarded.svg", title, svg: barChart(chart) };
}

/** Every question on every store. Null: nothing was measured. */
function questionsChart(find: Find): Chart | null {
  const groups = QUESTIONS.map(({ id, title }) => ({
    name: title.replaceAll("`", ""),
    values: STORE_KINDS.map((store) => ratioOf(find(`verify/${store}/${id}/1`), "latchkey")),
  })).filter(hasValues);
  if (groups.length === 0) return null;
  const title = "latchkey beside the hand-written limit, by question and store";
  const chart = { title, axis: MULTIPLES, series: STORES, groups, origin: LIMIT };
  return { file: "questions.svg", title, svg: barChart(chart) };
}

/** Verifications with leases and without, in one process. Null: nothing was measured. */
function leasesChart(find: Find): Chart | null {
  const kinds = [
    ["one key", "one"],
    ["many keys", "zipf"],
  ] as const;
  const groups = STORE_KINDS.filter((store) => store !== "memory")
    .map((store) => ({
      name: STORE_TITLES[store],
      values: kinds.flatMap(([, keys]) =>
        ["not leased", "leased"].map((side) => ratioOf(find(`leases/${store}/${keys}/1`), side)),
      ),
    }))
    .filter(hasValues);
  if (groups.length === 0) return null;
  const title = "Verifications with leases of 500 ms and without, beside the memory store";
  const series = kinds.flatMap(([name]) => [`${name}, not leased`, `${name}, leased`]);
  const origin = { value: 1, name: "memory store" };
  const chart = { title, axis: MULTIPLES, series, groups, origin };
  return { file: "leases.svg", title, svg: barChart(chart) };
}

/** A chart of time against size. `ids`: ids of a store's measurements, one for each panel. */
interface GrowthChart {
  readonly file: string;
  readonly title: string;
  readonly across: string;
  readonly ids: (store: StoreKind) => readonly string[];
}

/** Time against size: a panel for each kind of work, with a line for each store. Null: nothing was measured. */
function growthChart(find: Find, { file, title, across, ids }: GrowthChart): Chart | null {
  const works = STORE_KINDS.map((store) => ids(store).map(find));
  const panels = ids("memory")
    .map((id, panel) => ({
      name: `${works.find((some) => some[panel])?.[panel]?.title ?? id}, µs`,
      lines: works.map((some) =>
        (some[panel]?.sides ?? []).map(({ name, samples }) => ({
          x: Number(name.replaceAll(/\D/g, "")),
          y: quartiles(samples).median,
        })),
      ),
    }))
    .filter(({ lines }) => lines.flat().length > 0);
  if (panels.length === 0) return null;
  return { file, title, svg: lineChart({ title, across, series: STORES, panels }) };
}

function hasValues({ values }: { readonly values: readonly (number | null)[] }): boolean {
  return values.some((value) => value !== null);
}

function ratioOf(measurement: Measurement | undefined, name: string): number | null {
  const [limit] = measurement?.sides ?? [];
  const side = measurement?.sides.find((one) => one.name === name);
  if (limit === undefined || side === undefined) return null;
  return ratios(side.samples, limit.samples).median;
}
