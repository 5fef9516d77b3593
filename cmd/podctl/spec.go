package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"podd/pkg/item"
)

// specFlags are the flags of a verb that makes or changes a pod.
type specFlags struct {
	dir, model, instructions, ask string
	read, write, tools            []string
	steps, subPods                int
	time                          time.Duration
	tokens, budgetTokens          tokenCount
	cost, budget                  dollars
}

// register adds the flags. Whatever is not given follows podd's configuration.
func (f *specFlags) register(cmd *cobra.Command, dir string) {
	flags := cmd.Flags()
	flags.StringVar(&f.dir, "dir", dir, "the workspace")
	flags.StringVar(&f.model, "model", "", "the model (default podd's)")
	flags.StringVar(&f.instructions, "instructions", "", "a file with instructions for the pod (default podd's)")
	flags.StringArrayVar(&f.read, "read", nil, "a further directory that file tools may read; may be repeated")
	flags.StringArrayVar(&f.write, "write", nil, "a further directory that file tools may read and write; may be repeated")
	flags.StringVar(&f.ask, "ask", "", "when calls ask a person: never, risky or always (default podd's)")
	flags.StringSliceVar(&f.tools, "tools", nil, "the tools that the pod may use, such as read_file,search (default all)")
	flags.IntVar(&f.subPods, "sub-pods", 0, "how many pods it may spawn and have at work at once (default none)")
	flags.IntVar(&f.steps, "max-steps", 0, "model requests of a turn (default podd's)")
	flags.DurationVar(&f.time, "max-time", 0, "how long a turn may work, such as 30m (default podd's)")
	flags.Var(&f.tokens, "max-tokens", "tokens of a turn, in and out, such as 200k (default podd's)")
	flags.Var(&f.cost, "max-cost", "cost of a turn in USD, by podd's prices (default podd's)")
	flags.Var(&f.budget, "budget", "cost of all turns together in USD, by podd's prices (default no bound)")
	flags.Var(&f.budgetTokens, "budget-tokens", "tokens of all turns together, such as 5M (default no bound)")
	completeWith(cmd, "ask", "never", "risky", "always")
	for _, name := range []string{"model", "max-steps", "max-time", "max-tokens", "max-cost", "budget", "budget-tokens", "tools", "sub-pods"} {
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
	{"instructions", "instructions"},
	{"read", "read"},
	{"write", "write"},
	{"ask", "ask"},
	{"tools", "tools"},
	{"sub-pods", "sub_pods"},
	{"max-steps", "limits.max_steps"},
	{"max-time", "limits.max_turn_time"},
	{"max-tokens", "limits.max_tokens"},
	{"max-cost", "limits.max_cost"},
	{"budget", "limits.total_cost"},
	{"budget-tokens", "limits.total_tokens"},
}

// apply changes what flags were given for, and returns the fields that they change. Paths
// become absolute; podd checks what is there. An empty value goes back to what a pod
// without the flag has.
func (f *specFlags) apply(cmd *cobra.Command, spec *item.PodSpec) (fields []string, err error) {
	set := map[string]func() error{
		"dir":           func() error { return absolute(f.dir, &spec.Dir) },
		"model":         func() error { spec.Model = f.model; return nil },
		"instructions":  func() error { return readInstructions(f.instructions, &spec.Instructions) },
		"read":          func() error { return absoluteAll(f.read, &spec.Read) },
		"write":         func() error { return absoluteAll(f.write, &spec.Write) },
		"ask":           func() error { spec.Ask = f.ask; return nil },
		"tools":         func() error { spec.Tools = f.tools; return nil },
		"sub-pods":      func() error { return whole(f.subPods, "sub-pods", &spec.SubPods) },
		"max-steps":     func() error { return whole(f.steps, "max-steps", &spec.Limits.MaxSteps) },
		"max-tokens":    func() error { spec.Limits.MaxTokens = int64(f.tokens); return nil },
		"budget-tokens": func() error { spec.Limits.TotalTokens = int64(f.budgetTokens); return nil },
		"max-cost":      func() error { spec.Limits.MaxCost = float64(f.cost); return nil },
		"budget":        func() error { spec.Limits.TotalCost = float64(f.budget); return nil },
		"max-time": func() error {
			if f.time < 0 {
				return usagef("--max-time %s: give a time such as 30m, or 0 for podd's", f.time)
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
		return usagef("--%s %d: give a number from 0 to %d", flag, n, math.MaxInt32)
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
		return usagef("the instructions cannot be read: %w", err)
	}
	*to = string(text)
	return nil
}

// absolute makes a path absolute.
func absolute(path string, to *string) error {
	if path == "" {
		return usagef("an empty path names no directory")
	}
	whole, err := filepath.Abs(path)
	if err != nil {
		return fmt.Errorf("the current directory cannot be read: %w", err)
	}
	*to = whole
	return nil
}

// absoluteAll makes paths absolute. One empty path stands for none at all.
func absoluteAll(paths []string, to *[]string) error {
	if len(paths) == 1 && paths[0] == "" {
		*to = nil
		return nil
	}
	all := make([]string, len(paths))
	for i, path := range paths {
		if err := absolute(path, &all[i]); err != nil {
			return err
		}
	}
	*to = all
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
		return fmt.Errorf("%q is no number of tokens such as 1500, 200k or 5M", value)
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
		return fmt.Errorf("%q is no amount in USD such as 2 or 0.50", value)
	}
	*d = dollars(usd)
	return nil
}

// maxDollars is more than anybody means.
const maxDollars = 1e9

// String is the flag's value.
func (d *dollars) String() string { return strconv.FormatFloat(float64(*d), 'f', -1, 64) }

// Type names the value in the help.
func (d *dollars) Type() string { return "USD" }
