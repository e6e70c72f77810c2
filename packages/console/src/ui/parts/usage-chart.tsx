import { useEffect, useRef, useState } from "preact/hooks";
import { call, serverNow } from "../lib/api.js";
import { useLoad } from "../lib/load.js";
import { go, useRoute, withQuery } from "../lib/router.js";
import type { Bucket } from "../lib/types.js";
import { exactly, figure } from "../lib/words.js";
import { Empty, Failure, Waiting } from "./basics.js";

const SPANS = {
  day: { text: "24 hours", granularity: "hour", ms: 86_400_000 },
  week: { text: "7 days", granularity: "hour", ms: 7 * 86_400_000 },
  month: { text: "30 days", granularity: "day", ms: 30 * 86_400_000 },
  year: { text: "12 months", granularity: "month", ms: 364 * 86_400_000 },
} as const;

type Span = keyof typeof SPANS;

/** How often keys were verified over time, by verdict. */
export function UsageChart({ of }: { readonly of: Readonly<Record<string, string>> }) {
  const { query } = useRoute();
  const chosen = Object.hasOwn(SPANS, query.span ?? "") ? (query.span as Span) : "month";
  const { granularity, ms } = SPANS[chosen];
  const question = JSON.stringify([of, chosen]);
  const { value, error, reload } = useLoad(question, async () => {
    const end = serverNow();
    const input = { ...of, granularity, start: end - ms, end };
    const answer = await call<{ verifications: Bucket[] }>("keys.getVerifications", input);
    return { granularity, buckets: answer.verifications };
  });
  // The last chart stays until the next one has loaded.
  const last = useRef(value);
  if (value !== null) last.current = value;
  const shown = error === null ? last.current : value;
  return (
    <section class="usage" aria-label="Usage">
      <fieldset class="choices" aria-label="Period">
        {Object.entries(SPANS).map(([name, { text }]) => (
          <button
            key={name}
            type="button"
            aria-pressed={name === chosen}
            onClick={() => go(withQuery({ span: name === "month" ? undefined : name }), "replace")}
          >
            {text}
          </button>
        ))}
      </fieldset>
      {error !== null && <Failure error={error} retry={reload} />}
      {shown === null && error === null && <Waiting lines={8} />}
      {shown !== null && <Chart {...shown} />}
    </section>
  );
}

const HEIGHT = 180;
const FOOT = 22;
const SIDE = 44;
/** Width of a label below a bar. */
const LABEL = 64;

/**
 * Bars of valid and refused verifications. An SVG of our own: there are at most 170 bars, a canvas would hide them from screen
 * readers, and a library of charts is three times as large as this whole console's own framework.
 */
function Chart({
  buckets,
  granularity,
}: {
  readonly buckets: readonly Bucket[];
  readonly granularity: string;
}) {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(720);
  const [pointed, setPointed] = useState<number | null>(null);
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => setWidth(Math.max(240, element.clientWidth)));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const totals = buckets.map(totalsOf);
  const sum = totals.reduce(
    (all, { valid, refused }) => ({ valid: all.valid + valid, refused: all.refused + refused }),
    { valid: 0, refused: 0 },
  );
  const reasons = outcomesText(
    Object.fromEntries(Object.entries(sumOf(buckets)).filter(([code]) => isRefusal(code))),
  );
  const top = niceTop(Math.max(1, ...totals.map(({ valid, refused }) => valid + refused)));
  const step = (width - SIDE) / Math.max(1, buckets.length);
  const y = (count: number) => HEIGHT - (count / top) * (HEIGHT - 8);
  if (sum.valid + sum.refused === 0)
    return (
      <div ref={box}>
        <Empty title="No verifications in this period">
          <p>Counts are a few seconds behind. Choose a longer period to look further back.</p>
        </Empty>
      </div>
    );
  const at = pointed === null ? null : buckets[pointed];
  const labelEvery = Math.max(1, Math.ceil((buckets.length * (LABEL + 8)) / (width - SIDE)));
  return (
    <div class="chart" ref={box}>
      <p class="chart-text" aria-live="polite">
        {at === undefined || at === null ? (
          <>
            <strong>{figure(sum.valid)}</strong> valid, <strong>{figure(sum.refused)}</strong>{" "}
            refused{reasons && `: ${reasons}`}
          </>
        ) : (
          <span title={exactly(at.time)}>
            {bucketText(at.time, granularity)}: {outcomesText(at.outcomes) || "none"}
          </span>
        )}
      </p>
      <svg
        width={width}
        height={HEIGHT + FOOT}
        viewBox={`0 0 ${width} ${HEIGHT + FOOT}`}
        role="img"
        aria-label={`${figure(sum.valid)} valid and ${figure(sum.refused)} refused verifications`}
        onPointerLeave={() => setPointed(null)}
        onPointerMove={(event) => {
          const x = event.clientX - event.currentTarget.getBoundingClientRect().left - SIDE;
          const place = Math.floor(x / step);
          setPointed(place >= 0 && place < buckets.length ? place : null);
        }}
      >
        {[0, 0.5, 1].map((share) => (
          <g key={share} class="grid">
            <line x1={SIDE} x2={width} y1={y(top * share)} y2={y(top * share)} />
            <text x={SIDE - 8} y={y(top * share) + 4} text-anchor="end">
              {share === 0.5 && top % 2 === 1 ? "" : compact(top * share)}
            </text>
          </g>
        ))}
        {totals.map(({ valid, refused }, place) => {
          const x = SIDE + place * step + step * 0.1;
          const bar = { x, width: Math.max(1, step * 0.8) };
          return (
            <g key={buckets[place]?.time} class={place === pointed ? "pointed" : undefined}>
              <rect class="valid" {...bar} y={y(valid)} height={HEIGHT - y(valid)} />
              <rect
                class="refused"
                {...bar}
                y={y(valid + refused)}
                height={y(valid) - y(valid + refused)}
              />
              {(buckets.length - 1 - place) % labelEvery === 0 && x + bar.width >= LABEL && (
                <text class="tick" x={x + bar.width} y={HEIGHT + 16} text-anchor="end">
                  {tickText(buckets[place]?.time ?? 0, granularity, buckets.length)}
                </text>
              )}
            </g>
          );
        })}
      </svg>
      <p class="legend">
        <span class="valid">valid</span> <span class="refused">refused</span>
      </p>
      <details>
        <summary>As a table</summary>
        <table class="plain">
          <thead>
            <tr>
              <th scope="col">From</th>
              <th scope="col">Verifications</th>
            </tr>
          </thead>
          <tbody>
            {buckets.map((bucket, place) => {
              const { valid = 0, refused = 0 } = totals[place] ?? {};
              return valid + refused === 0 ? null : (
                <tr key={bucket.time}>
                  <td title={exactly(bucket.time)}>{bucketText(bucket.time, granularity)}</td>
                  <td>{outcomesText(bucket.outcomes)}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </details>
    </div>
  );
}

const isRefusal = (code: string) => code !== "VALID" && code !== "SHADOW_LIMITED";

function totalsOf({ success, outcomes }: Bucket): {
  readonly valid: number;
  readonly refused: number;
} {
  const refused = Object.entries(outcomes).filter(([code]) => isRefusal(code));
  return { valid: success, refused: refused.reduce((sum, [, count]) => sum + count, 0) };
}

/** The total of each outcome. */
export function sumOf(buckets: readonly Bucket[]): Readonly<Record<string, number>> {
  const sums: Record<string, number> = {};
  for (const { outcomes } of buckets)
    for (const [code, count] of Object.entries(outcomes)) sums[code] = (sums[code] ?? 0) + count;
  return sums;
}

function outcomesText(outcomes: Bucket["outcomes"]): string {
  return Object.entries(outcomes)
    .map(([code, count]) => `${figure(count)} ${code}`)
    .join(", ");
}

/** The next of 1, 2, 5 times a power of ten. */
function niceTop(most: number): number {
  const power = 10 ** Math.floor(Math.log10(most));
  return ([1, 2, 5, 10].find((factor) => factor * power >= most) ?? 10) * power;
}

const compactFormat = new Intl.NumberFormat(undefined, { notation: "compact" });
const compact = (value: number): string => compactFormat.format(value);

/** The label of a bucket. Days and months are those of UTC, and labelled as such. */
function bucketText(time: number, granularity: string): string {
  const date = new Date(time);
  if (granularity === "hour")
    return date.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
  if (granularity === "day")
    return `${date.toLocaleDateString(undefined, { dateStyle: "medium", timeZone: "UTC" })} (UTC)`;
  return `${date.toLocaleDateString(undefined, { month: "long", year: "numeric", timeZone: "UTC" })} (UTC)`;
}

function tickText(time: number, granularity: string, bars: number): string {
  const date = new Date(time);
  if (granularity === "month")
    return date.toLocaleDateString(undefined, { month: "short", year: "2-digit", timeZone: "UTC" });
  if (granularity === "hour" && bars <= 25)
    return date.toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });
  const timeZone = granularity === "day" ? { timeZone: "UTC" } : {};
  return date.toLocaleDateString(undefined, { day: "numeric", month: "short", ...timeZone });
}
