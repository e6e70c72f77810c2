import { createLatchkey } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { path, rect, svg, text } from "./svg.js";

const [WIDTH, LEFT, RIGHT, TOP, HEIGHT] = [760, 48, 16, 40, 150];
const USES = 1000;

/** How 1,000 uses change with reservations that are settled, released and forgotten, as the library decides. */
export async function reservation(): Promise<string> {
  let now = Date.UTC(2030, 0, 1);
  const latchkey = createLatchkey({ store: memoryStore(), clock: () => now });
  const { apiId } = await latchkey.createApi({ name: "reports" });
  const { key, keyId } = await latchkey.createKey({ apiId, remaining: USES });
  const steps: { readonly label: string; readonly left: number; readonly held: number }[] = [];
  const note = async (label: string) => {
    const { remaining = 0 } = await latchkey.getKey({ keyId });
    const { reservations } = await latchkey.listReservations({ keyId });
    const held = reservations.reduce((sum, one) => sum + one.uses, 0);
    steps.push({ label, left: remaining, held });
    now += 1_000;
  };
  const reserve = async () => {
    const verdict = await latchkey.reserve({ key, remaining: { cost: 600 }, ttl: "5s" });
    return verdict.valid ? verdict.reservationId : "";
  };
  await note("start");
  const first = await reserve();
  await note("reserve 600");
  await latchkey.settle({ reservationId: first, remaining: { cost: 350 } });
  await note("settle 350");
  const second = await reserve();
  await note("reserve 600");
  await latchkey.release({ reservationId: second });
  await note("release");
  await reserve();
  await note("reserve 600");
  await note("server killed");
  now += 5_000;
  await latchkey.verifyKey({ key, remaining: { cost: 0 } });
  await note("5 s later");
  await latchkey.close();
  const width = (WIDTH - LEFT - RIGHT) / steps.length;
  const y = (uses: number) => TOP + HEIGHT - (uses / USES) * HEIGHT;
  return svg("1,000 uses: what is left, what is held and what was used", WIDTH, TOP + HEIGHT + 62, [
    text(LEFT, 22, "1,000 uses and their reservations", { style: "title" }),
    ...steps.flatMap(({ label, left, held }, index) => {
      const x = LEFT + index * width + 6;
      const bar = (from: number, uses: number, paint: "strong" | "soft" | "rule") =>
        rect(x, y(from + uses), width - 12, (uses / USES) * HEIGHT, paint);
      return [
        bar(0, left, "strong"),
        ...(held > 0 ? [bar(left, held, "soft")] : []),
        ...(left + held < USES ? [bar(left + held, USES - left - held, "rule")] : []),
        text(x + (width - 12) / 2, TOP + HEIGHT + 18, label, { anchor: "middle", style: "small" }),
      ];
    }),
    path(
      [
        [LEFT, TOP + HEIGHT],
        [WIDTH - RIGHT, TOP + HEIGHT],
      ],
      "rule",
    ),
    ...[0, 500, 1000].map((uses) =>
      text(LEFT - 8, y(uses) + 4, uses, { anchor: "end", style: "small", paint: "quiet" }),
    ),
    ...(["strong", "soft", "rule"] as const).flatMap((paint, index) => [
      rect(LEFT + index * 110, TOP + HEIGHT + 34, 12, 12, paint),
      text(LEFT + 18 + index * 110, TOP + HEIGHT + 44, ["left", "held", "used"][index] ?? "", {
        style: "small",
        paint: "quiet",
      }),
    ]),
  ]);
}
