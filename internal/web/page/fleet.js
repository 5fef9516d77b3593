// What the page knows of a pod, in words.

import { ago, lasts, percent, plural, short, tail, usd } from "./format.js";

/** @import { WatchedPod } from "./types.d.ts" */

/** The kinds of pods, who waits for a person first. */
export const groups = /** @type {const} */ (["Waits for you", "Stopped", "Waiting", "Working", "Idle"]);

/** need is the index in groups. @param {WatchedPod} p */
export function need(p) {
  if (p.approvals) return 0;
  if (failed(p)) return 1;
  switch (p.pod.state) {
    case "POD_STATE_PAUSED":
    case "POD_STATE_INTERRUPTED":
    case "POD_STATE_QUARANTINED":
      return 1;
    case "POD_STATE_WAITING":
      return 2;
    case "POD_STATE_IDLE":
      return 4;
  }
  return 3;
}

/** sorted are pods in the order of the fleet. @param {Iterable<WatchedPod>} pods */
export function sorted(pods) {
  return [...pods].sort((a, b) => need(a) - need(b) || (a.pod.name < b.pod.name ? -1 : 1));
}

/** failed is what a person should look at in an idle pod: its last turn, or its check. @param {WatchedPod} p */
function failed({ pod }) {
  if (pod.state !== "POD_STATE_IDLE") return "";
  return { OUTCOME_FAILED: "failed", OUTCOME_LIMIT: "limit" }[pod.lastOutcome ?? ""] ?? (pod.checkFailed ? "failed" : "");
}

/** state is a pod's state as one word. @param {WatchedPod} p */
export function state(p) {
  return p.approvals ? "asks" : failed(p) || (p.pod.state ?? "").replace("POD_STATE_", "").toLowerCase() || "unknown";
}

/** marks are what else a person should know of a pod: that no call waits for it, and how many letters no turn has taken. @param {WatchedPod} p */
function marks({ pod }) {
  const background = pod.spec?.parent && !pod.spec.parentCall;
  return [background && "in the background", pod.letters && plural(pod.letters, "letter")].filter(Boolean).join(" · ");
}

/** doing is what a pod does or waits for, in one line. @param {WatchedPod} p */
export function doing(p) {
  return [does(p), marks(p)].filter(Boolean).join(" · ");
}

/** @param {WatchedPod} p */
function does(p) {
  const { pod, work } = p;
  if (p.approvals) return waits(p.approvals - (p.pod.questions ?? 0), p.pod.questions ?? 0);
  switch (need(p)) {
    case 3: {
      const tools = work?.tools ?? [];
      if (tools.length > 0) return `runs ${tools.join(", ")}`;
      return work?.tokensPerSecond ? `writes, ${work.tokensPerSecond} tokens/s` : "waits for the model";
    }
    case 4:
      if (pod.jobs) return plural(pod.jobs, "background job");
      return `last active ${ago(pod.lastActivity) || "never"}`;
  }
  return pod.stateReason ?? "";
}

/** waits says what a pod waits for. @param {number} approvals @param {number} questions */
function waits(approvals, questions) {
  if (questions === 0) return approvals === 1 ? "asks for your approval" : `asks for ${approvals} approvals`;
  return `asks ${plural(questions, "question")}${approvals > 0 ? ` and for ${plural(approvals, "approval")}` : ""}`;
}

/** elapsed is how long the running turn has lasted. @param {WatchedPod} p */
export function elapsed(p) {
  return p.work?.turnBegan ? lasts((Date.now() - Date.parse(p.work.turnBegan)) / 1000) : "";
}

/** today is what a pod cost today; a plus says that it lacks requests without a price. @param {WatchedPod} p */
export function today(p) {
  const unpriced = Number(p.work?.dayUnpricedRequests ?? 0) > 0;
  const cost = p.work?.dayCostUsd ?? 0;
  return cost ? `${usd(cost)}${unpriced ? "+" : ""}` : "";
}

/** fill is how full a pod's context is: its share, and the words for it. @param {WatchedPod} p */
export function fill(p) {
  const tokens = Number(p.work?.contextTokens ?? 0);
  const window = Number(p.work?.window ?? 0);
  if (!tokens) return undefined;
  if (!window) return { share: 0, text: `${short(tokens)} tokens`, brief: short(tokens) };
  return { share: Math.min(1, tokens / window), text: `${percent(tokens, window)} of ${short(window)} tokens`, brief: percent(tokens, window) };
}

/** place is where a pod works: its directory, or the repository and branch of its checkout. @param {WatchedPod} p */
export function place(p) {
  const { dir, checkout } = p.pod.spec ?? {};
  return checkout ? `${tail(checkout.source)} (${checkout.branch})` : tail(dir);
}
