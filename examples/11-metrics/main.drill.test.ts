import { expect, onTestFinished, test } from "vitest";
import { start } from "../testing/start.js";

test("the metrics count verifications, and contain no secret", async () => {
  const server = await start("11-metrics/main.mjs", 2, { PORT: "0", STORE_URL: "memory:" });
  onTestFinished(async () => {
    expect(await server.stop()).toBe(0);
  });
  const [url = "", key = ""] = server.lines;
  for (const presented of [key, key, key, key, "no-such-key"])
    await fetch(url, { headers: { Authorization: `Bearer ${presented}` } });
  const text = await (await fetch(`${url}/metrics`)).text();
  const series = (name: string) =>
    text
      .split("\n")
      .filter((line) => line.startsWith(`${name}{`))
      .map((line) => line.replace(/"api_\w+"/, '"api_…"').replace(/,?otel_scope_[^,}]*/g, ""));
  expect(series("latchkey_verifications_total")).toEqual([
    'latchkey_verifications_total{latchkey_verdict_code="VALID",latchkey_api_id="api_…"} 3',
    'latchkey_verifications_total{latchkey_verdict_code="USAGE_EXCEEDED",latchkey_api_id="api_…"} 1',
    'latchkey_verifications_total{latchkey_verdict_code="NOT_FOUND"} 1',
  ]);
  expect(series("latchkey_store_call_duration_count")).toContain(
    'latchkey_store_call_duration_count{latchkey_store_method="charge"} 4',
  );
  expect(text).not.toContain(key);
});
