import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { failingStore, listen } from "@latchkey/console/testing";
import { createLatchkey, type KeyStore, type Latchkey, type PortalAllow } from "@latchkey/core";
import type { OpenPage, Watched } from "@latchkey/http/testing";
import { memoryStore } from "@latchkey/memory";
import { sqliteStore } from "@latchkey/sqlite";
import express from "express";
import { onTestFinished } from "vitest";
import { createPortal } from "../express.js";
import type { PortalOptions } from "../options.js";

/** The header that a portal requires for everything but its page and files. */
export const OWN = { "x-latchkey-portal": "1" };

/** A store in a file that is deleted after the test. */
function sqliteFile(): KeyStore {
  const folder = mkdtempSync(join(tmpdir(), "latchkey-portal-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return sqliteStore(join(folder, "keys.db"));
}

export const STORES = { memory: () => memoryStore(), SQLite: sqliteFile };

/** A latchkey with one API and two permissions. */
export async function openLatchkey(store: KeyStore = memoryStore(), clock?: () => number) {
  const latchkey = createLatchkey({
    store,
    usage: { flushMs: 20 },
    ...(clock !== undefined && { clock }),
  });
  onTestFinished(() => latchkey.close());
  for (const name of ["tiles.read", "tiles.write"]) await latchkey.createPermission({ name });
  const { apiId } = await latchkey.createApi({ name: "maps" });
  return { latchkey, apiId };
}

/** A portal on a path of an Express app with its own sign-in: the customer is in the cookie `user`. */
export interface Mounted {
  readonly latchkey: Latchkey;
  readonly apiId: string;
  readonly origin: string;
  /** The URL of the portal, with a slash at the end. */
  readonly url: string;
  /** Takes the store down or up. While it is down, all calls fail. */
  setDown(isDown: boolean): void;
}

const PATH = "/account/keys/";

/** The policy of the host's page that contains the element. */
const HOST_POLICY =
  "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/** Mounts a portal on a store. */
export async function mount(
  allow: Partial<PortalAllow> = {},
  options: Omit<PortalOptions, "basePath"> = {},
  given: KeyStore = memoryStore(),
): Promise<Mounted> {
  const { store, setDown } = failingStore(given);
  onTestFinished(() => setDown(false));
  const { latchkey, apiId } = await openLatchkey(store);
  const session = ({ headers }: Request) => {
    const user = /(?:^|; )user=(\w+)/.exec(headers.get("cookie") ?? "")?.[1];
    return user === undefined
      ? null
      : {
          externalId: user,
          allow: { apiIds: [apiId], create: true, rotate: true, revoke: true, ...allow },
        };
  };
  const app = express();
  app.get("/host", (_request, response) => {
    response.set("content-security-policy", HOST_POLICY);
    response
      .type("html")
      .send(
        `<!doctype html><html lang="en"><title>Account</title><h1>Account</h1><script type="module" src="${PATH}latchkey-keys.js"></script><latchkey-keys></latchkey-keys>`,
      );
  });
  app.use(PATH, createPortal(latchkey, withoutUndefined({ session, ...options })));
  const origin = await listen(app);
  return { latchkey, apiId, origin, url: `${origin}${PATH}`, setDown };
}

/** Signs a customer in with the host. */
export async function signIn(page: Watched["page"], origin: string, user = "alice"): Promise<void> {
  await page.context().addCookies([{ name: "user", value: user, url: origin }]);
}

/** An empty browser page in which a customer is signed in. */
export async function openSignedIn(
  open: OpenPage,
  origin: string,
  options?: Parameters<OpenPage>[1],
): Promise<Watched> {
  const watched = await open(origin, options);
  await signIn(watched.page, origin);
  return watched;
}

/** The fields that are not undefined: `session: undefined` makes a portal without the host's sign-in. */
function withoutUndefined<Fields extends object>(fields: Fields): Fields {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as Fields;
}
