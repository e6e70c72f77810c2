import { createLatchkey } from "@latchkey/core";
import { expect, onTestFinished, test } from "vitest";
import { postgresStore } from "./index.js";
import { PATIENT, startServer } from "./testing/postgres-server.js";
import { ask, startStandby, until } from "./testing/standby.js";
import { describeWithServers } from "./testing/where.js";

const WAITING = "FROM pg_stat_activity WHERE wait_event = 'SyncRep'";

describeWithServers("a write that waits for a synchronous standby is cancelled", () => {
  test("a revocation and a charge do not resolve, and a repeat waits again", async () => {
    const primary = await startServer();
    onTestFinished(() => primary.remove());
    const standby = await startStandby(primary, true);
    onTestFinished(() => standby.remove());
    const latchkey = createLatchkey({ store: postgresStore(primary.url, PATIENT), usage: false });
    onTestFinished(() => latchkey.close());
    const { apiId } = await latchkey.createApi({ name: "payments" });
    const { keyId } = await latchkey.createKey({ apiId });
    const { key: leaked } = await latchkey.createKey({ apiId });
    const { key } = await latchkey.createKey({ apiId, remaining: 10 });
    await latchkey.verifyKey({ key });

    // From now on the standby gets nothing: the process that feeds it is stopped.
    const [[sender] = []] = await ask(primary, "SELECT pid FROM pg_stat_replication");
    process.kill(Number(sender), "SIGSTOP");
    const question = { key, requestId: "one" };
    for (const call of [
      () => latchkey.deleteKey({ keyId }),
      () => latchkey.deleteKey({ keyId }),
      () => latchkey.verifyKey(question),
      () => latchkey.verifyKey(question),
      () => latchkey.reportLeaks({ leaks: [{ key: leaked }] }),
      () => latchkey.reportLeaks({ leaks: [{ key: leaked }] }),
    ]) {
      const failure = expect(call()).rejects.toMatchObject({
        code: "STORE_UNAVAILABLE",
        outcome: "unknown",
        message: expect.stringContaining("synchronous standby"),
      });
      await until(primary, `SELECT ${WAITING}`);
      await ask(primary, `SELECT pg_cancel_backend(pid) ${WAITING}`);
      await failure;
    }

    process.kill(Number(sender), "SIGCONT");
    await expect(latchkey.deleteKey({ keyId })).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(await latchkey.verifyKey(question)).toMatchObject({ valid: true, remaining: 8 });
  });
});
