package config

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"podd/internal/endpoints"
	"podd/internal/extend/extern"
	"podd/internal/guard/keys"
	"podd/internal/guard/policy"
	"podd/internal/shell"
	"podd/pkg/fold"
	"podd/pkg/llm/exchange"
	"podd/pkg/tool"
)

// everyKey calls f with each key, and with each of one table of those that have any number.
func everyKey(path string, keys []key, f func(path string, k key)) {
	for _, k := range keys {
		at := join(path, k.name)
		switch k.kind() {
		case isValue:
			f(at, k)
		case isTable:
			everyKey(at, k.keys(), f)
		case isNamed, isList:
			everyKey(at, k.keysOf(reflect.New(k.value.Type().Elem().Elem()).Elem()), f)
		}
	}
}

// The tags of each key can be read, and those that its type needs are there.
func TestTags(t *testing.T) {
	n := 0
	everyKey("", newDecoder("").keys(), func(path string, k key) {
		n++
		if least, ok := k.tag.Lookup("least"); ok || k.value.Type() == reflect.TypeFor[time.Duration]() {
			if _, err := time.ParseDuration(least); err != nil {
				t.Errorf("%s: %v", path, err)
			}
			return
		}
		if from, to, ok := strings.Cut(k.tag.Get("range"), " "); ok || slices.Contains([]reflect.Kind{reflect.Int, reflect.Int64, reflect.Float64}, k.value.Kind()) {
			for _, bound := range []string{from, to} {
				if _, err := strconv.ParseFloat(bound, 64); err != nil {
					t.Errorf("%s: %v", path, err)
				}
			}
		}
		if is, ok := k.tag.Lookup("is"); ok && formats[is].must == "" {
			t.Errorf("%s: there is no format %q", path, is)
		}
	})
	if n < 140 {
		t.Errorf("%d keys", n)
	}
}

// The words and bounds in tags are those of the packages that use the values.
func TestTagsSayWhatTheirUsersKnow(t *testing.T) {
	join := func(words ...string) string { return strings.Join(words, " ") }
	apis := join(endpoints.APIs()...)
	loops := "0 " + strconv.Itoa(fold.MaxLoopSteps/2)
	strategies := join(string(tool.StrategyHeadTail), string(tool.StrategyHead), string(tool.StrategyTail), string(tool.StrategySummarize))
	want := map[string]string{
		"api": apis, "endpoints.api": apis, "ask": join(policy.Never, policy.Risky, policy.Always), "rule.decision": join(policy.Allow, policy.Ask, policy.Deny),
		"prune.mode":           join(string(fold.ModeEconomic), string(fold.ModeTurns), string(fold.ModeOff)),
		"tool_output.strategy": strategies, "endpoints.key_header": join(keys.Bearer, keys.XAPIKey, keys.APIKey),
		"endpoints.quirks.thinking": join(exchange.ThinkingAdaptive, exchange.ThinkingBudget, exchange.ThinkingNone),
		"interceptor.history":       join(string(extern.HistoryNone), string(extern.HistoryTurn), string(extern.HistoryAll)),
		"limits.loop_times":         loops, "limits.loop_steps": loops, "jobs.max": "1 " + strconv.Itoa(shell.MaxAllJobs),
	}
	everyKey("", newDecoder("").keys(), func(path string, k key) {
		if words, ok := want[path]; ok && k.tag.Get("oneof")+k.tag.Get("range") != words {
			t.Errorf("%s has %q, want %q", path, k.tag.Get("oneof")+k.tag.Get("range"), words)
		}
		delete(want, path)
	})
	if len(want) > 0 {
		t.Errorf("there are no keys %v", want)
	}
}
