import type { Change } from "../../../../internal/web/page/types";

/** pageChange is a change as the page gets it: lost blocks stay hidden until podd sends them again. */
export function pageChange(c: Change): Change {
  const lost = c.put.filter((b) => b.state === "lost").map((b) => b.id);
  return { put: c.put.filter((b) => b.state !== "lost"), drop: [...c.drop, ...lost] };
}
