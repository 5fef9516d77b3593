package main

import (
	"github.com/spf13/cobra"
)

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
