package config

import (
	"fmt"
	"strings"

	"podd/internal/guard/policy"
	"podd/pkg/item"
)

// ruleList is the key of the list of rules.
const ruleList = "rule"

func isRuleList(key []string) bool { return len(key) == 1 && key[0] == ruleList }

// ruleSettings are the keys of a rule.
func ruleSettings(r *item.Rule) []setting {
	return []setting{
		name(ruleList+".tool", &r.Tool),
		prose(ruleList+".path", &r.Path),
		prose(ruleList+".command", &r.Command),
		choice(ruleList+".decision", &r.Decision, policy.Allow, policy.Ask, policy.Deny),
	}
}

// assignRules says what is wrong with an assignment to the list itself; empty when
// it was carried out.
func (l *loader) assignRules(value any, where string) string {
	if _, ok := value.(element); ok {
		l.rules = append(l.rules, &item.Rule{Source: where})
		return ""
	}
	if list, ok := value.([]any); ok && len(list) == 0 {
		return ""
	}
	return fmt.Sprintf("%s must be a list of tables, with [[%[1]s]] on a line before each; it is %s", ruleList, describe(value))
}

// inRule is the rule that a key belongs to, the last; false when the key is no
// rule's.
func (l *loader) inRule(key []string) (*item.Rule, bool) {
	if len(key) < 2 || key[0] != ruleList || len(l.rules) == 0 {
		return nil, false
	}
	return l.rules[len(l.rules)-1], true
}

// finishRules refuses rules that are wrong in themselves.
func (l *loader) finishRules() error {
	for i, r := range l.rules {
		if r.Decision == "" {
			return bad("%s: the [[%s]] has no decision: set decision = \"allow\", \"ask\" or \"deny\"", r.Source, ruleList)
		}
		l.config.Rules = append(l.config.Rules, *r)
		l.config.values = append(l.config.values, Value{Key: fmt.Sprintf("%s[%d]", ruleList, i+1), Value: showRule(r), Origin: r.Source})
	}
	if _, err := policy.New(l.config.Ask, l.config.Rules); err != nil {
		return bad("%v", err)
	}
	return nil
}

// showRule is a rule in TOML's notation, as far as it is set.
func showRule(r *item.Rule) string {
	var parts []string
	for _, s := range ruleSettings(r) {
		if value := s.show(); value != `""` {
			parts = append(parts, strings.TrimPrefix(s.key, ruleList+".")+" = "+value)
		}
	}
	return "{ " + strings.Join(parts, ", ") + " }"
}
