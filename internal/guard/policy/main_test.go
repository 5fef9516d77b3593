package policy_test

import (
	"testing"

	"go.uber.org/goleak"

	"podd/internal/guard/policy"
	"podd/pkg/item"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func allow(command string) item.Rule {
	return item.Rule{Tool: "shell", Command: command, Decision: policy.Allow}
}

func ask(command string) item.Rule {
	return item.Rule{Tool: "shell", Command: command, Decision: policy.Ask}
}

func deny(command string) item.Rule {
	return item.Rule{Tool: "shell", Command: command, Decision: policy.Deny}
}

func shell(line string) policy.Call { return policy.Call{Tool: "shell", Command: line} }

func confined(line string) policy.Call {
	return policy.Call{Tool: "shell", Command: line, Confined: true}
}

func with(t testing.TB, mode string, rules ...item.Rule) *policy.Policy {
	t.Helper()
	p, err := policy.New(mode, rules)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
