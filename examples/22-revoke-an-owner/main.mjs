import { createLatchkey, memoryStore } from "latchkey";

const latchkey = createLatchkey({ store: memoryStore() }).actingAs("support");
const { apiId: mapsId } = await latchkey.createApi({ name: "maps" });
const { apiId: tidesId } = await latchkey.createApi({ name: "tides" });

// Two customers, each with keys in both APIs.
const owners = ["user_1", "user_2"];
const created = owners.flatMap((externalId) =>
  [mapsId, tidesId].map((apiId) => latchkey.createKey({ apiId, externalId })),
);
const secrets = (await Promise.all(created)).map(({ key }) => key);
const codes = () =>
  Promise.all(secrets.map(async (key) => (await latchkey.verifyKey({ key })).code));

// The laptop of the first one is lost. Which keys are that?
for await (const key of latchkey.keysOf({ externalId: "user_1" }))
  console.log(`found       ${key.start}… in ${key.apiId === mapsId ? "maps" : "tides"}`);

// All of them stop at once; it may be a false alarm.
const { disabledKeys } = await latchkey.disableKeys({ externalId: "user_1" });
console.log(`disabled    ${disabledKeys}: ${(await codes()).join(" ")}`);

// It was no false alarm.
const { deletedKeys } = await latchkey.deleteKeys({ externalId: "user_1" });
console.log(`deleted     ${deletedKeys}: ${(await codes()).join(" ")}`);

// And the customer wants to be forgotten.
const { erasedEvents } = await latchkey.eraseIdentity({ externalId: "user_1" });
const { events } = await latchkey.listAuditEvents({ limit: 100 });
const isNamed = JSON.stringify(events).includes("user_1");
console.log(`erased      ${erasedEvents > 0}, still named in the audit log: ${isNamed}`);
