import { useEffect, useState } from "preact/hooks";
import type { PortalClient, PortalError, PortalKey, PortalUsage } from "../client.js";
import { asPortalError, Failure, useSetting } from "./parts.js";
import { fill } from "./words.js";

const HEIGHT = 96;
const BAR = 10;

/** How often a key was used on each of the last 30 days. */
export function UsageChart({
  client,
  portalKey: { id, name },
}: {
  readonly client: PortalClient;
  readonly portalKey: PortalKey;
}) {
  const { texts, language, onOver } = useSetting();
  const [days, setDays] = useState<readonly PortalUsage[] | null>(null);
  const [error, setError] = useState<PortalError | null>(null);
  const load = async () => {
    setError(null);
    try {
      setDays(await client.usage({ keyId: id, days: 30 }));
    } catch (failure) {
      const known = asPortalError(failure);
      if (known.code === "UNAUTHORIZED") onOver();
      setError(known);
    }
  };
  useEffect(() => void load(), [id]);
  if (error !== null) return <Failure error={error} retry={load} />;
  if (days === null) return <p class="usage soft">{texts.loading} …</p>;
  const counts = days.map((day) => ({ ...day, ...countsOf(day) }));
  const most = Math.max(0, ...counts.map(({ accepted, refused }) => accepted + refused));
  if (most === 0) return <p class="usage soft">{texts.usageNone}</p>;
  const figure = new Intl.NumberFormat(language);
  const dayText = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeZone: "UTC" });
  const y = (count: number) => (count / most) * HEIGHT;
  const total = (what: "accepted" | "refused") =>
    figure.format(counts.reduce((sum, day) => sum + day[what], 0));
  const title = fill(texts.usageTitle, { name: name ?? texts.unnamed });
  return (
    <div class="usage">
      <p class="axis" aria-hidden="true">
        {figure.format(most)}
      </p>
      <svg
        viewBox={`0 0 ${counts.length * BAR} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={title}
      >
        {counts.map(({ time, accepted, refused }, at) => (
          <g key={time}>
            <title>{`${dayText.format(time)}: ${figure.format(accepted)} ${texts.accepted}, ${figure.format(refused)} ${texts.refused}`}</title>
            <rect
              class="accepted"
              x={at * BAR + 1}
              width={BAR - 2}
              y={HEIGHT - y(accepted)}
              height={y(accepted)}
            />
            <rect
              class="refused"
              x={at * BAR + 1}
              width={BAR - 2}
              y={HEIGHT - y(accepted + refused)}
              height={y(refused)}
            />
          </g>
        ))}
      </svg>
      <p class="axis" aria-hidden="true">
        <span>{dayText.format(counts[0]?.time)}</span>
        <span>{dayText.format(counts.at(-1)?.time)}</span>
      </p>
      <p class="legend">
        <span class="accepted">
          {texts.accepted} <strong>{total("accepted")}</strong>
        </span>
        <span class="refused">
          {texts.refused} <strong>{total("refused")}</strong>
        </span>
      </p>
      <details>
        <summary>{texts.usageTable}</summary>
        <table>
          <thead>
            <tr>
              <th scope="col">{texts.day}</th>
              <th scope="col">{texts.accepted}</th>
              <th scope="col">{texts.refused}</th>
            </tr>
          </thead>
          <tbody>
            {counts
              .filter(({ accepted, refused }) => accepted + refused > 0)
              .map(({ time, accepted, refused }) => (
                <tr key={time}>
                  <td>{dayText.format(time)}</td>
                  <td>{figure.format(accepted)}</td>
                  <td>{figure.format(refused)}</td>
                </tr>
              ))}
          </tbody>
        </table>
      </details>
    </div>
  );
}

function countsOf({ success, outcomes }: PortalUsage) {
  const refused = Object.entries(outcomes)
    .filter(([code]) => code !== "VALID" && code !== "SHADOW_LIMITED")
    .reduce((sum, [, count]) => sum + count, 0);
  return { accepted: success, refused };
}
