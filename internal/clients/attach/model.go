package attach

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"podd/internal/sanitize"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

// byDefault is the argument that returns to podd's setting.
const byDefault = "default"

// offeredModels are the models of podd's endpoints, which complete commands.
type offeredModels struct {
	list []*poddv1.OfferedModel
	// known says that podd has named them, asking that it is being asked, tab that the person
	// waits for it.
	known, asking, tab bool
}

// askModels asks podd for its models if the command in the draft is completed with them, and
// says whether they are still unknown.
func (a *app) askModels() bool {
	name, _, ok := a.prompt.draft.command()
	if !ok || a.models.known || name != "model" && name != "effort" || !strings.Contains(a.prompt.draft.text(), " ") {
		return false
	}
	if a.models.asking {
		return true
	}
	a.models.asking = true
	ask(a.call, a.Client.Admin().ListModels, &poddv1.ListModelsRequest{}, func(resp *poddv1.ListModelsResponse, err error) {
		tab := a.models.tab
		a.models = offeredModels{list: modelsIn(resp), known: err == nil}
		if tab {
			a.told(err)
			words, _ := a.arguments()
			a.completeCommand()
			a.completed(err == nil && len(words) == 1)
		}
	})
	return true
}

// modelsIn are the models of all endpoints.
func modelsIn(resp *poddv1.ListModelsResponse) (list []*poddv1.OfferedModel) {
	for _, e := range resp.GetEndpoints() {
		list = append(list, e.GetModels()...)
	}
	return list
}

// names are the arguments of /model.
func (o *offeredModels) names() (names []string) {
	if !o.known {
		return nil
	}
	for _, m := range o.list {
		names = append(names, m.GetName())
	}
	return append(names, byDefault)
}

// efforts are the arguments of /effort: those that a model is known to take, "" for podd's default.
func (o *offeredModels) efforts(model string) []string {
	known := []string{"minimal", "low", "medium", "high"}
	i := slices.IndexFunc(o.list, func(m *poddv1.OfferedModel) bool {
		return model == "" && m.GetIsDefault() || model != "" && strings.HasSuffix("/"+m.GetName(), "/"+model)
	})
	if i >= 0 && len(o.list[i].GetEffort()) > 0 {
		known = slices.Clone(o.list[i].GetEffort())
	}
	return append(known, byDefault)
}

// update changes fields of the pod and says what happened. podd refuses a model whose endpoint
// lists others.
func (a *app) update(spec *poddv1.PodSpec, field, done string) {
	req := &poddv1.UpdatePodRequest{Pod: a.pod.GetId(), Spec: spec, UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{field}}, KnownModel: field == "model"}
	ask(a.send, a.Client.Pods().UpdatePod, req, func(resp *poddv1.UpdatePodResponse, err error) {
		if item.ReasonOf(err) == "NO_SUCH_MODEL" {
			err = fmt.Errorf("%w; podctl update %s --model %s sets it anyway", err, a.pod.GetName(), spec.GetModel())
		}
		a.told(err)
		if err != nil {
			return
		}
		a.pod = resp.GetPod()
		a.askStatus(true)
		a.log.notice(dim, "· "+done)
		if model := spec.GetModel(); model != "" {
			a.unlisted(model)
		}
		for _, w := range resp.GetWarnings() {
			a.log.notice(yellow, "! "+w)
		}
	})
}

// setting is a value to store, and its name for people: default is podd's own.
func setting(args string) (value, name string) {
	if args == byDefault {
		return "", "podd's default"
	}
	return args, args
}

func (a *app) setModel(args string) {
	if args == "" {
		a.said = "the model is " + sanitize.Line(cmp.Or(a.pod.GetSpec().GetModel(), strings.TrimSuffix("podd's default, "+a.setup.model, ", "))) + "; /model MODEL changes it, Tab lists models"
		return
	}
	value, name := setting(args)
	a.update(&poddv1.PodSpec{Model: value}, "model", "the model is "+name+" from the next turn on")
}

// unlisted says so of a model that podd could not check, because its endpoint lists none.
func (a *app) unlisted(model string) {
	listed := func(m *poddv1.OfferedModel) bool {
		return strings.HasSuffix("/"+m.GetName(), "/"+model) || strings.HasSuffix("/"+m.GetName(), "/"+model+":latest")
	}
	ask(a.call, a.Client.Admin().ListModels, &poddv1.ListModelsRequest{}, func(resp *poddv1.ListModelsResponse, err error) {
		if err == nil && !slices.ContainsFunc(modelsIn(resp), listed) {
			a.log.notice(dim, "· its endpoint does not list it, so podd cannot say whether it has it")
		}
	})
}

func (a *app) setEffort(args string) {
	if args == "" {
		a.said = "the effort is " + sanitize.Line(cmp.Or(a.pod.GetSpec().GetOptions().GetEffort(), "podd's default")) + "; /effort EFFORT changes it, Tab lists efforts"
		return
	}
	value, name := setting(args)
	a.update(&poddv1.PodSpec{Options: &poddv1.Options{Effort: value}}, "options.effort", "the effort is "+name+" from the next turn on")
}
