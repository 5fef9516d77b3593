package config

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"podd/internal/extend/extern"
	"podd/pkg/catalog"
	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/llm"
	"podd/pkg/pod"
	"podd/pkg/scopefs"
	"podd/pkg/tool"
	"podd/pkg/worker"
)

// fill gives the values of the file to the types that use them.
func (l *loader) fill() error {
	c := &l.config
	l.derive()
	c.Pods = l.pods()
	c.Endpoint, c.API, c.BaseURL, c.APIKey, c.APIKeyFile = l.file.Endpoint, l.file.API, l.file.BaseURL, l.file.APIKey, l.file.APIKeyFile
	c.Options, c.MaxCostPerDay = item.Options(l.Options), l.Limits.MaxCostPerDay
	c.Workspaces = l.workspaces()
	out := l.ToolOutput
	c.ToolOutput = tool.LimitsConfig{Default: out.limit(), Tools: out.Tools.limits(), MaxResultBytes: out.MaxRequestResultBytes}
	c.Spool = Spool{SpoolBytes: out.SpoolBytes, SpoolAge: out.SpoolAge}
	c.Sandbox, c.ShellEnv = l.Sandbox.Config, l.Sandbox.Env
	c.Jobs, c.Retention, c.Snapshots, c.Store, c.Node, c.Triggers = l.Jobs, l.Retention, l.Snapshots, l.Store, l.Node, l.Triggers
	for _, t := range l.Interceptor {
		e := t.extension(t.table, t.Env)
		e.OnFailure, e.History = t.OnFailure, t.History
		c.Interceptors = append(c.Interceptors, e)
	}
	for _, t := range l.Hook {
		c.Hooks = append(c.Hooks, t.extension(t.table, t.Env))
	}
	for _, t := range l.Reconcile {
		c.Reconcilers = append(c.Reconcilers, extensionKeys{Name: t.Tool, Command: t.Command, Timeout: t.Timeout}.extension(t.table, t.Env))
	}
	c.ClaudeHooks = l.file.Hooks.Claude
	for _, name := range slices.Sorted(maps.Keys(l.MCP.Servers)) {
		c.MCP = append(c.MCP, l.MCP.Servers[name].Server)
	}
	return cmp.Or(twice("[[interceptor]]", c.Interceptors), twice("[[hook]]", c.Hooks), twice("[[reconcile]]", c.Reconcilers))
}

// derive sets the defaults that depend on other keys.
func (d *decoder) derive() {
	if d.origins["file_refs.max_bytes"] == "" {
		// A reference is cut where a read of the file would be, unless that exceeds the limit
		// of a reference.
		d.FileRefs.MaxBytes = min(d.ToolOutput.MaxBytes, 4<<20)
	}
}

func (l *loader) pods() pod.Settings {
	limits, prune := l.Limits, l.Prune
	within, _ := resumeWithin(l.Resume)
	s := pod.Settings{
		Instructions: l.Instructions,
		ResumeWithin: within,
		QuestionTime: l.Questions.Expire,
		Limits: worker.Limits{
			MaxSteps: limits.MaxSteps, MaxToolCalls: limits.MaxToolCalls, MaxTime: limits.MaxTurnTime, MaxParallel: limits.MaxParallelCalls,
			MaxTokens: limits.MaxTokens, MaxCost: limits.MaxCost, LoopTimes: limits.LoopTimes, LoopSteps: limits.LoopSteps,
		},
		MaxInbox: limits.MaxInbox, MaxSubmitBytes: limits.MaxSubmitBytes,
		Prune: fold.Config{
			Mode:  prune.Mode,
			Turns: fold.TurnsConfig{Protected: prune.ProtectedTurns, MinSavings: prune.MinSavings}, Economic: fold.EconomicConfig{MinGain: float64(prune.MinGain)},
		},
		Summarize: worker.Summarize{
			Enabled: l.Summarize.Enabled, Tools: l.Summarize.Tools, MaxInputBytes: l.Summarize.MaxInputBytes, TriggerBytes: l.Summarize.TriggerBytes,
		},
		Compaction:  worker.Compaction{Trigger: l.Compaction.Trigger, KeepTokens: l.Compaction.KeepTokens, ReadBackBytes: l.Compaction.ReadBackBytes},
		FileRefRole: l.FileRefs.Role,
	}
	if limits.LoopTimes == 0 || limits.LoopSteps == 0 {
		s.Limits.LoopTimes = -1 // Off, and not the default.
	}
	s.Models.Images, s.Models.Own = l.Images, make(map[item.ModelRef]catalog.Facts)
	for _, name := range slices.Sorted(maps.Keys(l.Prices)) {
		money := l.Prices[name].money()
		ratios, _ := money.Ratios() // The table's check has seen its error.
		s.Models.Prices = append(s.Models.Prices, fold.ModelPrice{Model: name, Price: ratios, Money: money})
	}
	return s
}

func (l *loader) workspaces() Workspaces {
	t := l.ToolOutput.Tools
	w := Workspaces{
		FileRefs: scopefs.RefLimits{MaxBytes: l.FileRefs.MaxBytes, DirEntries: l.FileRefs.DirEntries},
		Search:   t.Search.Search, Tree: t.RepoStructure.Tree, ListDir: t.ListDir.Listing, Glob: t.Glob.Listing,
		Ask: l.Ask, Rules: l.rules(), BaseInstructions: l.BaseInstructions,
	}
	if w.Search.Context == 0 {
		w.Search.Context = -1 // No context lines, as opposed to the default.
	}
	return w
}

func (f *file) rules() (rules []item.Rule) {
	for _, t := range f.Rule {
		rules = append(rules, t.rule())
	}
	return rules
}

// limits are those of the tools that have any, by their names.
func (t toolTables) limits() map[string]tool.Limit {
	limits := map[string]tool.Limit{
		"search": t.Search.limit(), "repo_structure": t.RepoStructure.limit(), "list_dir": t.ListDir.limit(), "glob": t.Glob.limit(),
	}
	for name, other := range t.Others {
		limits[name] = other.limit()
	}
	maps.DeleteFunc(limits, func(_ string, l tool.Limit) bool { return l == tool.Limit{} })
	return limits
}

func (e extensionKeys) extension(t table, env []string) Extension {
	return Extension{Command: extern.Command{Name: e.Name, On: e.On, Argv: e.Command, Timeout: e.Timeout, Env: env}, Origin: t.origin}
}

// twice refuses two extensions of one name.
func twice(label string, all []Extension) error {
	for i, e := range all {
		if slices.ContainsFunc(all[:i], func(other Extension) bool { return other.Name == e.Name }) {
			if label == "[[reconcile]]" {
				return bad("%s: there are two [[reconcile]] of the tool %s: keep one", e.Origin, quote(e.Name))
			}
			return bad("%s: there are two %s named %s: keep one, or name them differently", e.Origin, label, quote(e.Name))
		}
	}
	return nil
}

// findModels finds the endpoints of the models that the file names.
func (l *loader) findModels() error {
	c := &l.config
	known := &llm.Router{Default: c.Endpoint, Endpoints: make(map[string]llm.Endpoint)}
	for _, e := range c.AllEndpoints() {
		known.Endpoints[e.Name] = llm.Endpoint{NoVendors: e.NoVendors()}
		if isLocal(e.BaseURL) {
			c.Pods.Models.Local = append(c.Pods.Models.Local, e.Name)
		}
	}
	if _, ok := known.Endpoints[c.Endpoint]; !ok {
		return bad("%s: there is no endpoint %s: the endpoints are %s; add [endpoints.%s]", l.origins["endpoint"], quote(c.Endpoint), strings.Join(known.Names(), ", "), c.Endpoint)
	}
	var wrong error
	find := func(path, origin, name string) item.ModelRef {
		ref, err := known.Find(name)
		if err != nil && wrong == nil {
			wrong = bad("%s: %s: %v", cmp.Or(origin, "default"), path, err)
		}
		return ref
	}
	c.Pods.Model = find("model", l.origins["model"], l.Model)
	for _, name := range l.FallbackModels {
		c.Pods.Fallbacks = append(c.Pods.Fallbacks, find("fallback_models", l.origins["fallback_models"], name))
	}
	c.Pods.Summarize.Model = find("summarize.model", l.origins["summarize.model"], l.Summarize.Model)
	c.Pods.Compaction.Model = find("compaction.model", l.origins["compaction.model"], l.Compaction.Model)
	for _, name := range slices.Sorted(maps.Keys(l.Models)) {
		t := l.Models[name]
		m := ModelOptions{
			Model: known.Full(find(t.path, t.origin, name)), Options: item.Options(t.optionKeys),
			Facts: catalog.Facts{Window: t.Window, Effort: t.Efforts, Images: t.Images},
		}
		c.ModelOptions = append(c.ModelOptions, m)
		m.Facts.Output = int(m.MaxOutput)
		c.Pods.Models.Own[m.Model] = m.Facts
	}
	return wrong
}
