// Loads guard.mjs twice, as a development server does after a change, with the store open in between.
import { readdirSync, readlinkSync } from "node:fs";

/** @param {number} version @returns {Promise<typeof import("./guard.mjs")>} */
const load = (version) => import(`./guard.mjs?version=${version}`);

const first = await load(1);
const { apiId } = await first.latchkey.createApi({ name: "map tiles" });
const { key } = await first.latchkey.createKey({ apiId });
const filesBefore = openFiles();
const second = await load(2);
console.log(`the same latchkey: ${first.latchkey === second.latchkey}`);

const statuses = [first, second].map(async ({ guard }) => {
  const GET = guard({ apiId }, () => new Response("a tile"));
  const headers = { Authorization: `Bearer ${key}` };
  return (await GET(new Request("http://localhost/tiles", { headers }))).status;
});
console.log((await Promise.all(statuses)).join(" "));
console.log(`open once: ${openFiles() === filesBefore}`);
await second.latchkey.close();

/** Number of open database files of this process, if the system reports it. */
function openFiles() {
  try {
    return readdirSync("/proc/self/fd").filter((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`).endsWith("keys.db");
      } catch {
        return false;
      }
    }).length;
  } catch {
    return 1;
  }
}
