import { generateKeyPairSync, sign } from "node:crypto";
import type { Latchkey } from "@latchkey/core";
import { createLeakHandler } from "../leaks/leak-handler.js";
import type { LeakHandlerOptions } from "../leaks/options.js";

/** Key pairs of a code host that signs its reports, and of a stranger. */
export const HOST = generateKeyPairSync("ec", { namedCurve: "P-256" });
export const STRANGER = generateKeyPairSync("ec", { namedCurve: "P-256" });
/** The public half of a pair, in PEM. */
export const pemOf = (pair: typeof HOST) =>
  pair.publicKey.export({ type: "spki", format: "pem" }) as string;
/** Value of the option `publicKeys`. */
const PUBLIC_KEYS = { current: pemOf(HOST) };
/** Place where tokens were found. */
export const FOUND_AT = "https://code.example/octo/repo/blob/1/config.env";

type Token = Readonly<Record<string, unknown>>;

/** A token as a code host reports it. */
export const found = (token: string, more: Token = {}): Token => ({
  token,
  type: "tides_key",
  url: FOUND_AT,
  source: "content",
  ...more,
});

/** The signature of a body. */
export const signed = (body: string, pair = HOST) =>
  sign("sha256", Buffer.from(body), { key: pair.privateKey, dsaEncoding: "der" }).toString(
    "base64",
  );

/** A signed report. */
export function post(
  body: string,
  headers: Readonly<Record<string, string | null>> = {},
  path = "/leaks",
): Request {
  const all = {
    "content-type": "application/json",
    "github-public-key-identifier": "current",
    "github-public-key-signature": signed(body),
    ...headers,
  };
  const given = Object.entries(all).filter((each): each is [string, string] => each[1] !== null);
  return new Request(`http://keys.test${path}`, { method: "POST", headers: given, body });
}

/** A handler whose failures are collected. */
export function leakHandler(
  latchkey: Latchkey,
  errors: unknown[],
  options: Partial<LeakHandlerOptions> = {},
) {
  return createLeakHandler(latchkey, {
    publicKeys: PUBLIC_KEYS,
    onError: (error) => errors.push(error),
    ...options,
  });
}

/** The response of a handler, parsed. */
export async function reply(response: Promise<Response>) {
  const answered = await response;
  const { status, headers } = answered;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever it expects there
  const body: any = await answered.json();
  return { status, headers, body };
}
