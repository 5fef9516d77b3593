package main

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"podd/pkg/item"
)

// specOptions are the flags of a verb that creates or changes a pod. Most are fields of its spec.
type specOptions struct {
	spec item.PodSpec
	// fields are the fields of podd.v1.PodSpec that flags set.
	fields                  []string
	dir, instructions, base string
	read, write             []string
}

// register adds the flags. A field without a flag follows podd's configuration.
func (o *specOptions) register(p *program, cmd *cobra.Command, dir string) {
	f, spec, limits := cmd.Flags(), &o.spec, &o.spec.Limits
	f.StringVar(&o.dir, "dir", dir, "workspace directory")
	f.StringVar(&spec.Model, "model", "", "model, or ENDPOINT/MODEL (default: podd's)")
	f.StringVar(&spec.Options.Effort, "effort", "", "how much the model reasons, such as low or high (default: podd's)")
	f.StringVar(&spec.Options.Verbosity, "verbosity", "", "how long it answers: low, medium or high (default: podd's)")
	f.StringVar(&spec.Options.Temperature, "temperature", "", "temperature from 0 to 2 (default: podd's)")
	f.Var((*tokenCount)(&spec.Options.MaxOutput), "max-output", "tokens of one answer, such as 8k (default: podd's)")
	f.StringVar(&spec.Options.ServiceTier, "service-tier", "", "the endpoint's class of service, such as flex (default: podd's)")
	f.StringVar(&spec.Options.CacheTTL, "cache-ttl", "", "how long an endpoint with cache marks keeps them: 5m or 1h (default: podd's)")
	f.StringVar(&o.instructions, "instructions", "", "file with instructions for the pod (default: podd's)")
	f.StringVar(&o.base, "base-instructions", "", "builtin, none, or a file that podd sends before the instructions (default: podd's)")
	f.StringArrayVar(&o.read, "read", nil, "another directory that file tools may read; repeatable")
	f.StringArrayVar(&o.write, "write", nil, "another directory that file tools may read and write; repeatable")
	f.StringVar(&spec.Ask, "ask", "", "which tool calls need approval: never, risky or always (default: podd's)")
	network := []string{item.NetworkOn, item.NetworkOff, ""}
	f.Var(word{&spec.Network, "on|off", "write on or off, or '' for podd's setting", network}, "network", "whether commands reach the network without approval: on or off (default: podd's)")
	f.BoolVar(&spec.Plan, "plan", false, "let turns read and plan, and change nothing, unless submit says --plan=false")
	f.StringSliceVar(&spec.Tools, "tools", nil, "tools that the pod may use, such as read_file,search (default: all)")
	f.IntVar(&spec.SubPods, "sub-pods", 0, "number of sub-pods that may run at once (default: none)")
	f.IntVar(&limits.MaxSteps, "max-steps", 0, "model requests per turn (default: podd's)")
	f.DurationVar(&limits.MaxTurnTime, "max-time", 0, "working time per turn, such as 30m (default: podd's)")
	f.Var((*tokenCount)(&limits.MaxTokens), "max-tokens", "tokens per turn, in and out, such as 200k (default: podd's)")
	f.Var((*dollars)(&limits.MaxCost), "max-cost", "cost per turn in USD, by podd's prices (default: podd's)")
	f.Var((*dollars)(&limits.TotalCost), "budget", "total cost of all turns in USD, by podd's prices (default: no limit)")
	f.Var((*tokenCount)(&limits.TotalTokens), "budget-tokens", "total tokens of all turns, such as 5M (default: no limit)")
	for name, words := range map[string][]string{
		"ask": {"never", "risky", "always"}, "network": network[:2], "effort": efforts, "verbosity": {"low", "medium", "high"}, "cache-ttl": {"5m", "1h"},
		"max-steps": nil, "max-time": nil, "max-tokens": nil, "max-cost": nil, "budget": nil, "budget-tokens": nil, "tools": nil, "sub-pods": nil,
		"temperature": nil, "max-output": nil, "service-tier": nil,
	} {
		completeWith(cmd, name, words...)
	}
	for _, name := range []string{"dir", "read", "write"} {
		mustRegister(cmd.MarkFlagDirname(name))
	}
	p.completeFlag(cmd, "model", models)
}

var efforts = []string{"minimal", "low", "medium", "high"}

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

// take checks the flags that were given, and notes the fields that they set. Paths become absolute; podd checks that
// they exist. An empty value restores the default.
func (o *specOptions) take(p *program, cmd *cobra.Command) (err error) {
	for _, f := range specFields {
		if !cmd.Flags().Changed(f.flag) && (f.flag != "dir" || o.dir == "") {
			continue
		}
		switch f.flag {
		case "dir":
			err = p.at.directory(o.dir, &o.spec.Dir)
		case "instructions":
			err = readInstructions(o.instructions, &o.spec.Instructions)
		case "base-instructions":
			err = p.at.baseInstructions(o.base, &o.spec.BaseInstructions)
		case "read":
			err = p.at.directories(o.read, &o.spec.Read)
		case "write":
			err = p.at.directories(o.write, &o.spec.Write)
		case "sub-pods":
			err = whole(o.spec.SubPods, f.flag)
		case "max-steps":
			err = whole(o.spec.Limits.MaxSteps, f.flag)
		case "max-time":
			if t := o.spec.Limits.MaxTurnTime; t < 0 {
				err = usagef("--max-time %s: use a positive duration such as 30m, or 0 for podd's default", t)
			}
		}
		if err != nil {
			return err
		}
		o.fields = append(o.fields, f.field)
	}
	return nil
}

// whole checks a flag's number.
func whole(n int, flag string) error {
	if n < 0 || n > math.MaxInt32 {
		return usagef("--%s %d: use a number from 0 to %d", flag, n, math.MaxInt32)
	}
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

// checkoutOptions say what the checkout of a new pod begins with.
type checkoutOptions struct {
	from        string
	withChanges bool
}

func (o *checkoutOptions) register(cmd *cobra.Command, from, withChanges string) {
	cmd.Flags().StringVar(&o.from, "base", "", from)
	cmd.Flags().BoolVar(&o.withChanges, "with-changes", false, withChanges)
	completeWith(cmd, "base")
}
