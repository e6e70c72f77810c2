// A process that sends events until it is killed. Its arguments are the store and the URL of the receiver.

import { createWebhooks } from "@latchkey/webhooks";
import { createLatchkey, openStore } from "latchkey";

const { STORE = "", URL = "", SECRET = "" } = process.env;

const webhooks = createWebhooks(createLatchkey({ store: openStore(STORE) }), {
  endpoints: [
    {
      url: URL,
      types: ["key.created", "key.updated", "key.deleted"],
      secret: SECRET,
      allow: ["127.0.0.0/8"],
    },
  ],
  leaseMs: 500,
});
await webhooks.start();
console.log("sending");
