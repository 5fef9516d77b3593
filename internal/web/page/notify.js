// Notifications of the browser, while the page is open.

import { live } from "./live.js";

const key = "podd.notify";

/** enabled says whether the person wants them on this device. */
export const enabled = () => "Notification" in globalThis && Notification.permission === "granted" && localStorage.getItem(key) === "on";

/** turnOn asks the browser. */
export async function turnOn() {
  if ((await Notification.requestPermission()) === "granted") localStorage.setItem(key, "on");
  live.awake = enabled();
}

/** start notifies of new questions and alerts when nobody looks at the page. */
export function start() {
  live.awake = enabled();
  live.hear((alert, approval) => {
    if (!enabled() || document.visibilityState === "visible") return;
    if (alert && (alert.level === "ALERT_LEVEL_INFO" || alert.reason === "APPROVAL_WAITS")) return;
    const name = alert ? (live.pods.get(alert.pod ?? "")?.pod.name ?? "podd") : (approval?.podName ?? "podd");
    try {
      const n = new Notification(name, { body: alert?.text ?? approval?.question ?? "", tag: alert ? `alert ${alert.seq}` : `ask ${approval?.pod} ${approval?.callSeq}` });
      n.onclick = () => {
        focus();
        location.hash = approval ? `#/ask/${name}/${approval.callSeq}` : "#/alerts";
        n.close();
      };
    } catch {
      // Android's browsers have notifications only for service workers.
    }
  });
}
