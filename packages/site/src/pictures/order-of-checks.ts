import { createLatchkey } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { box, path, svg, text } from "./svg.js";

/** The code of each check's refusal, and what it checks. */
const CHECKS: Readonly<Record<string, readonly [code: string, question: string]>> = {
  exists: ["NOT_FOUND", "is there a key with this secret?"],
  enabled: ["DISABLED", "is it enabled?"],
  api: ["FORBIDDEN", "is it for the requested API?"],
  environment: ["FORBIDDEN", "is it for the requested environment?"],
  expiry: ["EXPIRED", "is its expiry in the future?"],
  idle: ["EXPIRED", "was it used recently enough?"],
  start: ["NOT_STARTED", "has its start time passed?"],
  address: ["FORBIDDEN", "may it be used from this address?"],
  permissions: ["INSUFFICIENT_PERMISSIONS", "may it do this?"],
  ratelimit: ["RATE_LIMITED", "does every limit have room?"],
  uses: ["USAGE_EXCEEDED", "are there uses left?"],
};

/** All checks, in the order of a dry run of a key that has everything. */
export async function orderOfChecks(): Promise<string> {
  const latchkey = createLatchkey({ store: memoryStore() });
  const { apiId } = await latchkey.createApi({ name: "maps" });
  const { key } = await latchkey.createKey({
    apiId,
    environment: "live",
    startsAt: Date.now() + 60_000,
    expiresWhenUnused: "30d",
    remaining: 1,
    ratelimit: { limit: 1, duration: "1m" },
  });
  const verdict = await latchkey.verifyKey({ key, environment: "live", dryRun: true });
  await latchkey.close();
  const shapes = verdict.checks.flatMap(({ check }, index) => {
    const [code = "", question = ""] = CHECKS[check] ?? [];
    const top = 16 + index * 40;
    return [
      ...box([20, top, 130, 28], [check]),
      text(164, top + 18, question, { style: "small" }),
      path(
        [
          [420, top + 14],
          [476, top + 14],
        ],
        "bad",
        "end",
      ),
      text(448, top + 9, "no", { anchor: "middle", style: "small", paint: "quiet" }),
      text(484, top + 18, code, { style: "code", paint: "bad" }),
      path(
        [
          [85, top + 28],
          [85, top + 40],
        ],
        "strong",
        "end",
      ),
    ];
  });
  const end = 16 + verdict.checks.length * 40;
  const bracket = end - 80;
  return svg("The order of checks, and the verdict if one fails", 760, end + 44, [
    ...shapes,
    ...box([20, end, 130, 28], ["VALID"]),
    path(
      [
        [668, bracket + 2],
        [678, bracket + 2],
        [678, end + 26],
        [668, end + 26],
      ],
      "quiet",
    ),
    text(686, bracket + 44, "one step", { style: "small", paint: "quiet" }),
    text(686, bracket + 60, "of the", { style: "small", paint: "quiet" }),
    text(686, bracket + 76, "store", { style: "small", paint: "quiet" }),
  ]);
}
