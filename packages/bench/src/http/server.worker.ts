import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createLatchkey } from "@latchkey/core";
import { createHandler, toNodeListener } from "@latchkey/http";
import { memoryStore } from "@latchkey/memory";
import { KeyIssuer, mintSecrets } from "../fixture/keys.js";
import { GUARDED } from "../questions.js";
import { memoryLimit } from "../sides/limit-memory.js";
import { handWrittenListener } from "./hand-written.js";

/** Port of a server, and the token and secrets that it accepts. */
export interface Listening {
  readonly port: number;
  readonly token: string;
  readonly secrets: readonly string[];
}

// A server in its own process. Arguments: `hand-written` or `latchkey`, and the number of keys.
const [side = "", keyCount = "0"] = process.argv.slice(2);
const latchkey = createLatchkey({ store: memoryStore() });
const secrets = await mintSecrets(Number(keyCount));
const rows = await new KeyIssuer(latchkey, GUARDED.keys).issue(secrets);
const { key: token } = await latchkey.createRootKey({ permissions: ["api.*.verify_key"] });
const listener =
  side === "latchkey"
    ? toNodeListener(createHandler({ latchkey }))
    : handWrittenListener(memoryLimit(rows, GUARDED), token);
const server = createServer(listener);
server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  process.send?.({ port, token, secrets } satisfies Listening);
});
process.on("disconnect", () => process.exit(0));
