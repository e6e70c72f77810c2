import { createServer } from "node:http";
import { instrument } from "@latchkey/otel";
import { PrometheusExporter } from "@opentelemetry/exporter-prometheus";
import { MeterProvider } from "@opentelemetry/sdk-metrics";
import { createLatchkey, openStore } from "latchkey";

const { STORE_URL = "memory:", PORT = "4111" } = process.env;

// Prometheus fetches the metrics from this server, next to its other routes.
const exporter = new PrometheusExporter({ preventServerStart: true });
const meterProvider = new MeterProvider({ readers: [exporter] });
const latchkey = instrument(createLatchkey, { meterProvider })({ store: openStore(STORE_URL) });

// A key to try it with. In production, issue keys elsewhere: from an admin page or the command line.
const { apiId } = await latchkey.createApi({ name: "map tiles" });
const { key } = await latchkey.createKey({ apiId, remaining: 3 });

const server = createServer(async (req, res) => {
  // In production, use a separate port or a guard, because the numbers of customers are confidential.
  if (req.url === "/metrics") return exporter.getMetricsRequestHandler(req, res);
  const presented = req.headers.authorization?.replace(/^Bearer /, "") ?? "";
  const { valid } = await latchkey.verifyKey({ key: presented });
  res.writeHead(valid ? 200 : 401).end();
});
server.listen(Number(PORT), "127.0.0.1", () => {
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("not listening on a port");
  console.log(`http://127.0.0.1:${address.port}`);
  console.log(key);
});

for (const signal of ["SIGTERM", "SIGINT"])
  process.once(signal, () => server.close(() => latchkey.close()));
