import type { DryRunOutcome, VerdictCheck } from "@latchkey/core";
import type { Command } from "commander";
import { Refused } from "../command-line/failures.js";
import { example } from "../command-line/help.js";
import type { Host } from "../command-line/host.js";
import { withIds } from "../command-line/named-ids.js";
import {
  addCommonOptions,
  addInput,
  type CommonOptions,
  inputOf,
} from "../command-line/operations.js";
import { type Column, instant, minute, printRows } from "../command-line/output.js";
import { QUESTION } from "../command-line/question.js";
import { ON_STDIN, readSecret } from "../command-line/secret-input.js";
import { readRings, withLatchkey } from "../command-line/store-options.js";
import { otherPeppers } from "../doctor/unknown-secret.js";

/** Adds `latchkey explain`: why a key is refused, and when it would pass. */
export function addExplain(program: Command, host: Host): void {
  const explain = program
    .command("explain")
    .description(
      "show each check of a verification and when it would pass, without charging the key; exits with 1 if the key would be refused",
    )
    .argument("<keyId>", `id of the key; ${ON_STDIN}`)
    .addHelpText("after", example("latchkey explain <keyId> --permissions docs.read"));
  addCommonOptions(addInput(explain, [], QUESTION)).action(async (argument: string) => {
    const options = explain.opts<CommonOptions>();
    const { keyId, ...typed } = inputOf(explain, QUESTION, host) as { readonly keyId: string };
    // Anything but a key id may be a secret, even one in another format.
    const key = argument.startsWith("key_") ? null : await readSecret(argument, host);
    await withLatchkey(options, host, async (latchkey, store) => {
      const question = await withIds(latchkey, typed, explain);
      const outcome: DryRunOutcome =
        key === null
          ? await latchkey.explainKey({ ...question, keyId })
          : await latchkey.verifyKey({ ...question, key, dryRun: true });
      if (options.json) host.print(JSON.stringify(outcome));
      else {
        const now = latchkey.now();
        printRows(host, options, outcome.checks, columnsAt(now));
        host.print(conclusion(outcome, now));
      }
      if (key !== null && outcome.code === "NOT_FOUND")
        for (const line of await otherPeppers(latchkey, store, readRings(host), key))
          host.warn(line);
      if (!outcome.valid) throw new Refused();
    });
  });
}

function columnsAt(now: number): readonly Column<VerdictCheck>[] {
  return [
    { title: "CHECK", of: (check) => check.check },
    { title: "RESULT", of: ({ passed }) => (passed ? "passes" : "REFUSES") },
    {
      title: "WHAT IT SAW",
      of: (check) => seen(check, now, instant),
      inTable: (check) => seen(check, now, minute),
    },
    {
      title: "PASSES AT",
      of: (check) => passing(check, now, instant),
      inTable: (check) => passing(check, now, minute),
    },
  ];
}

function passing(check: VerdictCheck, now: number, written: WriteInstant): string | undefined {
  if (check.passed) return undefined;
  const at = passesAt(check, now);
  return at === undefined ? "not by waiting" : written(at);
}

/** Formats an instant, in full or shorter. */
type WriteInstant = (at: number) => string;

/** The result of a check in words. */
function seen(check: VerdictCheck, now: number, written: WriteInstant): string | undefined {
  switch (check.check) {
    case "exists":
      return check.passed ? undefined : "no key of this workspace has this secret";
    case "enabled":
      return check.passed ? "switched on" : "switched off: keys enable";
    case "api":
      return check.wanted === undefined
        ? check.apiId
        : `asked for ${check.wanted}, belongs to ${check.apiId}`;
    case "environment":
      return `asked for ${check.wanted}, has ${check.environment ?? "none"}`;
    case "start":
      return `${check.startsAt > now ? "starts" : "started"} ${written(check.startsAt)}`;
    case "idle":
      return `${check.passed ? "expires" : "expired"} unused ${written(check.idleExpiresAt)}`;
    case "expiry":
      if (check.expires === undefined) return "never expires";
      return `${check.expires > now ? "expires" : "expired"} ${written(check.expires)}`;
    case "address":
      return check.ipAddress ?? (check.passed ? "any address" : "no --ip-address given");
    case "permissions":
      return check.missing === undefined ? undefined : `missing ${JSON.stringify(check.missing)}`;
    case "ratelimit":
      return limitSeen(check, written);
    case "uses":
      return usesSeen(check, written);
    default:
      return check satisfies never;
  }
}

function limitSeen(
  check: Extract<VerdictCheck, { readonly check: "ratelimit" }>,
  written: WriteInstant,
): string {
  const { name, cost, remaining, limit, burst = limit, reset, algorithm, exceeded } = check;
  const taken = `${name}: takes ${cost} of ${remaining} left of ${burst}`;
  const until = reset === undefined ? "" : `, until ${written(reset)}`;
  const how = algorithm === undefined ? "" : `, ${algorithm}`;
  const tried = exceeded === undefined ? "" : exceeded ? ", shadow: would refuse" : ", shadow";
  return `${taken}${until}${how}${tried}`;
}

function usesSeen(
  check: Extract<VerdictCheck, { readonly check: "uses" }>,
  written: WriteInstant,
): string {
  const { remaining, cost, from, nextRefillAt } = check;
  if (remaining === undefined) return "unlimited";
  const refill = nextRefillAt === undefined ? "" : `, refilled ${written(nextRefillAt)}`;
  return `takes ${cost} of ${remaining} left of the ${from}${refill}`;
}

/** Unix epoch ms at which a check passes if nothing else happens; undefined if waiting does not help. */
function passesAt(check: VerdictCheck, now: number): number | undefined {
  if (check.check === "ratelimit" && check.retryAfterMs !== undefined)
    return check.algorithm === undefined ? check.reset : now + check.retryAfterMs;
  if (check.check === "start") return check.startsAt;
  if (check.check === "uses" && check.retryAfterMs !== undefined) return check.nextRefillAt;
  return undefined;
}

/** The verdict in one line. */
function conclusion(outcome: DryRunOutcome, now: number): string {
  if (outcome.valid) return "VALID: it would be let in";
  const instants = outcome.checks
    .filter(({ passed }) => !passed)
    .map((check) => passesAt(check, now));
  const known = instants.filter((at) => at !== undefined);
  return known.length === instants.length
    ? `${outcome.code}: it would pass at ${instant(Math.max(...known))} if nothing else happens`
    : `${outcome.code}: waiting does not help`;
}
