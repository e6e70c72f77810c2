// A tour of latchkey on one SQLite file, over real HTTP: `latchkey serve` manages keys, and the tide table server of
// example 02 guards its routes with them. Every row is compared with what it should be.

import { setTimeout as wait } from "node:timers/promises";
import { createLatchkey, openStore } from "latchkey";
import { folder, latchkeyCommand, startManagement, startService } from "./children.mjs";
import { createClient } from "./client.mjs";
import { note, step, summary, table } from "./report.mjs";
import { hour, quietRefillDay, quietWindow } from "./times.mjs";

const store = `sqlite:${folder}/tides.db`;
const window = quietWindow(Date.now());
const minutes = `${window / 60_000} min`;
const forCalls = ["key", "route", "answer", "left"];
const forPages = ["page", "keys", "total", "cursor"];
const forAnything = ["what", "which", "is"];

step("Prepare a SQLite file: a root key, and a role that may read charts");
const rootKey = await latchkeyCommand(["root-key", "--store", store, "--permissions", "*"]);
const library = createLatchkey({ store: openStore(store) });
await library.createPermission({ name: "charts.read" });
await library.createRole({ name: "navigator", permissions: ["charts.read"] });
const root = await library.authenticateRootKey(rootKey);
await library.close();
table(forAnything, [
  row(["root key", `${rootKey.slice(0, 9)}…`, root.kind], root.kind, "authenticated"),
]);

step("Start two processes on it; make an API and a customer over HTTP");
const urls = { management: "", service: "" };
const { post, get, visit } = createClient(urls, rootKey);
let management = await startManagement(store);
urls.management = management.url;
const { apiId } = await post("apis.createApi", { name: "tide-tables" });
const { identityId } = await post("identities.createIdentity", {
  externalId: "harbour-office",
  meta: { plan: "small" },
  ratelimits: [{ name: "charts", limit: 4, duration: window }],
});
let service = await startService(store, apiId);
urls.service = service.url;
const api = await get("apis.getApi", { apiId });
const customer = await get("identities.getIdentity", { externalId: "harbour-office" });
const liveness = (await fetch(`${urls.management}/v1/liveness`)).status;
const anonymous = await visit(null, "/tides/eastness");
table(forAnything, [
  row(["latchkey serve", `pid ${management.pid}`, urls.management], liveness, 200),
  row(["tide tables", `pid ${service.pid}`, urls.service], anonymous.verdict, "401 KEY_MISSING"),
  row(["API", apiId, api.name], api.name, "tide-tables"),
  row(["customer", identityId, `harbour-office, charts: 4 per ${minutes}`], customer.ratelimits, [
    { name: "charts", limit: 4, duration: window },
  ]),
]);

step("Issue keys");
const shared = { externalId: "harbour-office", roles: ["navigator"] };
const refill = { interval: "monthly", amount: 3, refillDay: quietRefillDay(Date.now()) };
const pier = await issue("pier", { ratelimit: { limit: 3, duration: window } });
const kiosk = await issue("kiosk", { remaining: 3, refill });
const ferry = await issue("ferry", { remaining: 10 });
const lighthouse = await issue("lighthouse", shared);
const buoy = await issue("buoy", shared);
const visitorExpires = Date.now() + 5_000;
const visitor = await issue("visitor", { expires: visitorExpires });
const spare = await issue("spare", { expires: Date.now() + hour });
table(
  ["key", "shown from now on", "settings"],
  [
    await shown(pier, `3 calls per ${minutes}`),
    await shown(kiosk, `3 uses, refilled on day ${refill.refillDay} of the month`),
    await shown(ferry, "10 uses"),
    await shown(lighthouse, "of harbour-office, navigator"),
    await shown(buoy, "of harbour-office, navigator"),
    await shown(visitor, "expires in 5 s"),
    await shown(spare, "expires in an hour"),
  ],
);

step("Call the guarded routes until limits and uses refuse");
table(forCalls, [
  await call(pier, "/tides/northmouth", "200 VALID"),
  await call(pier, "/tides/northmouth", "200 VALID"),
  await call(pier, "/tides/eastness", "200 VALID"),
  await call(pier, "/tides/eastness", "429 RATE_LIMITED"),
  await call(kiosk, "/charts/eastness", "403 INSUFFICIENT_PERMISSIONS"),
  await call(kiosk, "/tides/eastness", "200 VALID"),
  await call(kiosk, "/tides/eastness", "200 VALID"),
  await call(kiosk, "/tides/eastness", "200 VALID"),
  await call(kiosk, "/tides/eastness", "429 USAGE_EXCEEDED"),
  await call(lighthouse, "/charts/eastness", "200 VALID"),
  await call(buoy, "/charts/eastness", "200 VALID"),
  await call(lighthouse, "/charts/northmouth", "200 VALID"),
  await call(buoy, "/charts/northmouth", "200 VALID"),
  await call(lighthouse, "/charts/eastness", "429 RATE_LIMITED"),
]);
note("lighthouse and buoy share the limit of their customer; a refusal takes nothing");

step("Fire 25 calls at once at a key with 10 uses");
const answers = await Promise.all(
  Array.from({ length: 25 }, () => visit(ferry.key, "/tides/eastness")),
);
const admitted = answers.filter(({ verdict }) => verdict === "200 VALID").length;
const refused = answers.filter(({ verdict }) => verdict === "429 USAGE_EXCEEDED").length;
table(
  ["answer", "calls"],
  [row(["200 VALID", admitted], admitted, 10), row(["429 USAGE_EXCEEDED", refused], refused, 15)],
);

step("List the keys, three to a page");
const names = ["pier kiosk ferry", "lighthouse buoy visitor", "spare"];
table(forPages, await pages(names));

step("Raise the customer's limit: the next verification sees it");
const raised = [{ name: "charts", limit: 5, duration: window }];
const changed = await post("identities.updateIdentity", {
  externalId: "harbour-office",
  meta: { plan: "large" },
  ratelimits: raised,
});
table(forAnything, [
  row(
    ["customer", identityId, `plan ${changed.meta.plan}, charts: ${changed.ratelimits[0]?.limit}`],
    changed,
    { id: identityId, externalId: "harbour-office", meta: { plan: "large" }, ratelimits: raised },
  ),
]);
table(forCalls, [
  await call(buoy, "/charts/eastness", "200 VALID"),
  await call(buoy, "/charts/eastness", "429 RATE_LIMITED"),
]);

step("Switch a key off in one process: the other refuses it at once");
const on = await call(spare, "/tides/eastness", "200 VALID");
await post("keys.updateKey", { keyId: spare.keyId, enabled: false });
const off = await call(spare, "/tides/eastness", "401 DISABLED");
await post("keys.updateKey", { keyId: spare.keyId, enabled: true });
const onAgain = await call(spare, "/tides/eastness", "200 VALID");
table(forCalls, [on, off, onAgain]);

step("Kill both processes with SIGKILL; start them again on the same file");
const killed = [await management.end("SIGKILL"), await service.end("SIGKILL")];
management = await startManagement(store);
service = await startService(store, apiId);
urls.management = management.url;
urls.service = service.url;
table(forAnything, [
  row(["latchkey serve", `ended by ${killed[0]}`, `pid ${management.pid}`], killed[0], "SIGKILL"),
  row(["tide tables", `ended by ${killed[1]}`, `pid ${service.pid}`], killed[1], "SIGKILL"),
]);

step("Nothing was lost");
const kept = await get("identities.getIdentity", { externalId: "harbour-office" });
table(forAnything, [
  row(["customer", identityId, `plan ${kept.meta.plan}, charts: 5`], kept, changed),
]);
table(forPages, await pages(names));
table(forCalls, [
  await call(pier, "/tides/eastness", "429 RATE_LIMITED"),
  await call(kiosk, "/tides/eastness", "429 USAGE_EXCEEDED"),
  await call(ferry, "/tides/eastness", "429 USAGE_EXCEEDED"),
  await call(buoy, "/charts/eastness", "429 RATE_LIMITED"),
  await call(spare, "/tides/eastness", "200 VALID"),
]);

step("Wait until a key has expired");
await wait(Math.max(0, visitorExpires - Date.now()));
table(forCalls, [await call(visitor, "/tides/eastness", "401 EXPIRED")]);

step("A month from now, by a clock handed to the library: the refill has fallen due");
const ends = [await management.end("SIGTERM"), await service.end("SIGTERM")];
const clock = () => Date.now() + 32 * 24 * hour;
const later = createLatchkey({ store: openStore(store), clock });
const refilled = await later.verifyKey({ key: kiosk.key });
const expired = await later.verifyKey({ key: spare.key });
await later.close();
const usesLeft = refilled.valid ? refilled.remaining : undefined;
table(forAnything, [
  row(["kiosk", refilled.code, `${usesLeft} uses left`], [refilled.code, usesLeft], ["VALID", 2]),
  row(["spare", expired.code, ""], expired.code, "EXPIRED"),
  row(["both servers", "ended by SIGTERM", ends.join(", ")], ends, ["exit code 0", "exit code 0"]),
]);

process.exitCode = summary() ? 0 : 1;

/**
 * A row of a table: the shown cells, the actual value, and the expected one.
 *
 * @param {readonly unknown[]} cells
 * @param {unknown} actual
 * @param {unknown} expected
 */
function row(cells, actual, expected) {
  return { cells, actual, expected };
}

/**
 * Issues a key of the API.
 *
 * @param {string} name
 * @param {object} settings
 * @returns {Promise<{ name: string, keyId: string, key: string }>}
 */
async function issue(name, settings) {
  return { name, ...(await post("keys.createKey", { apiId, name, prefix: "tide", ...settings })) };
}

/**
 * The shown form of an issued key, without its secret.
 *
 * @param {{ name: string, keyId: string, key: string }} key
 * @param {string} settings
 */
async function shown({ name, keyId, key }, settings) {
  const listed = await get("keys.getKey", { keyId });
  const isSecretKept = !JSON.stringify(listed).includes(key);
  return row([name, `${listed.start}…`, settings], [listed.name, isSecretKept], [name, true]);
}

/**
 * Calls a guarded route with a key.
 *
 * @param {{ name: string, key: string }} key
 * @param {string} path
 * @param {string} expected
 */
async function call({ name, key }, path, expected) {
  const { verdict, left } = await visit(key, path);
  return row([name, path, verdict, left], verdict, expected);
}

/**
 * The keys of the API, page by page.
 *
 * @param {readonly string[]} expected
 */
async function pages(expected) {
  const rows = [];
  let cursor = "";
  for (const [index, names] of expected.entries()) {
    const query = { apiId, limit: "3", ...(cursor !== "" && { cursor }) };
    const page = await get("apis.listKeys", query);
    cursor = page.cursor ?? "";
    const listed = page.keys.map((/** @type {{ name: string }} */ { name }) => name).join(" ");
    const hasMore = index + 1 < expected.length;
    rows.push(
      row(
        [index + 1, listed, page.total, cursor === "" ? "none: the last page" : "one more page"],
        { names: listed, total: page.total, hasMore: cursor !== "" },
        { names, total: 7, hasMore },
      ),
    );
  }
  return rows;
}
