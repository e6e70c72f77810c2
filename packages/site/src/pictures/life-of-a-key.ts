import { box, path, svg, text } from "./svg.js";

/** The states of a key as verifications show them, and the transitions between them. */
export function lifeOfAKey(): string {
  const label = (x: number, y: number, content: string, anchor: "start" | "middle" = "middle") =>
    text(x, y, content, { anchor, style: "small", paint: "quiet" });
  return svg(
    "From creation to deletion: a key is valid, or not started, disabled, out of uses or expired",
    760,
    330,
    [
      ...box([20, 130, 110, 48], ["createKey"], "quiet"),
      ...box([190, 30, 150, 48], ["NOT_STARTED", "before startsAt"]),
      ...box([190, 130, 150, 48], ["VALID", "each takes its cost"]),
      ...box([440, 30, 160, 48], ["DISABLED", "enabled: false"]),
      ...box([440, 130, 160, 48], ["USAGE_EXCEEDED", "no uses left"]),
      ...box([190, 240, 150, 48], ["EXPIRED", "past its expiry"], "bad"),
      ...box([620, 240, 120, 48], ["NOT_FOUND", "deleted"], "bad"),
      path(
        [
          [130, 154],
          [190, 154],
        ],
        "strong",
        "end",
      ),
      path(
        [
          [75, 130],
          [75, 54],
          [190, 54],
        ],
        "strong",
        "end",
      ),
      label(84, 46, "with startsAt", "start"),
      path(
        [
          [265, 78],
          [265, 130],
        ],
        "strong",
        "end",
      ),
      label(272, 108, "startsAt is reached", "start"),
      path(
        [
          [340, 140],
          [390, 140],
          [390, 54],
          [440, 54],
        ],
        "strong",
        "both",
      ),
      label(396, 100, "updateKey", "start"),
      path(
        [
          [340, 154],
          [440, 154],
        ],
        "strong",
        "end",
      ),
      label(392, 149, "last use"),
      path(
        [
          [440, 168],
          [340, 168],
        ],
        "strong",
        "end",
      ),
      label(390, 184, "refill"),
      path(
        [
          [265, 178],
          [265, 240],
        ],
        "bad",
        "end",
      ),
      label(272, 206, "expires is reached, unused for too long,", "start"),
      label(272, 222, "or the grace period of a rotation ends", "start"),
      path(
        [
          [340, 264],
          [620, 264],
        ],
        "bad",
        "end",
      ),
      path(
        [
          [680, 54],
          [680, 240],
        ],
        "bad",
        "end",
      ),
      path(
        [
          [600, 54],
          [680, 54],
        ],
        "bad",
      ),
      path(
        [
          [600, 154],
          [680, 154],
        ],
        "bad",
      ),
      label(480, 258, "deleteKey, from any state"),
    ],
  );
}
