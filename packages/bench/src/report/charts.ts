import { STORE_KINDS } from "../fixture/stores.js";
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

const SIDES = ["limit", "latchkey", "rate-limiter-flexible", "better-auth"];
const WORK = ["verify", "cold", "page", "create"];

/** The charts for which something was measured. */
export function chartsOf(measurements: readonly Measurement[]): readonly Chart[] {
  const find = (id: string) => measurements.find((one) => one.id === id);
  return [guardedChart(find), questionsChart(find), growthChart(find)].filter(
    (chart) => chart !== null,
  );
}

type Find = (id: string) => Measurement | undefined;

/** The question of a guarded route: how long each side takes. */
function guardedChart(find: Find): Chart | null {
  const groups = STORE_KINDS.map((store) => ({
    name: store,
    values: SIDES.map((side) => medianOf(find(`verify/${store}/${GUARDED.id}/1`), side)),
  })).filter(hasValues);
  if (groups.length === 0) return null;
  const title = "One verification: permission, one use, one window";
  const chart = { title, axis: "µs, logarithmic", series: SIDES, groups, mark: null, unit: " µs" };
  return { file: "guarded.svg", title, svg: barChart(chart) };
}

/** Every question on every store, in multiples of the limit. */
function questionsChart(find: Find): Chart | null {
  const groups = QUESTIONS.map(({ id, title }) => ({
    name: title.replaceAll("`", ""),
    values: STORE_KINDS.map((store) => ratioOf(find(`verify/${store}/${id}/1`))),
  })).filter(hasValues);
  if (groups.length === 0) return null;
  const title = "latchkey in multiples of the hand-written limit";
  const mark = { value: 1, name: "limit" };
  const chart = {
    title,
    axis: "multiples, logarithmic",
    series: STORE_KINDS,
    groups,
    mark,
    unit: "",
  };
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
  const chart = { title, across: "keys in the store, logarithmic", series: STORE_KINDS, panels };
  return { file: "growth.svg", title, svg: lineChart(chart) };
}

function hasValues({ values }: { readonly values: readonly (number | null)[] }): boolean {
  return values.some((value) => value !== null);
}

function medianOf(measurement: Measurement | undefined, name: string): number | null {
  const side = measurement?.sides.find((one) => one.name === name);
  return side === undefined ? null : quartiles(side.samples).median;
}

function ratioOf(measurement: Measurement | undefined): number | null {
  const [limit] = measurement?.sides ?? [];
  const ours = measurement?.sides.find(({ name }) => name === "latchkey");
  if (limit === undefined || ours === undefined) return null;
  return ratios(ours.samples, limit.samples).median;
}
