import { useState } from "preact/hooks";
import { type ApiError, call, runTask } from "../lib/api.js";
import { useLoad } from "../lib/load.js";
import { useAllowed } from "../lib/permissions.js";
import { figure } from "../lib/words.js";
import { Badge, Failure, PageHead } from "../parts/basics.js";

interface Finding {
  readonly check: string;
  readonly state: "fine" | "wrong" | "mended";
  readonly found: string;
}

const EVERY_MS = 5_000;

/** Whether the store answers, and the findings of a check of all its records. */
export function HealthPage() {
  const allowed = useAllowed();
  const { value, error, reload } = useLoad(
    "readiness",
    async () => {
      const startedAt = performance.now();
      await call("readiness");
      return performance.now() - startedAt;
    },
    EVERY_MS,
  );
  return (
    <>
      <PageHead title="Store" />
      {error !== null && <Failure error={error} retry={reload} />}
      {error === null && (
        <p>
          {value === null ? (
            <Badge tone="plain">checking…</Badge>
          ) : (
            <>
              <Badge tone="good">responds</Badge> in {figure(Math.round(value))} ms (round trip)
            </>
          )}
        </p>
      )}
      {allowed.hasTask("store.examine") && <Examination />}
    </>
  );
}

function Examination() {
  const [findings, setFindings] = useState<readonly Finding[] | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const [isLooking, setIsLooking] = useState(false);
  const look = async () => {
    setIsLooking(true);
    setError(null);
    try {
      setFindings((await runTask<{ findings: Finding[] }>("store.examine")).findings);
    } catch (failure) {
      setError(failure as ApiError);
    } finally {
      setIsLooking(false);
    }
  };
  return (
    <section class="card">
      <h2>Examine the store</h2>
      <p>
        Compares clocks, lists, names and records, and tests the vault key and the pepper. It reads
        every record and changes nothing; “latchkey doctor --fix” repairs what can be repaired.
      </p>
      <button type="button" onClick={look} aria-busy={isLooking}>
        {isLooking ? "Examining…" : "Examine"}
      </button>
      {error !== null && <Failure error={error} />}
      {findings !== null && (
        <ul class="findings" aria-live="polite">
          {findings.map(({ check, state, found }, at) => (
            <li key={at}>
              <Badge tone={state === "fine" ? "good" : "bad"}>{state}</Badge>{" "}
              <strong>{check}</strong> {found}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
