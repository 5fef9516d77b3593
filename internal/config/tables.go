package config

import (
	"slices"
	"time"

	"podd/internal/extend/extern"
	"podd/internal/extend/mcp"
	"podd/internal/guard/policy"
	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/tool"
)

// tool begins [tool_output.tools.NAME].
func (l *loader) tool(t *table) {
	limit, c := &tool.Limit{}, &l.Config
	t.keys = limitSettings(limit)
	for i, sample := range []string{"32768", "1000", `"tail"`} {
		t.keys[i].quiet = true
		t.keys[i].like(sample, "shell")
	}
	switch t.name {
	case "search":
		t.keys = append(t.keys,
			number("max_matches", &c.Search.MaxMatches, 1, manyTimes),
			number("context", &c.Search.Context, 0, 1000),
			number("max_line_bytes", &c.Search.MaxLineBytes, 40, 1<<20))
	case "repo_structure":
		t.keys = append(t.keys,
			number("depth", &c.Tree.Depth, 1, 200),
			number("max_entries", &c.Tree.MaxEntries, 1, manyEntries))
	case "list_dir":
		t.keys = append(t.keys, number("max_entries", &c.ListDir.MaxEntries, 1, manyEntries))
	case "glob":
		t.keys = append(t.keys, number("max_entries", &c.Glob.MaxEntries, 1, manyEntries))
	}
	t.check = func() error {
		if *limit != (tool.Limit{}) {
			l.ToolOutput.Tools[t.name] = *limit
		}
		return nil
	}
}

// The bounds of a price in USD for a million tokens.
const (
	leastPrice = 0.000_001
	mostPrice  = 1_000_000
)

// price begins [prices.MODEL].
func (l *loader) price(t *table) {
	m := &fold.Money{TTL: fold.DefaultPrice().TTL}
	cached := decimal("cached_input", &m.CachedInput, 0, mostPrice).hinting("input").like("0.125")
	write := decimal("cache_write", &m.CacheWrite, leastPrice, mostPrice).hinting("input").like("1.25")
	t.keys = []*setting{
		decimal("input", &m.Input, leastPrice, mostPrice).needed().like("1.25"),
		cached, write,
		decimal("output", &m.Output, 0, mostPrice).needed().like("10"),
		duration("cache_ttl", &m.TTL, time.Second),
	}
	t.check = func() error {
		if cached.origin == "" {
			m.CachedInput = m.Input
		}
		if write.origin == "" {
			m.CacheWrite = m.Input
		}
		if t.name == "" {
			return bad("%s: [%s] names no model", t.origin, t.path)
		}
		if m.CachedInput > m.CacheWrite {
			return bad("%s: [%s] has cached input at %v that costs more than writing it to the cache, %v: check cached_input, cache_write and input",
				t.origin, t.path, m.CachedInput, m.CacheWrite)
		}
		ratios, err := m.Ratios()
		if err != nil {
			return bad("%s: [%s]: %v", t.origin, t.path, err)
		}
		l.Pods.Models.Prices = append(l.Pods.Models.Prices, fold.ModelPrice{Model: t.name, Price: ratios, Money: *m})
		return nil
	}
}

// rule begins [[rule]].
func (l *loader) rule(t *table) {
	r := &item.Rule{Source: t.origin}
	t.keys = []*setting{
		name("tool", &r.Tool).like(`"shell"`, "1"),
		prose("path", &r.Path).like(`"infra/**"`, "2"),
		prose("command", &r.Command).like(`"git push **"`, "1"),
		prose("host", &r.Host).like(`"*.go.dev"`, "1"),
		texts("access", `a list of "sandbox", "network" and "host"`, &r.Access, func(level item.Access) bool {
			return slices.Contains(item.Accesses(), level)
		}).like(`["sandbox", "network"]`, "1"),
		choice("decision", &r.Decision, policy.Allow, policy.Ask, policy.Deny).needed().like(`"ask"`),
	}
	t.check = func() error {
		if _, err := policy.New(policy.Risky, []item.Rule{*r}); err != nil {
			return bad("%v", err)
		}
		l.Rules = append(l.Rules, *r)
		return nil
	}
}

// interceptor begins [[interceptor]].
func (l *loader) interceptor(t *table) {
	e := &Extension{Command: extern.Command{Timeout: extern.DefaultInterceptorTimeout, History: extern.HistoryNone}, Origin: t.origin}
	l.extension(t, &l.Interceptors, e, `["before_tool"]`,
		choice("on_failure", &e.OnFailure, "allow", "deny").hinting(`"deny" for before_tool, else "allow"`).like(`"deny"`),
		choice("history", &e.History, extern.HistoryNone, extern.HistoryTurn, extern.HistoryAll))
}

// hook begins [[hook]].
func (l *loader) hook(t *table) {
	e := &Extension{Command: extern.Command{Timeout: extern.DefaultHookTimeout}, Origin: t.origin}
	l.extension(t, &l.Hooks, e, `["alert"]`)
}

// extension begins the next extension of all.
func (l *loader) extension(t *table, all *[]Extension, e *Extension, on string, more ...*setting) {
	t.keys = slices.Concat([]*setting{
		name("name", &e.Name).needed().like(`"example"`),
		names("on", &e.On).needed().like(on),
		command("command", &e.Argv).needed().like(`["/usr/bin/true"]`),
		duration("timeout", &e.Timeout, 100*time.Millisecond),
	}, more, []*setting{variables("env", &e.Env)})
	t.check = func() error {
		if slices.ContainsFunc(*all, func(other Extension) bool { return other.Name == e.Name }) {
			return bad("%s: there are two %s named %s: name them differently", t.origin, label(t.path), quote(e.Name))
		}
		*all = append(*all, *e)
		return nil
	}
}

// server begins [mcp.servers.NAME].
func (l *loader) server(t *table) {
	server := mcp.NewServer(t.name, t.origin)
	s := &server
	t.keys = []*setting{
		prose("command", &s.Command).like(`"npx"`, "files"),
		texts("args", `a list of strings, such as ["-y", "a package"]`, &s.Args, anything).like(`["-y", "@modelcontextprotocol/server-filesystem", "."]`, "files"),
		variables("env", &s.Env).orTable().like(`["HTTPS_PROXY"]`, "files"),
		variables("env_files", &s.EnvFiles).orTable().like(`["TOKEN=/run/keys/token"]`, "files"),
		prose("cwd", &s.Cwd).hinting("the workspace").like(`"/srv"`, "files"),
		endpoint("url", &s.URL, mcp.IsEndpoint).like(`"https://example.com/mcp"`, "web"),
		headers("headers", &s.Headers).like(`{ X-Team = "blue" }`, "web"),
		prose("token_file", &s.TokenFile).like(`"/run/keys/web"`, "web"),
		prose("client_id", &s.ClientID),
		prose("client_secret_file", &s.ClientSecretFile),
		names("tools", &s.Tools).hinting("all"),
		duration("start_timeout", &s.StartTimeout, time.Second),
		duration("timeout", &s.Timeout, time.Second),
	}
	t.check = func() error {
		if wrong := s.Wrong(); wrong != "" {
			return bad("%s: [%s] %s", t.origin, t.path, wrong)
		}
		l.MCP = append(l.MCP, *s)
		return nil
	}
}

func anything(string) bool { return true }

// checkSummarize refuses settings without effect: the strategy when no model writes
// summaries, a tool that has none to write, and a table that applies to no tool. An
// explicit "enabled = false" is a switch: then the strategy is head_tail.
func (l *loader) checkSummarize() error {
	s, enabled := l.Pods.Summarize, l.summarizing
	strategies := 0
	check := func(at, origin, tooled string) error {
		strategies++
		switch {
		case tool.Pages(tooled):
			return bad("%s: %s must not be \"summarize\": %s fits its answer to its limit by itself", origin, at, tooled)
		case enabled.origin == "":
			return bad("%s: %s is \"summarize\", but summaries are off: set enabled = true in [summarize]", origin, at)
		}
		return nil
	}
	if l.ToolOutput.Default.Strategy == tool.StrategySummarize {
		if err := check("tool_output.strategy", l.origin("tool_output", "strategy"), ""); err != nil {
			return err
		}
	}
	for _, t := range l.tools.tables {
		if l.ToolOutput.Tools[t.name].Strategy == tool.StrategySummarize {
			if err := check(t.path+".strategy", t.key("strategy").origin, t.name); err != nil {
				return err
			}
		}
	}
	if !s.Enabled {
		return nil
	}
	if strategies == 0 {
		return bad("%s: summarize.enabled is true, and no tool's strategy is \"summarize\": set strategy in [tool_output] or in [tool_output.tools.NAME]", enabled.origin)
	}
	limits, err := tool.NewLimits(l.ToolOutput)
	for _, name := range s.Tools {
		if err == nil && limits.For(name).Strategy != tool.StrategySummarize {
			return bad("%s: summarize.tools has %s, whose strategy is not \"summarize\": set %s.strategy",
				l.origin("summarize", "tools"), quote(name), join("tool_output.tools", name))
		}
	}
	return err
}
