package daemon

import (
	"fmt"
	"maps"
	"slices"

	"podd/internal/config"
	"podd/internal/guard/policy"
	"podd/internal/version"
	"podd/internal/workspace/skills"
	"podd/pkg/fold"
	"podd/pkg/llm"
	"podd/pkg/llm/openai"
	"podd/pkg/pod"
	"podd/pkg/scopefs"
	"podd/pkg/tool"
	"podd/pkg/tool/builtin"
	"podd/pkg/worker"
	"podd/pkg/workspace"
)

// settings are what pods take of the configuration next, at the start and when it is
// reloaded, and connect its model, if need be, before being nil or what held so far.
// Nothing else of the daemon is changed.
func (d *Daemon) settings(next, before *loaded) (s pod.Settings, err error) {
	c := next.Config
	if err := checkSettings(c); err != nil {
		return s, err
	}
	prices, err := modelPrices(c.Prices)
	if err != nil {
		return s, err
	}
	interceptors, hooks, err := d.extensions(c)
	if err != nil {
		return s, err
	}
	if err := d.connect(next, before); err != nil {
		return s, err
	}
	next.prices = prices
	var model llm.Model = next.client
	if d.recorder != nil {
		model, hooks = d.recorder.Model(model), append(hooks, d.recorder)
	}
	if d.tracer != nil {
		hooks = append(hooks, d.tracer)
	}
	return pod.Settings{
		Model:          model,
		ModelName:      c.Model,
		Fallbacks:      c.FallbackModels,
		Instructions:   c.Instructions,
		FileRefRole:    c.FileRefs.Role,
		MaxInbox:       c.Limits.MaxInbox,
		MaxSubmitBytes: c.Limits.MaxSubmitBytes,
		Prune:          pruneRule(c.Prune),
		Prices:         prices,
		Summarize: worker.Summarize{
			Enabled: c.Summarize.Enabled, Model: c.Summarize.Model, Tools: c.Summarize.Tools,
			MaxInputBytes: c.Summarize.MaxInputBytes, TriggerBytes: c.Summarize.TriggerBytes,
		},
		Compaction: worker.Compaction{
			Trigger: c.Compaction.Trigger, KeepTokens: c.Compaction.KeepTokens, Model: c.Compaction.Model,
			ReadBackBytes: c.Compaction.ReadBackBytes,
		},
		Limits:       turnLimits(c.Limits),
		Interceptors: interceptors,
		Hooks:        hooks,
	}, nil
}

// workspaceSettings are what workspaces take of the configuration next.
func (d *Daemon) workspaceSettings(c config.Config) (s workspace.Settings, err error) {
	c.ToolOutput.Redactor = d.secrets
	s = workspace.Settings{
		FileRefs: scopefs.RefLimits{MaxBytes: c.FileRefs.MaxBytes, DirEntries: c.FileRefs.DirEntries},
		Search:   searchBounds(c.Tools.Search),
		Tree:     builtin.Tree{Depth: c.Tools.RepoStructure.Depth, MaxEntries: c.Tools.RepoStructure.MaxEntries},
		ListDir:  builtin.Listing{MaxEntries: c.Tools.ListDir.MaxEntries},
		Glob:     builtin.Listing{MaxEntries: c.Tools.Glob.MaxEntries},
		Ask:      c.Ask,
		Rules:    c.Rules,
	}
	s.ToolOutput, err = tool.NewLimits(c.ToolOutput)
	return s, err
}

// connect makes the client of a model's endpoint. One of the same endpoint and key is
// kept, with its connections.
func (d *Daemon) connect(next, before *loaded) (err error) {
	if before != nil && before.BaseURL == next.BaseURL && before.API == next.API && before.APIKey == next.APIKey {
		next.client = before.client
		return nil
	}
	next.client, err = openai.New(openai.Config{
		BaseURL: next.BaseURL, APIKey: string(next.APIKey), API: next.API, UserAgent: "podd/" + version.String(), Logger: d.Logger,
	})
	return err
}

// checkSettings refuses limits of tools that there are not, and rules that can match no
// call.
func checkSettings(s config.Config) error {
	names := append(builtin.Names(), skills.ToolName, pod.SpawnTool)
	if err := s.CheckTools(names); err != nil {
		return err
	}
	rules, err := policy.New(s.Ask, s.Rules)
	if err != nil {
		return err
	}
	var tools []policy.Tool
	for _, name := range names {
		tools = append(tools, policy.Tool{Name: name, Paths: name != "shell" && name != "todo" && name != skills.ToolName, Commands: name == "shell"})
	}
	// What MCP servers call their tools is not known yet.
	return rules.CheckTools(append(tools, policy.Tool{Name: config.MCPPrefix, Family: true}))
}

func pruneRule(p config.Prune) fold.Config {
	return fold.Config{
		Mode:     fold.Mode(p.Mode),
		Turns:    fold.TurnsConfig{Protected: p.ProtectedTurns, MinSavings: p.MinSavings},
		Economic: fold.EconomicConfig{MinGain: float64(p.MinGain)},
	}
}

func turnLimits(l config.Limits) worker.Limits {
	return worker.Limits{
		MaxSteps: l.MaxSteps, MaxToolCalls: l.MaxToolCalls, MaxTime: l.MaxTurnTime, MaxParallel: l.MaxParallelCalls,
		MaxTokens: l.MaxTokens, MaxCost: l.MaxCost,
	}
}

// searchBounds says that no context is none, and not the default.
func searchBounds(s config.Search) builtin.Search {
	if s.Context == 0 {
		s.Context = -1
	}
	return builtin.Search{MaxMatches: s.MaxMatches, Context: s.Context, MaxLineBytes: s.MaxLineBytes}
}

// modelPrices are configured prices as ratios, and in money.
func modelPrices(configured map[string]config.Price) ([]fold.ModelPrice, error) {
	var prices []fold.ModelPrice
	for _, model := range slices.Sorted(maps.Keys(configured)) {
		p := configured[model]
		money := fold.Money{Input: p.Input, CachedInput: p.CachedInput, CacheWrite: p.CacheWrite, Output: p.Output, TTL: p.CacheTTL}
		ratios, err := money.Ratios()
		if err != nil {
			return nil, fmt.Errorf("prices of %s: %w", model, err)
		}
		prices = append(prices, fold.ModelPrice{Model: model, Price: ratios, Money: money})
	}
	return prices, nil
}
