package config

import (
	"cmp"
	"maps"
	"net"
	"slices"
	"strings"

	"podd/internal/guard/keys"
	"podd/internal/guard/policy"
	"podd/internal/workspace/briefing"
	"podd/pkg/fold"
	"podd/pkg/item"
	"podd/pkg/tool"
)

// ownMembers are the members of a request that podd sets, which body cannot.
var ownMembers = []string{"model", "stream", "stream_options", "store", "include", "instructions", "input", "messages", "system", "tools"}

func (e *endpointTable) check() error {
	switch {
	case !isEndpointName(e.name):
		return bad("%s: [%s] has a name that models cannot have before a slash: use 1 to 24 lower-case letters, digits and dashes, and begin with a letter", e.origin, e.path)
	case e.name == item.DefaultEndpoint:
		return bad("%s: [%s] is the endpoint of the top-level keys base_url, api and api_key_file: set those, or choose another name and set endpoint to it", e.origin, e.path)
	}
	if from := e.keyFrom(); len(from) > 1 {
		return bad("%s: [%s] has both %s and %s: keep one", e.at(from[1]), e.path, from[0], from[1])
	}
	for _, name := range slices.Sorted(maps.Keys(e.Body)) {
		if slices.Contains(ownMembers, name) {
			return bad("%s: %s.body cannot set %s, which podd sets itself: leave it out", e.at("body"), e.path, name)
		}
	}
	for name, value := range e.Headers {
		isKey := slices.Contains([]string{"authorization", keys.XAPIKey, keys.APIKey}, strings.ToLower(name))
		switch {
		case !headerName.MatchString(name):
			return bad("%s: %s.headers has %s, which cannot be the name of a header", e.at("headers"), e.path, quote(name))
		case isKey && !strings.Contains(value, "${"):
			return bad("%s: %s.headers has a key in the file: use key_env, key_file or key_command, or write ${NAME} for a variable of podd", e.at("headers"), e.path)
		}
	}
	return nil
}

// keyFrom are the keys of the table that say where its key is.
func (e *endpointTable) keyFrom() (from []string) {
	if e.KeyEnv != "" {
		from = append(from, "key_env")
	}
	if e.KeyFile != "" {
		from = append(from, "key_file")
	}
	if len(e.KeyCommand) > 0 {
		from = append(from, "key_command")
	}
	return from
}

func (p *priceTable) check() error {
	if p.at("cached_input") == "" {
		p.CachedInput = p.Input
	}
	if p.at("cache_write") == "" {
		p.CacheWrite = p.Input
	}
	if p.name == "" {
		return bad("%s: [%s] names no model", p.origin, p.path)
	}
	if p.CachedInput > p.CacheWrite {
		return bad("%s: [%s] has cached input at %v that costs more than writing it to the cache, %v: check cached_input, cache_write and input",
			p.origin, p.path, p.CachedInput, p.CacheWrite)
	}
	if _, err := p.money().Ratios(); err != nil {
		return bad("%s: [%s]: %v", p.origin, p.path, err)
	}
	return nil
}

func (p *priceTable) money() fold.Money {
	return fold.Money{Input: p.Input, CachedInput: p.CachedInput, CacheWrite: p.CacheWrite, Output: p.Output, TTL: p.CacheTTL}
}

func (r *ruleTable) check() error {
	if _, err := policy.New(policy.Risky, []item.Rule{r.rule()}); err != nil {
		return bad("%v", err)
	}
	return nil
}

func (r *ruleTable) rule() item.Rule {
	return item.Rule{Tool: r.Tool, Path: r.Path, Command: r.Command, Host: r.Host, Access: r.Access, Decision: r.Decision, Source: r.origin}
}

func (s *serverTable) check() error {
	if wrong := s.Wrong(); wrong != "" {
		return bad("%s: [%s] %s", s.origin, s.path, wrong)
	}
	return nil
}

// check refuses what single tables can't see.
func (l *loader) check() error {
	if _, err := briefing.Base(l.BaseInstructions); err != nil {
		return bad("%s: %v", l.origins["base_instructions"], err)
	}
	return cmp.Or(l.checkSummarize(), l.checkLoop(), l.checkNode(), l.checkTriggers())
}

// checkSummarize refuses settings without effect: the strategy when no model writes
// summaries, a tool that has none to write, and a table that applies to no tool. An
// explicit "enabled = false" is a switch: then the strategy is head_tail.
func (l *loader) checkSummarize() error {
	strategies := 0
	check := func(table, tooled string, limit tool.Limit) error {
		at := table + ".strategy"
		switch {
		case limit.Strategy != tool.StrategySummarize:
			return nil
		case tool.Pages(tooled):
			return bad("%s: %s must not be \"summarize\": %s fits its answer to its limit by itself", l.origins[at], at, tooled)
		case l.origins["summarize.enabled"] == "":
			return bad("%s: %s is \"summarize\", but summaries are off: set enabled = true in [summarize]", l.origins[at], at)
		}
		strategies++
		return nil
	}
	if err := check("tool_output", "", l.ToolOutput.limit()); err != nil {
		return err
	}
	tools := l.ToolOutput.Tools.limits()
	for _, name := range slices.Sorted(maps.Keys(tools)) {
		if err := check(join("tool_output.tools", name), name, tools[name]); err != nil {
			return err
		}
	}
	if !l.Summarize.Enabled {
		return nil
	}
	if strategies == 0 {
		return bad("%s: summarize.enabled is true, and no tool's strategy is \"summarize\": set strategy in [tool_output] or in [tool_output.tools.NAME]", l.origins["summarize.enabled"])
	}
	limits, err := tool.NewLimits(l.config.ToolOutput)
	for _, name := range l.Summarize.Tools {
		if err == nil && limits.For(name).Strategy != tool.StrategySummarize {
			return bad("%s: summarize.tools has %s, whose strategy is not \"summarize\": set %s.strategy",
				l.origins["summarize.tools"], quote(name), join("tool_output.tools", name))
		}
	}
	return err
}

// checkLoop refuses numbers that no turn, or each, would reach.
func (l *loader) checkLoop() error {
	times, steps := l.Limits.LoopTimes, l.Limits.LoopSteps
	if times == 0 || steps == 0 || times > 1 && times <= steps {
		return nil
	}
	return bad("%s: limits.loop_times is %d and limits.loop_steps is %d: a call counts once a step, so set loop_times from 2 to %[3]d, or to 0 for no limit",
		cmp.Or(l.origins["limits.loop_times"], l.origins["limits.loop_steps"]), times, steps)
}

// checkNode refuses a node without what it needs.
func (l *loader) checkNode() error {
	n, at := l.Node, l.origins["node.listen"]
	switch {
	case n.Listen == "":
		return nil
	case l.Store.URL == "":
		return bad("%s: node.listen needs a database that the nodes share: set store.url", at)
	case n.Name == "":
		return bad("%s: node.listen needs a name for this node: set node.name", at)
	case len(n.TLS) == 0:
		return bad("%s: node.listen needs a certificate for this node: set node.tls", at)
	}
	return nil
}

// checkTriggers refuses webhooks that other machines could read on their way.
func (l *loader) checkTriggers() error {
	t := l.Triggers
	host, _, _ := net.SplitHostPort(t.Listen)
	if ip := net.ParseIP(host); t.Listen == "" || len(t.TLS) > 0 || t.Proxy || ip != nil && ip.IsLoopback() {
		return nil
	}
	return bad("%s: triggers.listen is reachable by other machines: use 127.0.0.1, or set triggers.tls to a certificate and its key, or triggers.proxy = true if a proxy with a certificate passes the requests on",
		l.origins["triggers.listen"])
}
