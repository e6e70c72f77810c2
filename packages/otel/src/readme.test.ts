import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ATTRIBUTE, METRIC } from "./names.js";

const PAGES = ["../README.md", "../../../docs/observability.md"];

/** Rows of the table of metrics: the name, and its labels. */
function metricsOf(page: string): Record<string, readonly string[]> {
  const text = readFileSync(new URL(page, import.meta.url), "utf8");
  const rows = [
    ...text.matchAll(/^\| `(latchkey\.[\w.]+)` \| (?:counter|histogram, s) \| ([^|]*)\|/gm),
  ];
  return Object.fromEntries(
    rows.map(([, name = "", labels = ""]) => [
      name,
      [...labels.matchAll(/`([^`]+)`/g)].map(([, label = ""]) => label),
    ]),
  );
}

test.each(PAGES)("%s lists every metric, with its labels", (page) => {
  expect(metricsOf(page)).toEqual({
    [METRIC.verifications]: [ATTRIBUTE.code, ATTRIBUTE.apiId],
    [METRIC.shadowLimited]: [ATTRIBUTE.code, ATTRIBUTE.apiId],
    [METRIC.verificationDuration]: [ATTRIBUTE.code, ATTRIBUTE.cacheHit, ATTRIBUTE.leased],
    [METRIC.reservations]: [ATTRIBUTE.reservationEnd],
    [METRIC.operationDuration]: [ATTRIBUTE.operation, ATTRIBUTE.errorType],
    [METRIC.storeDuration]: [ATTRIBUTE.storeMethod, ATTRIBUTE.errorType],
    [METRIC.storeRetries]: [ATTRIBUTE.storeMethod],
  });
});
