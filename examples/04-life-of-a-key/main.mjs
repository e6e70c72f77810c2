import { createLatchkey, memoryStore } from "latchkey";

const heard = new Set();
const latchkey = createLatchkey({
  store: memoryStore(),
  onEvent: ({ type }) => heard.add(type),
}).actingAs("billing-service");

// Only machines of the harbour may use this API's keys.
const { apiId } = await latchkey.createApi({ name: "tide tables" });
await latchkey.updateApi({ apiId, ipWhitelist: ["192.0.2.0/24"], deleteProtection: true });
const ipAddress = "192.0.2.17";

// Both keys of one customer draw from what the customer has bought.
const externalId = "harbour_7";
await latchkey.createIdentity({ externalId, remaining: 3 });
const [office, pilot] = await Promise.all([
  latchkey.createKey({ apiId, externalId, usesFrom: "identity", name: "office" }),
  latchkey.createKey({ apiId, externalId, usesFrom: "identity", name: "pilot boat" }),
]);
await latchkey.addPermissions({
  keyId: office.keyId,
  permissions: [{ name: "tides.read", create: true }],
});
for (const { key } of [office, pilot]) {
  const verdict = await latchkey.verifyKey({ key, ipAddress });
  if (verdict.valid) console.log(`verified    ${verdict.code}, ${verdict.remaining} left to both`);
}

// A new secret with the same settings and counters; the old one has an hour left.
const rotated = await latchkey.rotateKey({ keyId: office.keyId, graceMs: 3_600_000 });
const { rotatedTo } = await latchkey.getKey({ keyId: office.keyId });
console.log(`rotated     ${rotatedTo === rotated.keyId}`);

// What would be answered, and why, without being charged.
const dry = await latchkey.verifyKey({
  key: rotated.key,
  authorization: { permissions: "tides.write" },
  dryRun: true,
});
const failed = dry.checks.filter(({ passed }) => !passed).map(({ check }) => check);
console.log(`dry run     ${dry.code}: ${failed.join(" and ")} would fail`);

const last = await latchkey.verifyKey({ key: rotated.key, ipAddress });
if (last.valid) console.log(`last use    ${last.code}, ${last.remaining} left to both`);
const spent = await latchkey.verifyKey({ key: pilot.key, ipAddress });
console.log(`spent       ${spent.code}`);

const { verifications } = await latchkey.getVerifications({ externalId });
const valid = verifications.reduce((sum, { success }) => sum + success, 0);
const refused = verifications.reduce((sum, { usageExceeded }) => sum + usageExceeded, 0);
console.log(`counted     ${valid} valid, ${refused} refused`);

const { events } = await latchkey.listAuditEvents({ keyId: office.keyId });
for (const { type, actor, changes } of events) {
  console.log(`logged      ${type} by ${actor}: ${changes.map(({ field }) => field).join(", ")}`);
}
console.log(`heard of    ${heard.size} kinds of events`);

await latchkey.close();
