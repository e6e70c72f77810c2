import { createLatchkey, openStore } from "latchkey";
import { createApp } from "./app.mjs";

const { STORE_URL = "memory:", PORT = "4110" } = process.env;
const latchkey = createLatchkey({ store: openStore(STORE_URL) });

const server = createApp(latchkey).listen(Number(PORT), "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${PORT}/tiles/7`);
});

for (const signal of ["SIGTERM", "SIGINT"])
  process.once(signal, () => server.close(() => latchkey.close()));
