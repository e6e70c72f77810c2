import {
  type AuditEvent,
  createLatchkey,
  type EventPage,
  type KeyStore,
  type Latchkey,
} from "@latchkey/core";
import { Webhook } from "standardwebhooks";
import { expect, onTestFinished } from "vitest";
import type { WebhookEndpoint, WebhookOptions } from "../options.js";
import { createWebhooksWith, type TestSettings, type Webhooks } from "../webhooks.js";
import type { Received } from "./receiver.js";

/** The test secret with a number. */
export function secretOf(number = 1): string {
  return `whsec_${Buffer.alloc(32, number).toString("base64")}`;
}

/** An endpoint on loopback, for events about keys. */
export function endpointAt(url: string, more: Partial<WebhookEndpoint> = {}): WebhookEndpoint {
  const types = ["key.created", "key.updated", "key.deleted"] as const;
  return { url, types, secret: secretOf(), allow: ["127.0.0.0/8"], ...more };
}

/** A simulated process that sends, with its own handle of the store. */
export interface SendingProcess extends Webhooks {
  readonly latchkey: Latchkey;
  /** Errors that it reported. */
  readonly errors: readonly unknown[];
}

/** Creates a sending process for the current test. It looks for new events every 5 ms. */
export function sendingProcess(
  store: KeyStore,
  options: WebhookOptions,
  { clock = Date.now, ...settings }: TestSettings & { readonly clock?: () => number } = {},
): SendingProcess {
  const errors: unknown[] = [];
  const latchkey = createLatchkey({ store, clock, onError: (error) => errors.push(error) });
  const fast = { leaseMs: 30_000, firstRetryMs: 5, timeoutMs: 5_000 };
  const webhooks = createWebhooksWith(
    latchkey,
    { ...fast, ...options },
    { lookEveryMs: 5, ...settings },
  );
  onTestFinished(() => webhooks.stop());
  return { ...webhooks, latchkey, errors };
}

/** Checks a signature as a receiver does, except the age of the message. */
export function expectSigned({ headers, body }: Received, secret = secretOf()): void {
  const { "webhook-id": id = "", "webhook-timestamp": at = "" } = headers;
  const signed = new Webhook(secret).sign(id, new Date(Number(at) * 1_000), body);
  expect(headers["webhook-signature"]?.split(" ")).toContain(signed);
}

/** Waits until a condition holds. */
export function until(holds: () => unknown): Promise<void> {
  return expect.poll(holds, { timeout: 120_000, interval: 5 }).toBeTruthy();
}

/** All events of a log. */
export async function readAll(latchkey: Latchkey): Promise<readonly AuditEvent[]> {
  const all: AuditEvent[] = [];
  for (let after: string | undefined; ; ) {
    const { events, cursor }: EventPage = await latchkey.readEvents({ after });
    all.push(...events);
    if (cursor === after) return all;
    after = cursor;
  }
}
