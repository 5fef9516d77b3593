package main

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"podd/pkg/item"
)

// specFlags are the flags of a command that creates or changes a pod.
type specFlags struct {
	dir, model, instructions, ask string
	base                          string
	network                       string
	plan                          bool
	options                       optionFlags
	read, write, tools            []string
	steps, subPods                int
	time                          time.Duration
	tokens, budgetTokens          tokenCount
	cost, budget                  dollars
}

// register adds the flags. A field without a flag follows podd's configuration.
func (f *specFlags) register(cmd *cobra.Command, dir string) {
	flags := cmd.Flags()
	flags.StringVar(&f.dir, "dir", dir, "workspace directory")
	flags.StringVar(&f.model, "model", "", "model, or ENDPOINT/MODEL (default: podd's)")
	f.options.register(cmd)
	flags.StringVar(&f.instructions, "instructions", "", "file with instructions for the pod (default: podd's)")
	flags.StringVar(&f.base, "base-instructions", "", "builtin, none, or a file that podd sends before the instructions (default: podd's)")
	flags.StringArrayVar(&f.read, "read", nil, "another directory that file tools may read; repeatable")
	flags.StringArrayVar(&f.write, "write", nil, "another directory that file tools may read and write; repeatable")
	flags.StringVar(&f.ask, "ask", "", "which tool calls need approval: never, risky or always (default: podd's)")
	network := []string{item.NetworkOn, item.NetworkOff, ""}
	flags.Var(word{&f.network, "on|off", "write on or off, or '' for podd's setting", network}, "network", "whether commands reach the network without approval: on or off (default: podd's)")
	flags.BoolVar(&f.plan, "plan", false, "let turns read and plan, and change nothing, unless submit says --plan=false")
	flags.StringSliceVar(&f.tools, "tools", nil, "tools that the pod may use, such as read_file,search (default: all)")
	flags.IntVar(&f.subPods, "sub-pods", 0, "number of sub-pods that may run at once (default: none)")
	flags.IntVar(&f.steps, "max-steps", 0, "model requests per turn (default: podd's)")
	flags.DurationVar(&f.time, "max-time", 0, "working time per turn, such as 30m (default: podd's)")
	flags.Var(&f.tokens, "max-tokens", "tokens per turn, in and out, such as 200k (default: podd's)")
	flags.Var(&f.cost, "max-cost", "cost per turn in USD, by podd's prices (default: podd's)")
	flags.Var(&f.budget, "budget", "total cost of all turns in USD, by podd's prices (default: no limit)")
	flags.Var(&f.budgetTokens, "budget-tokens", "total tokens of all turns, such as 5M (default: no limit)")
	completeWith(cmd, "ask", "never", "risky", "always")
	completeWith(cmd, "network", network[:2]...)
	for _, name := range []string{"max-steps", "max-time", "max-tokens", "max-cost", "budget", "budget-tokens", "tools", "sub-pods"} {
		completeWith(cmd, name)
	}
	for _, name := range []string{"dir", "read", "write"} {
		mustRegister(cmd.MarkFlagDirname(name))
	}
}

// specFields are the flags that change a spec, in the order in which they are taken, and
// the field of podd.v1.PodSpec that each one changes.
var specFields = []struct{ flag, field string }{
	{"dir", "dir"},
	{"model", "model"},
	{"effort", "options.effort"},
	{"verbosity", "options.verbosity"},
	{"temperature", "options.temperature"},
	{"max-output", "options.max_output"},
	{"service-tier", "options.service_tier"},
	{"cache-ttl", "options.cache_ttl"},
	{"instructions", "instructions"},
	{"base-instructions", "base_instructions"},
	{"read", "read"},
	{"write", "write"},
	{"ask", "ask"},
	{"network", "network"},
	{"plan", "plan"},
	{"tools", "tools"},
	{"sub-pods", "sub_pods"},
	{"max-steps", "limits.max_steps"},
	{"max-time", "limits.max_turn_time"},
	{"max-tokens", "limits.max_tokens"},
	{"max-cost", "limits.max_cost"},
	{"budget", "limits.total_cost"},
	{"budget-tokens", "limits.total_tokens"},
}

// apply sets the fields whose flags were given, and returns them. Paths become absolute;
// podd checks that they exist. An empty value restores the default.
func (f *specFlags) apply(p *program, cmd *cobra.Command, spec *item.PodSpec) (fields []string, err error) {
	set := map[string]func() error{
		"dir":               func() error { return p.at.directory(f.dir, &spec.Dir) },
		"model":             func() error { spec.Model = f.model; return nil },
		"effort":            func() error { spec.Options.Effort = f.options.effort; return nil },
		"verbosity":         func() error { spec.Options.Verbosity = f.options.verbosity; return nil },
		"temperature":       func() error { spec.Options.Temperature = f.options.temperature; return nil },
		"max-output":        func() error { spec.Options.MaxOutput = int64(f.options.output); return nil },
		"service-tier":      func() error { spec.Options.ServiceTier = f.options.tier; return nil },
		"cache-ttl":         func() error { spec.Options.CacheTTL = f.options.ttl; return nil },
		"instructions":      func() error { return readInstructions(f.instructions, &spec.Instructions) },
		"base-instructions": func() error { return p.at.baseInstructions(f.base, &spec.BaseInstructions) },
		"read":              func() error { return p.at.directories(f.read, &spec.Read) },
		"write":             func() error { return p.at.directories(f.write, &spec.Write) },
		"ask":               func() error { spec.Ask = f.ask; return nil },
		"network":           func() error { spec.Network = f.network; return nil },
		"plan":              func() error { spec.Plan = f.plan; return nil },
		"tools":             func() error { spec.Tools = f.tools; return nil },
		"sub-pods":          func() error { return whole(f.subPods, "sub-pods", &spec.SubPods) },
		"max-steps":         func() error { return whole(f.steps, "max-steps", &spec.Limits.MaxSteps) },
		"max-tokens":        func() error { spec.Limits.MaxTokens = int64(f.tokens); return nil },
		"budget-tokens":     func() error { spec.Limits.TotalTokens = int64(f.budgetTokens); return nil },
		"max-cost":          func() error { spec.Limits.MaxCost = float64(f.cost); return nil },
		"budget":            func() error { spec.Limits.TotalCost = float64(f.budget); return nil },
		"max-time": func() error {
			if f.time < 0 {
				return usagef("--max-time %s: use a positive duration such as 30m, or 0 for podd's default", f.time)
			}
			spec.Limits.MaxTurnTime = f.time
			return nil
		},
	}
	for _, f := range specFields {
		if cmd.Flags().Changed(f.flag) {
			if err := set[f.flag](); err != nil {
				return nil, err
			}
			fields = append(fields, f.field)
		}
	}
	return fields, nil
}

// whole takes a flag's number.
func whole(n int, flag string, to *int) error {
	if n < 0 || n > math.MaxInt32 {
		return usagef("--%s %d: use a number from 0 to %d", flag, n, math.MaxInt32)
	}
	*to = n
	return nil
}

func readInstructions(path string, to *string) error {
	if path == "" {
		*to = ""
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return usagef("cannot read the instructions: %w", err)
	}
	*to = string(text)
	return nil
}

// tokenCount is a flag's number of tokens: 1500, 200k, 5M.
type tokenCount int64

// Set takes the flag's value.
func (c *tokenCount) Set(value string) error {
	digits, unit := value, int64(1)
	for suffix, factor := range map[string]int64{"k": 1_000, "K": 1_000, "m": 1_000_000, "M": 1_000_000} {
		if rest, ok := strings.CutSuffix(value, suffix); ok {
			digits, unit = rest, factor
		}
	}
	if value == "" {
		digits = "0"
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/unit {
		return fmt.Errorf("%q is not a number of tokens: write it as 1500, 200k or 5M", value)
	}
	*c = tokenCount(n * unit)
	return nil
}

// String is the flag's value.
func (c *tokenCount) String() string { return strconv.FormatInt(int64(*c), 10) }

// Type names the value in the help.
func (c *tokenCount) Type() string { return "N" }

// dollars is a flag's amount of money: 2, 0.50, $3.
type dollars float64

// Set takes the flag's value.
func (d *dollars) Set(value string) error {
	amount := strings.TrimPrefix(value, "$")
	if value == "" {
		amount = "0"
	}
	usd, err := strconv.ParseFloat(amount, 64)
	if err != nil || math.IsNaN(usd) || usd < 0 || usd > maxDollars {
		return fmt.Errorf("%q is not an amount in USD: write it as 2 or 0.50", value)
	}
	*d = dollars(usd)
	return nil
}

// maxDollars is more than any plausible budget.
const maxDollars = 1e9

// String is the flag's value.
func (d *dollars) String() string { return strconv.FormatFloat(float64(*d), 'f', -1, 64) }

// Type names the value in the help.
func (d *dollars) Type() string { return "USD" }

// optionFlags are the flags that shape the answers of a model.
type optionFlags struct {
	effort, verbosity, temperature, tier, ttl string
	output                                    tokenCount
}

func (f *optionFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.effort, "effort", "", "how much the model reasons, such as low or high (default: podd's)")
	flags.StringVar(&f.verbosity, "verbosity", "", "how long it answers: low, medium or high (default: podd's)")
	flags.StringVar(&f.temperature, "temperature", "", "temperature from 0 to 2 (default: podd's)")
	flags.Var(&f.output, "max-output", "tokens of one answer, such as 8k (default: podd's)")
	flags.StringVar(&f.tier, "service-tier", "", "the endpoint's class of service, such as flex (default: podd's)")
	flags.StringVar(&f.ttl, "cache-ttl", "", "how long an endpoint with cache marks keeps them: 5m or 1h (default: podd's)")
	completeEffort(cmd)
	completeWith(cmd, "cache-ttl", "5m", "1h")
	completeWith(cmd, "verbosity", "low", "medium", "high")
	for _, name := range []string{"temperature", "max-output", "service-tier"} {
		completeWith(cmd, name)
	}
}

func completeEffort(cmd *cobra.Command) {
	completeWith(cmd, "effort", "minimal", "low", "medium", "high")
}
