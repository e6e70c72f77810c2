import { useAllowed } from "../lib/permissions.js";
import { linkTo } from "../lib/router.js";

/** The id of an owner in the operator's own system, with a link to its page if the operator may see that. */
export function OwnerName({
  id,
  externalId,
  isCut = false,
}: {
  readonly id: string;
  readonly externalId: string;
  /** Whether it is cut if it is longer than its cell. */
  readonly isCut?: boolean;
}) {
  const mayRead = useAllowed().can("identity", "read_identity", id);
  const look = { class: isCut ? "cut above" : undefined, title: isCut ? externalId : undefined };
  if (!mayRead) return <span {...look}>{externalId}</span>;
  return (
    <a {...look} href={linkTo(["identities", id])}>
      {externalId}
    </a>
  );
}
