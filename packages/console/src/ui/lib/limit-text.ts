import type { Limit } from "./types.js";

const UNITS = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };
const ALGORITHMS = ["fixed", "sliding", "token-bucket", "concurrent"];

/** The name of the limit that applies to every verification. */
const DEFAULT = "default";

/** Limits as the command line writes them, one a line: `default 100/1m`, `writes 20/1m:sliding:auto`, `"per user" 5/1s`. */
export function limitsText(limits: readonly Limit[]): string {
  return limits
    .map(({ name, limit, duration, algorithm, burst, shadow, autoApply }) =>
      [
        `${nameText(name)} ${limit}/${spanText(duration)}`,
        ...(algorithm === undefined || (algorithm === "token-bucket" && burst !== undefined)
          ? []
          : [algorithm]),
        ...(burst === undefined ? [] : [`burst=${burst}`]),
        ...(shadow === true ? ["shadow"] : []),
        ...(autoApply === true && name !== DEFAULT ? ["auto"] : []),
      ].join(":"),
    )
    .join("\n");
}

/** A name, quoted as in JSON if it contains a space or a quotation mark. */
const nameText = (name: string): string => (/[\s"]/.test(name) ? JSON.stringify(name) : name);

function nameOf(text: string): string {
  return text.startsWith('"') ? (JSON.parse(text) as string) : text;
}

/** A span in its largest whole unit: `90m`, `250ms`. */
export function spanText(ms: number): string {
  const [unit, length] = Object.entries(UNITS).find(([, each]) => ms % each === 0) ?? ["ms", 1];
  return `${ms / length}${unit}`;
}

/** A span such as `30s` or `90d`, in ms. @throws Error in words. */
export function spanOf(text: string): number {
  const [, count, unit = ""] = /^(\d{1,16})(ms|[dhms])$/.exec(text) ?? [];
  if (count === undefined)
    throw new Error(`${text} must be a duration, such as 30s, 15m, 1h or 7d.`);
  return Number(count) * UNITS[unit as keyof typeof UNITS];
}

/** Limits as fields of an input: the one named `default`, and the others. */
export interface LimitInput {
  readonly ratelimit?: Omit<Limit, "name" | "autoApply"> | undefined;
  readonly ratelimits?: readonly Limit[] | undefined;
}

/** Reads what {@link limitsText} writes. @throws Error in words, with the line. */
export function limitsOf(text: string | undefined): LimitInput {
  const limits = (text ?? "")
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean)
    .map(limitOf);
  const standard = limits.find(({ name }) => name === DEFAULT);
  const named = limits.filter(({ name }) => name !== DEFAULT);
  const { name: _, autoApply: __, ...figures } = standard ?? {};
  return {
    ratelimit: standard && (figures as Omit<Limit, "name">),
    ratelimits: named.length === 0 ? undefined : named,
  };
}

function limitOf(line: string): Limit {
  const [, name, limit, span, said = ""] =
    /^("(?:[^"\\]|\\["\\/bfnrt]|\\u[0-9a-f]{4})+"|[^\s"]+)\s+(\d+)\/(\w+)(?::(\S+))?$/i.exec(
      line,
    ) ?? [];
  if (name === undefined || span === undefined)
    throw new Error(`“${line}” must be a name, a number and a duration, such as default 100/1m.`);
  const words = said === "" ? [] : said.split(":");
  const known: Record<string, unknown> = {};
  for (const word of words) {
    const [, burst] = /^burst=(\d+)$/.exec(word) ?? [];
    if (burst !== undefined)
      Object.assign(known, { algorithm: "token-bucket", burst: Number(burst) });
    else if (word === "shadow") known.shadow = true;
    else if (word === "auto") known.autoApply = true;
    else if (ALGORITHMS.includes(word)) known.algorithm = word;
    else
      throw new Error(
        `“${word}” in “${line}” must be ${ALGORITHMS.join(", ")}, burst=20, shadow or auto.`,
      );
  }
  return { name: nameOf(name), limit: Number(limit), duration: spanOf(span), ...known };
}
