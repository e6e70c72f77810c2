import { createHash } from "node:crypto";
import {
  ADDRESS_RANGE_ERROR,
  AUDIT_TYPES,
  type AuditType,
  canonicalAddressRange,
  meantHint,
  type SpanMs,
} from "@latchkey/core";
import { Webhook } from "standardwebhooks";
import type { RetryRule } from "./retry.js";

/** Where events are sent. */
export interface WebhookEndpoint {
  /**
   * `https://…`, or `http://…` for a private network: at most 2,048 characters, without user, password and fragment. The URL identifies the
   * endpoint: another URL is a new endpoint, without the position of the old one.
   */
  readonly url: string;
  /** Types of the events to send: 1 or more. */
  readonly types: readonly AuditType[];
  /** Secret to sign events with: `whsec_` and the base64 of 24 to 64 random bytes. A list of up to 5 signs with each, to rotate secrets. */
  readonly secret: string | readonly string[];
  /** Private addresses to allow: up to 100 addresses and ranges, such as `127.0.0.0/8`. */
  readonly allow?: readonly string[] | undefined;
}

/** Options of `createWebhooks`. */
export interface WebhookOptions {
  /** 1 to 100, each with its own URL; the same in every process that sends for this workspace. */
  readonly endpoints: readonly WebhookEndpoint[];
  /** How long failed events are retried: 1 ms to 30 days. Default: 3 days. */
  readonly retryForMs?: SpanMs | undefined;
  /** The longest pause before the second try: 1 ms to an hour. Pauses double, up to 12 hours. Default: 5,000 ms. */
  readonly firstRetryMs?: SpanMs | undefined;
  /** How long a receiver may take to respond: 1 to 60,000 ms. Default: 15,000. */
  readonly timeoutMs?: SpanMs | undefined;
  /** How soon another process takes over from a killed one: 100 ms to an hour. Default: 30,000 ms. */
  readonly leaseMs?: SpanMs | undefined;
  /** How long dead letters are kept: an hour to 3,650 days. Default: 30 days. */
  readonly deadLettersForMs?: SpanMs | undefined;
  /** How many dead letters of all endpoints are kept: 1 to 100,000. The earliest are deleted first. Default: 10,000. */
  readonly maxDeadLetters?: number | undefined;
}

/** An endpoint whose options were checked. */
export interface Endpoint {
  /** A digest of the URL, which itself may contain a secret. */
  readonly id: string;
  readonly url: URL;
  readonly types: readonly AuditType[];
  readonly signers: readonly Webhook[];
  readonly allow: readonly string[];
}

/** Options that were checked. */
export interface Settings extends RetryRule {
  readonly endpoints: readonly Endpoint[];
  readonly timeoutMs: SpanMs;
  readonly leaseMs: SpanMs;
  readonly deadLettersForMs: SpanMs;
  readonly maxDeadLetters: number;
}

const DAY_MS = 86_400_000;

/** Minimum, maximum and default of each option. */
const NUMBERS = {
  retryForMs: [1, 30 * DAY_MS, 3 * DAY_MS],
  firstRetryMs: [1, DAY_MS / 24, 5_000],
  timeoutMs: [1, 60_000, 15_000],
  leaseMs: [100, DAY_MS / 24, 30_000],
  deadLettersForMs: [DAY_MS / 24, 3_650 * DAY_MS, 30 * DAY_MS],
  maxDeadLetters: [1, 100_000, 10_000],
} as const;

const [MAX_ENDPOINTS, MAX_SECRETS, MAX_ALLOWED, MAX_URL] = [100, 5, 100, 2_048];

const SECRET = /^whsec_((?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/;

/** @throws TypeError naming the wrong option and its bound, never its value. */
export function readSettings(options: WebhookOptions): Settings {
  const given = fieldsOf(
    options,
    "options",
    ["endpoints", ...Object.keys(NUMBERS)],
    "createWebhooks",
  );
  const endpoints = listOf(given.endpoints, "endpoints", MAX_ENDPOINTS, "endpoints").map(
    (endpoint, index) => readEndpoint(endpoint, `endpoints[${index}]`),
  );
  endpoints.forEach(({ id }, index) => {
    if (endpoints.findIndex((other) => other.id === id) < index)
      throw new TypeError(`"endpoints[${index}].url" must not be that of another endpoint`);
  });
  const number = (name: keyof typeof NUMBERS): number => {
    const [min, max, usual] = NUMBERS[name];
    const { [name]: value = usual } = given;
    if (Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max)
      return Number(value);
    throw new TypeError(`"${name}" must be a whole number from ${min} to ${max}`);
  };
  return {
    endpoints,
    retryForMs: number("retryForMs"),
    firstRetryMs: number("firstRetryMs"),
    timeoutMs: number("timeoutMs"),
    leaseMs: number("leaseMs"),
    deadLettersForMs: number("deadLettersForMs"),
    maxDeadLetters: number("maxDeadLetters"),
  };
}

function readEndpoint(endpoint: unknown, path: string): Endpoint {
  const given = fieldsOf(endpoint, path, ["url", "types", "secret", "allow"], "an endpoint");
  const url = readUrl(given.url, `${path}.url`);
  const types = listOf(given.types, `${path}.types`, AUDIT_TYPES.length, "types of events");
  const secrets = typeof given.secret === "string" ? [given.secret] : given.secret;
  const { allow = [] } = given;
  return {
    id: createHash("sha256").update(url.href).digest("hex").slice(0, 32),
    url,
    types: types.map((type, index) => readType(type, `${path}.types[${index}]`)),
    signers: listOf(secrets, `${path}.secret`, MAX_SECRETS, "secrets").map((secret) =>
      readSecret(secret, `${path}.secret`),
    ),
    allow: listOf(allow, `${path}.allow`, MAX_ALLOWED, "addresses and ranges", 0).map(
      (range, index) => {
        const canonical = typeof range === "string" ? canonicalAddressRange(range) : null;
        if (canonical !== null) return canonical;
        throw new TypeError(`"${path}.allow[${index}]" ${ADDRESS_RANGE_ERROR}`);
      },
    ),
  };
}

function readUrl(value: unknown, path: string): URL {
  const isText = typeof value === "string" && value.length <= MAX_URL;
  if (isText && URL.canParse(value)) {
    const url = new URL(value);
    const isPlain = url.username === "" && url.password === "" && url.hash === "";
    if (isPlain && (url.protocol === "https:" || url.protocol === "http:")) return url;
  }
  throw new TypeError(
    `"${path}" must be an http or https URL of at most ${MAX_URL} characters, without a user, a password or a fragment`,
  );
}

function readType(value: unknown, path: string): AuditType {
  const type = AUDIT_TYPES.find((known) => known === value);
  if (type !== undefined) return type;
  throw new TypeError(`"${path}" must be a type of event, such as key.created`);
}

function readSecret(value: unknown, path: string): Webhook {
  const [secret, encoded = ""] = (typeof value === "string" && SECRET.exec(value)) || [];
  const { length } = Buffer.from(encoded, "base64");
  if (secret !== undefined && length >= 24 && length <= 64) return new Webhook(secret);
  throw new TypeError(`"${path}" must be whsec_ followed by 24 to 64 bytes in base64`);
}

function listOf(
  value: unknown,
  path: string,
  max: number,
  what: string,
  min: number = 1,
): readonly unknown[] {
  // The spread turns holes into undefined, which is refused.
  if (Array.isArray(value) && value.length >= min && value.length <= max) return [...value];
  throw new TypeError(`"${path}" must be a list of ${min} to ${max} ${what}`);
}

/** The fields of an object. @throws TypeError naming an unknown field. */
function fieldsOf(
  value: unknown,
  path: string,
  names: readonly string[],
  of: string,
): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new TypeError(`"${path}" must be an object`);
  const unknown = Object.keys(value).find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new TypeError(`"${unknown}" is not an option of ${of}${meantHint(unknown, names)}`);
  return value as Readonly<Record<string, unknown>>;
}
