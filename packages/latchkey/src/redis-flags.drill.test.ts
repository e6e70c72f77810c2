import {
  describeWithRedis,
  REDIS_URL,
  startServer,
  type TestServer,
} from "@latchkey/redis/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCli, startServer as startLatchkey } from "./testing/run-cli.js";
import { runCommand } from "./testing/run-command.js";
import { runInProcess } from "./testing/run-in-process.js";

// The configuration of an external server must not be changed.
describe.skipIf(REDIS_URL !== null)("the command line on a Redis that may lose keys", () => {
  describeWithRedis("of its own", () => {
    let forgetful: TestServer | undefined;
    let evicting: TestServer | undefined;
    beforeAll(async () => {
      forgetful = await startServer({ appendonly: "no" });
      evicting = await startServer({ "maxmemory-policy": "allkeys-lru" });
    });
    afterAll(async () => {
      await forgetful?.remove();
      await evicting?.remove();
    });
    const servers = () => ({
      "--allow-no-persistence": forgetful?.url ?? "",
      "--allow-eviction": evicting?.url ?? "",
    });
    const flags = ["--allow-no-persistence", "--allow-eviction"] as const;

    // Once as a program, which must end by itself, and once within this process, which takes a fraction of the time: only the message
    // depends on the flag.
    test.each([
      ["--allow-no-persistence", runCli],
      ["--allow-eviction", runInProcess],
    ] as const)("every command asks for %s if it is missing", async (flag, run) => {
      const store = ["--store", servers()[flag]];
      const runs = [
        run(["serve", "--port", "0", ...store]),
        run(["root-key", "--permissions", "*", ...store]),
        run(["workspace", "disable", "ws_default", ...store]),
      ];
      for (const { exitCode, stdout, stderr } of await Promise.all(runs)) {
        expect(stderr).toMatch(
          new RegExp(`^latchkey: [^\\n]+ or pass ${flag} to lose keys .*\\n$`),
        );
        expect(stdout).toBe("");
        expect(exitCode).toBe(1);
      }
    });

    test.each(flags)("every command accepts %s", async (flag) => {
      const store = ["--store", servers()[flag], flag];
      const [token = ""] = await runCommand(["root-key", "--permissions", "*", ...store]);
      await runCommand(["workspace", "enable", "ws_default", ...store]);
      const server = await startLatchkey(store);
      const ask = async () => {
        const response = await fetch(`${server.url}/v1/keys.verifyKey`, {
          method: "POST",
          headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` },
          body: JSON.stringify({ key: "unknown" }),
        });
        return response.json();
      };
      // Retried, because a machine that stalls for half a second makes Redis answer too late.
      await expect.poll(ask).toMatchObject({ code: "NOT_FOUND" });
      server.signal("SIGTERM");
      expect(await server.ended).toMatchObject({ exitCode: 0, stderr: "" });
    });
  });
});
