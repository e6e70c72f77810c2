// Weather reports that are sent word by word and billed by the word. The cost of a report is known only at its end.

import { createServer } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { createGuard } from "@latchkey/guard/node";
import { createLatchkey, openStore } from "latchkey";

/** Maximum words of a report, which are held while it is sent. */
const MOST_WORDS = 200;
const WORDS = ["rain", "from", "the", "west", "then", "sun", "over", "the", "islands"];

const { STORE_URL = "memory:", PORT = "4100" } = process.env;
const latchkey = createLatchkey({ store: openStore(STORE_URL) });
const guard = createGuard(latchkey);

const report = guard(
  { reserve: { cost: MOST_WORDS, ttl: "5s" } },
  async (request, response, apiKey) => {
    const words = Math.min(MOST_WORDS, Number(request.url?.split("/")[2]) || 0);
    response.writeHead(200, { "Content-Type": "text/plain" });
    let told = 0;
    // A client that disconnects pays for the words sent so far.
    while (told < words && !response.destroyed) {
      response.write(`${WORDS[told % WORDS.length]} `);
      told += 1;
      // A long report is sent slowly.
      await pause(words > 100 ? 100 : 1);
    }
    await apiKey.settle({ cost: told });
    response.end();
  },
);

const server = createServer(report);
server.listen(Number(PORT), "127.0.0.1", () => {
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("not listening on a port");
  console.log(`http://127.0.0.1:${address.port}`);
});

for (const signal of ["SIGTERM", "SIGINT"])
  process.once(signal, () => server.close(() => latchkey.close()));
