import { createLatchkey } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { path, rect, svg, text } from "./svg.js";

const DAY_MS = 86_400_000;
const START = Date.UTC(2030, 0, 10);
const DAYS = 92;
const [WIDTH, LEFT, RIGHT, HEIGHT] = [760, 48, 16, 120];
const MOST = 170;

/** The uses left of two keys with a monthly refill, one of which carries over, day by day, as the library decides. */
export async function refills(): Promise<string> {
  let now = START;
  const latchkey = createLatchkey({ store: memoryStore(), clock: () => now });
  const { apiId } = await latchkey.createApi({ name: "maps" });
  const refill = { interval: "monthly", amount: 100 } as const;
  const keys = [
    await latchkey.createKey({ apiId, remaining: 100, refill }),
    await latchkey.createKey({ apiId, remaining: 100, refill: { ...refill, carryOver: 50 } }),
  ];
  const left: [number[], number[]] = [[], []];
  for (let day = 0; day < DAYS; day += 1) {
    now = START + day * DAY_MS;
    for (const [index, { key, keyId }] of keys.entries()) {
      await latchkey.verifyKey({ key, remaining: { cost: day < 45 ? 2 : 5 } });
      left[index]?.push((await latchkey.getKey({ keyId })).remaining ?? 0);
    }
  }
  await latchkey.close();
  const titles = ["monthly, 100", "monthly, 100, and up to 50 carried over"];
  return svg("Uses left of two keys, day by day, over three refills", WIDTH, 2 * (HEIGHT + 62), [
    ...left.flatMap((values, index) => row(titles[index] ?? "", values, index * (HEIGHT + 62))),
  ]);
}

function row(title: string, values: readonly number[], top: number): string[] {
  const bottom = top + 36 + HEIGHT;
  const firsts = Array.from({ length: DAYS }, (_, day) => day).filter(
    (day) => new Date(START + day * DAY_MS).getUTCDate() === 1,
  );
  const width = (WIDTH - LEFT - RIGHT) / DAYS;
  return [
    text(LEFT, top + 20, title, { style: "title" }),
    ...values.map((value, day) => {
      const height = (value / MOST) * HEIGHT;
      return rect(x(day) + 0.5, bottom - height, width - 1, height, "strong");
    }),
    ...[0, 100].map((value) =>
      text(LEFT - 8, bottom - (value / MOST) * HEIGHT + 4, value, {
        anchor: "end",
        style: "small",
        paint: "quiet",
      }),
    ),
    path(
      [
        [LEFT, bottom],
        [WIDTH - RIGHT, bottom],
      ],
      "rule",
    ),
    ...firsts.flatMap((day) => [
      path(
        [
          [x(day), top + 36],
          [x(day), bottom + 4],
        ],
        "quiet",
        "none",
        "3 3",
      ),
      text(x(day) + 4, top + 46, `refill, ${monthOf(day)} 1`, { style: "small", paint: "quiet" }),
    ]),
  ];
}

function x(day: number): number {
  return LEFT + (day / DAYS) * (WIDTH - LEFT - RIGHT);
}

function monthOf(day: number): string {
  return new Date(START + day * DAY_MS).toLocaleString("en", { month: "long", timeZone: "UTC" });
}
