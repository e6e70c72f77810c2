import { STORE_KINDS, STORE_TITLES } from "../fixture/stores.js";
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
const WORK = ["verify", "cold", "page", "create"];

/** The charts for which something was measured. */
export function chartsOf(measurements: readonly Measurement[]): readonly Chart[] {
  const find = (id: string) => measurements.find((one) => one.id === id);
  return [guardedChart(find), questionsChart(find), growthChart(find)].filter(
    (chart) => chart !== null,
  );
}

type Find = (id: string) => Measurement | undefined;

/** The question of a guarded route: latchkey and the peers. */
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

/** Every question on every store. */
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

/** Time against the number of keys. */
function growthChart(find: Find): Chart | null {
  const panels = WORK.map((work) => ({
    name: `${find(`growth/memory/${work}`)?.title ?? work}, µs`,
    lines: STORE_KINDS.map((store) =>
      (find(`growth/${store}/${work}`)?.sides ?? []).map(({ name, samples }) => ({
        x: Number(name.replaceAll(/\D/g, "")),
        y: quartiles(samples).median,
      })),
    ),
  })).filter(({ lines }) => lines.flat().length > 0);
  if (panels.length === 0) return null;
  const title = "Time against the number of keys in the store";
  const chart = { title, across: "keys in the store, logarithmic", series: STORES, panels };
  return { file: "growth.svg", title, svg: lineChart(chart) };
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
