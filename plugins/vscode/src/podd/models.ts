import type { GetPodResponse, ListModelsResponse, ModelSetting } from "podd";


/** Choice is a value that a person can choose; an empty one follows podd's configuration. */
export interface Choice {
  label: string;
  description?: string;
  value: string;
  /** Whether the pod has it now. */
  now?: boolean;
}

/** setting is what a pod asks its model with, by name. */
export function setting(r: GetPodResponse, name: string): ModelSetting | undefined {
  return r.modelSettings.find((m) => m.name === name);
}

/** modelOf is the model that a pod asks, as podd lists it. */
export function modelOf(r: GetPodResponse): string {
  const at = setting(r, "endpoint")?.value;
  const model = setting(r, "model")?.value ?? "";
  return at ? `${at}/${model}` : model;
}

/** modelChoices are the models that podd's endpoints list, and the one that the pod has. */
export function modelChoices(r: GetPodResponse, listed: ListModelsResponse): Choice[] {
  const now = modelOf(r);
  const own = r.pod?.spec?.model !== "";
  const models: { name: string; window: number }[] = listed.endpoints.flatMap((e) => e.models);
  if (own && !models.some((m) => m.name === now)) models.push({ name: now, window: 0 });
  return [
    { label: "podd's default", description: own ? "" : `now ${now}`, value: "", now: !own },
    ...models.map((m) => {
      const chosen = own && m.name === now;
      return { label: m.name, description: chosen ? "now" : m.window ? `window ${m.window}` : "", value: m.name, now: chosen };
    }),
  ];
}

/** effortChoices are the efforts that the pod's model is known to take, or the usual ones, and the one that it has. */
export function effortChoices(r: GetPodResponse, listed: ListModelsResponse): Choice[] {
  const known = listed.endpoints.flatMap((e) => e.models).find((m) => m.name === modelOf(r))?.effort ?? [];
  const now = setting(r, "effort");
  const mark = (value: string) => (now?.value === value ? `now, from ${now.source}${now.leftOut ? `, left out: ${now.leftOut}` : ""}` : "");
  const usual = known.length > 0 ? known : ["low", "medium", "high"];
  const all = now?.value && !usual.includes(now.value) ? [...usual, now.value] : usual;
  return [{ label: "podd's default", value: "", now: !now?.value }, ...all.map((value) => ({ label: value, description: mark(value), value, now: value === now?.value }))];
}
