import type { InputOf } from "@latchkey/core";
import type { Texts } from "./texts.js";

/** A customer, and what the session allows. */
type Customer = InputOf<"createPortalSession">;

/**
 * Returns the customer of a request, by your own sign-in, and what they may do, as for createPortalSession; null if nobody is signed in. It
 * is called with every request: a customer who signs out of your site, or in as somebody else, is signed out of the portal too.
 */
export type FindCustomer = (request: Request) => Customer | null | Promise<Customer | null>;

/** Options of `createPortal`. */
export interface PortalOptions {
  /** Returns the customer of a request. Without it, customers use links with a session's secret in the fragment: `#session=<secret>`. */
  readonly session?: FindCustomer;
  /** Where a customer signs in: the page links to it when nobody is signed in. A path, or an http or https URL. */
  readonly signInUrl?: string;
  /** Path of the portal in the URLs of incoming requests, such as `/account/keys`. Default: empty. */
  readonly basePath?: string;
  /** Name of the cookie, different for each portal on one host. Default: `latchkey_portal`. */
  readonly cookie?: string;
  /** Language of the texts, as in `<html lang>`. It also sets the format of dates and numbers. Default: `en`. */
  readonly language?: string;
  /** Texts that replace the English ones. */
  readonly texts?: Partial<Texts>;
  /** Title of the page. Default: the text `title`. */
  readonly title?: string;
  /** CSS variables, such as `{ "--latchkey-accent": "#0a7d4f" }`. */
  readonly variables?: Readonly<Record<`--latchkey-${string}`, string>>;
  /** Called with every error behind a 500 or 503. Errors that it throws are ignored. Default: `console.error`. */
  readonly onError?: (error: unknown) => void;
}

const KNOWN: ReadonlySet<string> = new Set<keyof PortalOptions>([
  "session",
  "signInUrl",
  "basePath",
  "cookie",
  "language",
  "texts",
  "title",
  "variables",
  "onError",
]);

/** RFC 6265 section 4.1.1, and safe in the text of a header. */
const COOKIE_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** @throws TypeError naming the wrong option. */
export function checkOptions(options: PortalOptions): void {
  if (typeof options !== "object" || options === null)
    throw new TypeError('"options" must be an object');
  const unknown = Object.keys(options).find((name) => !KNOWN.has(name));
  if (unknown !== undefined) throw new TypeError(`"${unknown}" is not an option of createPortal`);
  const { session, onError, cookie = "a", basePath = "", language = "en", title = "" } = options;
  for (const [name, value] of Object.entries({ session, onError }))
    if (value !== undefined && typeof value !== "function")
      throw new TypeError(`"${name}" must be a function`);
  if (typeof basePath !== "string" || !/^(?:\/[^/?#]+)*$/.test(basePath))
    throw new TypeError('"basePath" must be empty, or begin with / and not end with it');
  const { signInUrl = "/" } = options;
  if (typeof signInUrl !== "string" || !/^(?:\/|https?:\/\/)/i.test(signInUrl))
    throw new TypeError('"signInUrl" must be a path that begins with /, or an http or https URL');
  if (typeof cookie !== "string" || !COOKIE_NAME.test(cookie))
    throw new TypeError('"cookie" must be 1 to 64 characters of A-Z a-z 0-9 _ -');
  if (typeof language !== "string" || !isLanguage(language))
    throw new TypeError('"language" must be a language tag such as "de"');
  if (typeof title !== "string" || /[<&]/.test(title))
    throw new TypeError('"title" must be a string without < and &');
  for (const name of ["texts", "variables"] as const) {
    const given: unknown = options[name] ?? {};
    if (typeof given !== "object" || given === null || !isTexts(Object.values(given)))
      throw new TypeError(`"${name}" must be an object of strings`);
  }
  const variables = Object.keys(options.variables ?? {});
  if (!variables.every((name) => name.startsWith("--latchkey-")))
    throw new TypeError('"variables" must have names that begin with --latchkey-');
}

/** Whether it is a valid language tag. `Intl` throws on any other. */
function isLanguage(tag: string): boolean {
  try {
    return /^[A-Za-z0-9-]{2,35}$/.test(tag) && Intl.getCanonicalLocales(tag).length === 1;
  } catch {
    return false;
  }
}

function isTexts(values: readonly unknown[]): boolean {
  return values.every((value) => typeof value === "string");
}
