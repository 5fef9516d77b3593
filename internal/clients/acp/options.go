package acp

import (
	"context"
	"slices"
	"time"

	"github.com/coder/acp-go-sdk"

	"podd/internal/sanitize"
	"podd/pkg/item"
	"podd/pkg/wire"
	poddv1 "podd/proto/podd/v1"
)

// The options of a session.
const (
	optionMode   = "mode"
	optionModel  = "model"
	optionEffort = "effort"
)

// followed is the value of an option that follows podd's configuration.
const followed = "default"

// listPatience is how long an editor waits for the lists of models.
const listPatience = 3 * time.Second

// options are what a person can choose for a session: the mode, the model, the effort. A
// list of models that does not come in time is left out.
func (s *session) options(ctx context.Context) []acp.SessionConfigOption {
	got, err := s.Client.Pods().GetPod(ctx, &poddv1.GetPodRequest{Pod: s.pod, ModelSettings: true})
	if err != nil {
		return nil
	}
	listCtx, cancel := context.WithTimeout(ctx, listPatience)
	defer cancel()
	listed, _ := s.Client.Admin().ListModels(listCtx, &poddv1.ListModelsRequest{})
	spec, now := got.GetPod().GetSpec(), make(map[string]string)
	for _, m := range got.GetModelSettings() {
		now[m.GetName()] = m.GetValue()
	}
	model := now["endpoint"] + "/" + now["model"]
	if now["endpoint"] == "" { // The endpoint is gone.
		model = now["model"]
	}
	mode := string(currentMode(spec))
	if plan := s.plans(); plan != nil && *plan {
		mode = planMode
	}
	var offers []choice
	for _, m := range modes(got.GetPod()).AvailableModes {
		offers = append(offers, choice{string(m.Id), m.Name, *m.Description})
	}
	chosen, efforts := followed, []string{"low", "medium", "high"}
	names := []choice{{value: followed, name: "podd's default"}}
	if spec.GetModel() == "" {
		names[0].name += " (" + model + ")"
	} else {
		chosen = model
	}
	for _, e := range listed.GetEndpoints() {
		for _, m := range e.GetModels() {
			names = append(names, choice{value: m.GetName(), name: m.GetName()})
			if m.GetName() == model && len(m.GetEffort()) > 0 {
				efforts = m.GetEffort()
			}
		}
	}
	levels := []choice{{value: followed, name: "podd's default"}}
	level := followed
	if own := spec.GetOptions().GetEffort(); own != "" {
		level = own
	} else if now["effort"] != "" {
		levels[0].name += " (" + now["effort"] + ")"
	}
	for _, effort := range efforts {
		levels = append(levels, choice{value: effort, name: effort})
	}
	return []acp.SessionConfigOption{
		selector(optionMode, "Mode", acp.SessionConfigOptionCategoryMode, mode, offers),
		selector(optionModel, "Model", acp.SessionConfigOptionCategoryModel, chosen, names),
		selector(optionEffort, "Effort", acp.SessionConfigOptionCategoryThoughtLevel, level, levels),
	}
}

// choice is a value of an option.
type choice struct{ value, name, description string }

// selector is an option with its current value, which is offered too.
func selector(id, name string, category acp.SessionConfigOptionCategory, now string, offers []choice) acp.SessionConfigOption {
	if !slices.ContainsFunc(offers, func(c choice) bool { return c.value == now }) {
		offers = append(offers, choice{value: now, name: now})
	}
	var list acp.SessionConfigSelectOptionsUngrouped
	for _, c := range offers {
		o := acp.SessionConfigSelectOption{Value: acp.SessionConfigValueId(c.value), Name: sanitize.Line(c.name)}
		if c.description != "" {
			o.Description = acp.Ptr(c.description)
		}
		list = append(list, o)
	}
	o := acp.NewSessionConfigOptionSelect(acp.SessionConfigValueId(now), acp.SessionConfigSelectOptions{Ungrouped: &list})
	o.Select.Id, o.Select.Name, o.Select.Category = acp.SessionConfigId(id), name, acp.Ptr(category)
	return o
}

// setOption changes an option: the model and the effort of the pod, for all of its clients.
func (a *agent) setOption(ctx context.Context, p acp.SetSessionConfigOptionRequest) (acp.SetSessionConfigOptionResponse, error) {
	var none acp.SetSessionConfigOptionResponse
	set := p.ValueId
	if set == nil {
		return none, item.Errorf(item.KindInvalid, "OPTION", "the options of a session have values from a list: send the id of a value")
	}
	s, err := a.session(set.SessionId)
	if err != nil {
		return none, err
	}
	value := valid(string(set.Value))
	if value == followed && set.ConfigId != optionMode {
		value = ""
	}
	switch set.ConfigId {
	case optionMode:
		err = s.choose(ctx, value)
	case optionModel:
		err = s.update(ctx, &poddv1.PodSpec{Model: value}, "model")
	case optionEffort:
		err = s.update(ctx, &poddv1.PodSpec{Options: &poddv1.Options{Effort: value}}, "options.effort")
	default:
		err = item.Errorf(item.KindInvalid, "OPTION", "%q is not an option: use %s, %s or %s", set.ConfigId, optionMode, optionModel, optionEffort)
	}
	if err != nil {
		return none, err
	}
	return acp.SetSessionConfigOptionResponse{ConfigOptions: s.options(ctx)}, nil
}

// update changes fields of the pod's spec, and shows what podd warns about.
func (s *session) update(ctx context.Context, spec *poddv1.PodSpec, fields ...string) error {
	resp, err := s.Client.Pods().UpdatePod(ctx, &poddv1.UpdatePodRequest{
		Pod: s.pod, Spec: spec, UpdateMask: wire.Fields(fields...),
	})
	for _, text := range resp.GetWarnings() {
		s.notice(text)
	}
	return err
}

// offer tells the editor the options again after another client changed them.
func (s *session) offer() {
	if options := s.options(s.ctx); options != nil {
		s.tell(acp.SessionUpdate{ConfigOptionUpdate: &acp.SessionConfigOptionUpdate{ConfigOptions: options}})
	}
}
