import { LIMIT_ALGORITHMS, type WireLimitFigures } from "@latchkey/core";
import { type Command, Option } from "commander";
import { UsageError } from "./failures.js";
import { choiceOption, isoDateOrSpan, list, spanMs, wholeNumber } from "./values.js";

/** A field of an input that an option sets. */
export interface Field {
  /** As commander takes them: `--external-id <id>`. */
  readonly flags: string;
  readonly text: string;
  /** An earlier name of the option, which still works: `--owner`. */
  readonly old?: string;
  /** Name of the field. Default: the option in camel case. */
  readonly field?: string;
  /**
   * Reads the value. Default: as it is.
   *
   * @throws UsageError naming the option.
   */
  readonly read?: (text: string) => unknown;
  /** The possible words, for help and completion. */
  readonly words?: readonly string[];
  /** The value of a word. Default: the word. */
  readonly of?: (word: string) => unknown;
}

/** The value of a field for the typed value. */
export function fieldValue({ of }: Field, typed: unknown): unknown {
  return of === undefined ? typed : of(typed as string);
}

/** Which option of a command sets each field of its input. */
const OPTIONS = new WeakMap<Command, ReadonlyMap<string, string>>();

/** Adds the options of these fields to a command. */
export function addFields(command: Command, fields: readonly Field[]): void {
  for (const { flags, text, read, words, old } of fields) {
    if (words !== undefined) command.addOption(choiceOption(flags, text, words));
    else if (read === undefined) command.option(flags, text);
    else command.option(flags, text, read);
    if (old !== undefined) command.addOption(new Option(`${old} <text>`).hideHelp());
  }
  OPTIONS.set(command, new Map(fields.map((field) => [fieldName(field), longFlag(field)])));
}

/** What sets each field of a command's input, as it is typed: `--limits` for `ratelimits`, `<keyId>` for `keyId`. */
export function typedNames(command: Command): ReadonlyMap<string, string> {
  return new Map([
    ...command.options.map((option) => [option.attributeName(), option.long ?? ""] as const),
    ...(OPTIONS.get(command) ?? []),
    ...command.registeredArguments.map(
      (argument) => [argument.name(), `<${argument.name()}>`] as const,
    ),
  ]);
}

/**
 * The typed value of a field; undefined if it was not given.
 *
 * @throws UsageError if both of its names were used.
 */
export function typedValue(field: Field, values: Readonly<Record<string, unknown>>): unknown {
  const value = values[optionName(field)];
  const old = field.old === undefined ? undefined : values[toCamelCase(field.old.slice(2))];
  if (value !== undefined && old !== undefined)
    throw new UsageError(`${longFlag(field)} and ${field.old} are the same: give one`);
  return value ?? old;
}

/** The option of a field in camel case, which commander uses as its name. */
export function optionName(field: Field): string {
  return toCamelCase(longFlag(field).slice(2));
}

/** The name of the field in the input. */
export function fieldName(field: Field): string {
  return field.field ?? optionName(field);
}

export function toCamelCase(text: string): string {
  return text.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function longFlag({ flags }: Field): string {
  return /^--[a-z-]+/.exec(flags)?.[0] ?? "";
}

/** A span of `min` or more, as `30s`, `15m`, `1h`, `7d` or `250ms`, in ms. */
export function span(argument: string, min: 0 | 1 = 0): (text: string) => number {
  const number = min === 0 ? "a whole number" : `a whole number >= ${min}`;
  return (text) => {
    const value = spanMs(text);
    if (Number.isSafeInteger(value) && value >= min) return value;
    throw new UsageError(`${argument} must be ${number} with ms, s, m, h or d, such as 15m`);
  };
}

/** A JSON object. Core checks its contents. */
function json(argument: string): (text: string) => unknown {
  return (text) => {
    try {
      return JSON.parse(text);
    } catch {
      // Not as a cause: text that is not JSON may be anything, even a secret.
      throw new UsageError(`${argument} must be JSON, such as '{"plan":"pro"}'`);
    }
  };
}

/** A limit, as `100/1m`, `100/1m:sliding`, `100/1m:burst=20:shadow` or `5/2m:concurrent`. */
function rate(argument: string, text: string): WireLimitFigures {
  const [figures = "", ...words] = text.split(":");
  const [limit = "", duration, ...rest] = figures.split("/");
  if (duration === undefined || rest.length > 0)
    throw new UsageError(`${argument} must be units/span, such as 100/1m`);
  const counts = words.map((word) => counting(argument, word));
  if (new Set(counts.flatMap(Object.keys)).size < counts.length)
    throw new UsageError(`${argument}: what follows the span must not be given twice`);
  const { algorithm, burst, shadow }: Partial<WireLimitFigures> = Object.assign({}, ...counts);
  // Only a token bucket has a burst.
  const counted = algorithm ?? (burst === undefined ? undefined : "token-bucket");
  return {
    limit: wholeNumber(`${argument}: the units before the /`, 1)(limit),
    duration: span(`${argument}: the span after the /`, 1)(duration),
    ...(counted !== undefined && { algorithm: counted }),
    ...(burst !== undefined && { burst }),
    ...(shadow && { shadow }),
  };
}

/** How a limit counts, by the words after its span. */
function counting(argument: string, word: string): Partial<WireLimitFigures> {
  const [, burst] = /^burst=(.*)$/.exec(word) ?? [];
  if (burst !== undefined)
    return { burst: wholeNumber(`${argument}: the units of burst`, 1)(burst) };
  if (word === "shadow") return { shadow: true };
  const algorithm = LIMIT_ALGORITHMS.find((one) => one === word);
  if (algorithm !== undefined) return { algorithm };
  throw new UsageError(
    `${argument}: what follows the span must be ${[...LIMIT_ALGORITHMS, "burst=units"].join(", ")} or shadow`,
  );
}

/** Named limits, as `writes=20/1m,reads=100/1m:sliding:auto`. */
function namedRates(text: string): readonly object[] {
  return list(text).map((item, at) => {
    const [, name, said = ""] = /^([^=]{1,128})=(.*)$/.exec(item) ?? [];
    if (name === undefined)
      throw new UsageError("--ratelimits must be name=units/span, such as writes=20/1m:auto");
    const [limit = "", ...words] = said.split(":");
    const isAuto = words.includes("auto");
    const others = words.filter((word) => word !== "auto");
    return {
      name,
      ...rate(`--ratelimits (item ${at + 1})`, [limit, ...others].join(":")),
      ...(isAuto && { autoApply: true }),
    };
  });
}

/** The highest day of a refill's interval: of a week, of a month, or none. */
const LAST_DAYS = new Map([
  ["hourly", 0],
  ["daily", 0],
  ["weekly", 7],
  ["monthly", 31],
]);

/**
 * A refill: `daily:100`, `monthly:1000:15` (the last number is the day of the month), or `90m:100` (every 90 minutes).
 * `:carry=50` at the end keeps up to 50 unused ones on top.
 */
function refill(text: string): object {
  const [, rule = "", carryOver] = /^(.*?)(?::carry=(.*))?$/.exec(text) ?? [];
  const [interval = "", amount, day, ...rest] = rule.split(":");
  const lastDay = LAST_DAYS.get(interval) ?? 0;
  const isKnown = LAST_DAYS.has(interval) || /^\d/.test(interval);
  if (!isKnown || amount === undefined || (day !== undefined && lastDay === 0) || rest.length > 0)
    throw new UsageError(
      "--refill must be hourly:amount, daily:amount, weekly:amount:day, monthly:amount:day or span:amount, such as daily:100 or 90m:100",
    );
  return {
    interval: LAST_DAYS.has(interval)
      ? interval
      : { every: span("--refill: the span", 1)(interval) },
    amount: wholeNumber("--refill: the amount", 1)(amount),
    ...(carryOver !== undefined && {
      carryOver: wholeNumber("--refill: the uses of carry", 0)(carryOver),
    }),
    ...(day !== undefined && { refillDay: wholeNumber("--refill: the day", 1, lastDay)(day) }),
  };
}

function remainingFrom(min: 0 | 1) {
  return {
    flags: "--remaining <n>",
    text: min === 0 ? "uses left" : "uses, 1 or more (default: unlimited)",
    read: wholeNumber("--remaining", min),
  };
}

/** Fields that several commands take. */
export const FIELDS = {
  name: { flags: "--name <text>", text: "a name, 1 to 256 characters" },
  externalId: { flags: "--external-id <id>", text: "your own id of a user, 1 to 255 characters" },
  apiId: { flags: "--api-id <id>", text: "id or name of an API" },
  meta: { flags: "--meta <json>", text: "metadata: a JSON object", read: json("--meta") },
  expires: {
    flags: "--expires <when>",
    text: "when it expires: 30d from now, 2031-05-17 (00:00 UTC) or 2031-05-17T09:30:00Z",
    read: isoDateOrSpan("--expires"),
  },
  startsAt: {
    flags: "--starts-at <when>",
    text: "when it becomes valid: 1d from now, 2031-05-17 (00:00 UTC) or 2031-05-17T09:30:00Z",
    read: isoDateOrSpan("--starts-at"),
  },
  expiresWhenUnused: {
    flags: "--expires-when-unused <span>",
    text: "expires after this long without a valid verification: a day or more, such as 90d",
    read: span("--expires-when-unused"),
  },
  remaining: remainingFrom(0),
  /** For new records: creating one without any uses is a mistake. */
  firstRemaining: remainingFrom(1),
  refill: {
    flags: "--refill <rule>",
    text: "hourly:10, daily:100, weekly:500:1 for Mondays, monthly:1000:15 for the 15th, or 90m:100; :carry=50 keeps up to 50 on top",
    read: refill,
  },
  ratelimit: {
    flags: "--ratelimit <rate>",
    text: "the limit of every verification: 100/1m, 100/1m:sliding, 100/1m:burst=20 or 5/2m:concurrent; :shadow counts without refusing",
    read: (text) => rate("--ratelimit", text),
  },
  ratelimits: {
    flags: "--ratelimits <list>",
    text: "named limits, which replace the existing ones: writes=20/1m,reads=100/1m:sliding:auto; :auto applies to every verification",
    read: namedRates,
  },
  usesFrom: {
    flags: "--uses-from <owner>",
    text: "key, or identity: the uses that all keys of the identity share",
    words: ["key", "identity"],
  },
  tags: { flags: "--tags <list>", text: "labels to find it by, separated by commas", read: list },
  roles: { flags: "--roles <list>", text: "names, separated by commas", read: list },
  permissions: { flags: "--permissions <list>", text: "names, separated by commas", read: list },
  environment: { flags: "--environment <text>", text: "the environment that the key must have" },
  ipAddress: { flags: "--ip-address <address>", text: "the address that the key is used from" },
  description: { flags: "--description <text>", text: "at most 512 characters" },
  ipWhitelist: {
    flags: "--ip-whitelist <list>",
    text: "addresses and CIDR ranges that keys may be used from, separated by commas",
    read: list,
  },
  defaults: {
    flags: "--defaults <json>",
    text: 'settings of new keys that do not set their own: {"prefix":"pay_live","expiresIn":"90d"}',
    read: json("--defaults"),
  },
  ceilings: {
    flags: "--ceilings <json>",
    text: 'maximums that no key may exceed: {"maxExpiresIn":"365d","maxKeysPerIdentity":5}',
    read: json("--ceilings"),
  },
  deleteProtection: {
    flags: "--delete-protection <on|off>",
    text: "whether it is protected from deletion",
    words: ["on", "off"],
    of: (word) => word === "on",
  },
} as const satisfies Readonly<Record<string, Field>>;

/** How uses are changed by `update-remaining`. */
export const CHANGE_OF_USES: readonly Field[] = [
  {
    flags: "--op <op>",
    text: "how the uses left change",
    words: ["set", "increment", "decrement"],
  },
  {
    flags: "--value <n>",
    text: "the new number of uses, or by how many they change; unlimited with set also removes the refill",
    // Not read: commander takes null for no value at all.
    of: (text) => (text === "unlimited" ? null : wholeNumber("--value", 0)(text)),
  },
];
