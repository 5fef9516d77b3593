import type { ListModelsResponse } from "../gen/podd/v1/admin";
import type { GetPodResponse, ModelSetting } from "../gen/podd/v1/pod";

/** Choice is a value that a person can choose; an empty one follows podd's configuration. */
export interface Choice {
  label: string;
  description?: string;
  value: string;
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

/** modelChoices are the models that podd's endpoints list. */
export function modelChoices(r: GetPodResponse, listed: ListModelsResponse): Choice[] {
  const now = modelOf(r);
  const own = r.pod?.spec?.model !== "";
  const models = listed.endpoints.flatMap((e) => e.models);
  return [
    { label: "podd's default", description: own ? "" : `now ${now}`, value: "" },
    ...models.map((m) => ({ label: m.name, description: own && m.name === now ? "now" : m.window ? `window ${m.window}` : "", value: m.name })),
  ];
}

/** effortChoices are the efforts that the pod's model is known to take, or the usual ones. */
export function effortChoices(r: GetPodResponse, listed: ListModelsResponse): Choice[] {
  const known = listed.endpoints.flatMap((e) => e.models).find((m) => m.name === modelOf(r))?.effort ?? [];
  const now = setting(r, "effort");
  const mark = (value: string) => (now?.value === value ? `now, from ${now.source}${now.leftOut ? `, left out: ${now.leftOut}` : ""}` : "");
  return [
    { label: "podd's default", value: "" },
    ...(known.length > 0 ? known : ["low", "medium", "high"]).map((value) => ({ label: value, description: mark(value), value })),
  ];
}
