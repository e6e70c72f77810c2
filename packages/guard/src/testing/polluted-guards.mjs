// @ts-nocheck: its requests and replies have only what a guard reads.
// Presents keys that must be refused to every entry, and to the library behind them, with every name of the sources on Object.prototype.

import { createLatchkey } from "@latchkey/core";
import { createDecision } from "@latchkey/guard";
import { createGuard as createElysiaGuard } from "@latchkey/guard/elysia";
import {
  createGuard as createExpressGuard,
  apiKeyOf as expressKeyOf,
} from "@latchkey/guard/express";
import {
  createGuard as createFastifyGuard,
  apiKeyOf as fastifyKeyOf,
} from "@latchkey/guard/fastify";
import { createGuard as createFetchGuard } from "@latchkey/guard/fetch";
import { createGuard as createHonoGuard } from "@latchkey/guard/hono";
import { createGuard as createKoaGuard } from "@latchkey/guard/koa";
import { createGuard as createNestGuard } from "@latchkey/guard/nest";
import { createGuard as createNodeGuard } from "@latchkey/guard/node";
import { createGuard as createTrpcGuard } from "@latchkey/guard/trpc";
import { memoryStore } from "@latchkey/memory";
import { Elysia } from "elysia";
import { tell } from "../../../../.ci/polluted.mjs";

let now = Date.UTC(2026, 2, 10);
const store = memoryStore();
const latchkey = createLatchkey({ store, clock: () => now });
const { apiId } = await latchkey.createApi({ name: "tiles" });
const elsewhere = await latchkey.createApi({ name: "docs", ipWhitelist: ["192.0.2.1"] });
await latchkey.createPermission({ name: "tiles.read" });
const issue = async (fields) => (await latchkey.createKey({ apiId, ...fields })).key;
const limit = { limit: 1, duration: 86_400_000 };
const expired = await issue({ expires: now + 1 });
now += 1;
const keys = {
  unknown: "no-such-key",
  disabled: await issue({ enabled: false }),
  expired,
  limited: await issue({ ratelimit: limit }),
  "used up": await issue({ remaining: 1 }),
  "of another API": (await latchkey.createKey({ apiId: elsewhere.apiId })).key,
};
for (const key of [keys.limited, keys["used up"]]) await latchkey.verifyKey({ key });
const good = await issue();
await latchkey.limit({ namespace: "tiles", identifier: "a", ...limit });
const root = await latchkey.createRootKey({ permissions: ["*"] });
await latchkey.revokeRootKey({ rootKeyId: root.rootKeyId });

const checks = {};
/** Pairs of a key and a question that must be refused: bad keys, and a valid key that may not do what is asked. */
const asked = [
  ...Object.values(keys).map((key) => [key, {}]),
  [good, { permissions: "tiles.read" }],
  [good, { apiId: elsewhere.apiId }],
];
const isValid = (verdict) => verdict.valid === true || verdict.code === "VALID";

/** An unknown key, a used-up key, and a key that lacks a permission: they reach their verdicts in different ways. */
const WAYS = [0, 4, 6];
for (const [index, [key, { permissions, apiId }]] of asked.entries()) {
  if (!WAYS.includes(index)) continue;
  const input = {
    key,
    ...(apiId && { apiId }),
    ...(permissions && { authorization: { permissions } }),
  };
  const verify = latchkey.verifier({
    ...(apiId && { apiId }),
    ...(permissions && { permissions }),
  });
  checks[`verifyKey ${index}`] = async () => isValid(await latchkey.verifyKey(input));
  checks[`verifier ${index}`] = async () => isValid(await verify(key, {}));
}
const askedLast = { key: good, authorization: { permissions: "tiles.read" } };
checks["dry run"] = async () => isValid(await latchkey.verifyKey({ ...askedLast, dryRun: true }));
checks.limit = async () =>
  (await latchkey.limit({ namespace: "tiles", identifier: "a", ...limit })).success;
checks["a root key that was revoked"] = async () =>
  (await latchkey.authenticateRootKey(root.key)).kind === "authenticated";

const options = { onError: () => undefined };
/** For each entry, creates a guard from a question: whether a request with a key gets in. */
const entries = {
  decision: (question) => {
    const decide = createDecision(latchkey, options)(question);
    return async (key) => (await decide(presented(key), null)).admitted;
  },
  express: (question) => {
    const guard = createExpressGuard(latchkey, options)(question);
    return async (key) => {
      let isIn = false;
      await guard(nodeRequest(key), nodeResponse(), () => {
        isIn = true;
      });
      return isIn;
    };
  },
  node: (question) => {
    let isIn = false;
    const listener = createNodeGuard(latchkey, options)(question, () => {
      isIn = true;
    });
    return async (key) => {
      isIn = false;
      await listener(nodeRequest(key), nodeResponse());
      return isIn;
    };
  },
  fastify: (question) => {
    const hook = createFastifyGuard(latchkey, options)(question);
    return async (key) => {
      const reply = { sent: false, headers: () => reply, code: () => reply, send: () => reply };
      return (await hook({ raw: nodeRequest(key) }, reply)) !== reply;
    };
  },
  hono: (question) => {
    const guard = createHonoGuard(latchkey, options)(question);
    return async (key) => {
      let isIn = false;
      const context = {
        req: { raw: webRequest(key) },
        env: undefined,
        set() {},
        res: new Response(""),
      };
      await guard(context, async () => {
        isIn = true;
      });
      return isIn;
    };
  },
  fetch: (question) => {
    let isIn = false;
    const GET = createFetchGuard(latchkey, options)(question, () => {
      isIn = true;
      return new Response("");
    });
    return async (key) => {
      isIn = false;
      await GET(webRequest(key)).catch(() => undefined);
      return isIn;
    };
  },
  koa: (question) => {
    const guard = createKoaGuard(latchkey, options)(question);
    return async (key) => {
      let isIn = false;
      const context = { req: nodeRequest(key), res: nodeResponse(), state: {}, set() {} };
      await guard(context, async () => {
        isIn = true;
      });
      return isIn;
    };
  },
  nest: (question) => {
    const guard = createNestGuard(latchkey, options)(question);
    return (key) => {
      const [request, response] = [nodeRequest(key), nodeResponse()];
      const http = { getRequest: () => request, getResponse: () => response };
      const context = { getType: () => "http", switchToHttp: () => http };
      return guard.canActivate(context).catch(() => false);
    };
  },
  elysia: (question) => {
    let isIn = false;
    const app = new Elysia().use(createElysiaGuard(latchkey, options)(question)).get("/", () => {
      isIn = true;
      return "";
    });
    app.compile();
    return async (key) => {
      isIn = false;
      await app.handle(wholeRequest(key));
      return isIn;
    };
  },
  trpc: (question) => {
    const guard = createTrpcGuard(latchkey, options)(question);
    return async (key) => {
      let isIn = false;
      const next = async () => {
        isIn = true;
        return { ok: true };
      };
      await guard({ ctx: { req: webRequest(key) }, next }).catch(() => undefined);
      return isIn;
    };
  },
};

function presented(key) {
  const apiKey = key === null ? [] : [key];
  return { authorization: [], apiKey, forwardedFor: [], remoteAddress: null };
}
function nodeRequest(key) {
  return { rawHeaders: key === null ? [] : ["X-API-Key", key], socket: {} };
}
function nodeResponse() {
  const nothing = () => undefined;
  const writes = {
    setHeader: nothing,
    removeHeader: nothing,
    getHeaderNames: () => [],
    end: nothing,
  };
  return {
    ...writes,
    destroy: nothing,
    headersSent: false,
    writableEnded: false,
    statusCode: 200,
    locals: {},
  };
}
const requests = new Map();
function webRequest(key) {
  // Created before anything is polluted, because this is about the guard.
  if (!requests.has(key))
    requests.set(key, { headers: new Headers(key === null ? {} : { "X-API-Key": key }) });
  return requests.get(key);
}

function wholeRequest(key) {
  return new Request("http://tiles.example/", { headers: webRequest(key).headers });
}

/** All entries translate the same decision: it gets every case, and each entry only a request without a key. */
for (const [entry, guard] of Object.entries(entries)) {
  for (const [index, [key, question]] of asked.entries()) {
    if (entry !== "decision") continue;
    const visit = guard(question);
    webRequest(key);
    checks[`${entry} ${index}`] = () => visit(key);
  }
  const plain = guard({});
  webRequest(null);
  checks[`${entry} without a key`] = () => plain(null);
}
const costs = [{ name: "b", cost: () => 1, limit: 9, duration: "1d" }];
const costly = entries.decision({ cost: () => 1, ratelimits: costs });
const optional = entries.decision({ optional: true });
checks["a key that is used up, at a cost of the request"] = () => costly(keys["used up"]);
checks["an unknown key that is optional"] = () => optional("no-such-key");
checks["a guard that is made meanwhile"] = () => entries.node({ permissions: "tiles.read" })(good);
checks["a guard that is made meanwhile, without a key"] = () => entries.hono({})(null);
checks["the verdict of an unguarded request of Express"] = async () =>
  expressKeyOf(nodeRequest(null)) !== null;
checks["the verdict of an unguarded request of Fastify"] = async () =>
  fastifyKeyOf({ raw: {} }) !== null;

const inCore = (room) => `core/src/${room}`;
await tell(
  checks,
  "guard/src",
  ...[
    "verification",
    "operations/verify-key",
    "operations/rate-limits.ts",
    "operations/root-keys",
  ].map(inCore),
  ...["operations/keys", "rules", "secrets", "lib", "store", "records"].map(inCore),
);
