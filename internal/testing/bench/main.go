// Command bench measures podd beside the floor, a bare daemon of the same shape, and
// prints one table: podd, the floor with openai-go's typed API, the floor with its own
// stream reader, podd's ratio to what the goal compares it with, and the goal.
//
// It builds all programs without the race detector and starts one model endpoint in its
// own process. Compared programs run alternately, so that a busy moment of the machine
// affects all of them; the table has medians. README.md says what each row is.
// The exit code says whether it could measure, not whether goals were met.
//
// Rank 7; not part of podd.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"podd/internal/testing/bench/model"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == serveModel {
		fmt.Fprintln(os.Stderr, "bench:", model.Serve(os.Stdout))
		os.Exit(1)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM) //nolint:forbidigo // main's own context
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// serveModel is the argument with which this program is the model endpoint.
const serveModel = "serve-model"

func run(ctx context.Context, args []string, out, log io.Writer) int {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(log)
	only := flags.String("only", "", "the parts to measure, with commas between: "+strings.Join(partNames(), ", ")+"; empty: all")
	reps := flags.Int("reps", 15, "how often each measurement is repeated")
	bin := flags.String("bin", "", "the directory of programs that are built already; empty: build them as a release does")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if *reps < 1 {
		fmt.Fprintf(log, "bench: -reps is %d: it takes 1 or more\n", *reps)
		return 2
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(log, "bench: %q is no flag: a part is named with -only\n", flags.Arg(0))
		return 2
	}
	wanted := strings.FieldsFunc(*only, func(r rune) bool { return r == ',' || r == ' ' })
	for _, name := range wanted {
		if !slices.Contains(partNames(), name) {
			fmt.Fprintf(log, "bench: there is no part %q; there are %s\n", name, strings.Join(partNames(), ", "))
			return 2
		}
	}
	if err := measure(ctx, *bin, wanted, *reps, out, log); err != nil {
		fmt.Fprintln(log, "bench: it could not be measured:", err)
		return 1
	}
	return 0
}

// measure runs the parts and prints the table of their results.
func measure(ctx context.Context, bin string, wanted []string, reps int, out, log io.Writer) (err error) {
	r, err := newRig(ctx, bin)
	if err != nil {
		return err
	}
	defer r.close()
	r.reps = reps
	for _, p := range parts {
		if len(wanted) > 0 && !slices.Contains(wanted, p.name) {
			continue
		}
		fmt.Fprintf(log, "bench: %s\n", p.name)
		if err := p.run(ctx, r); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	r.results.show(out)
	return r.describe(ctx, out)
}

// part is a measurement that can run alone.
type part struct {
	name string
	run  func(context.Context, *rig) error
}

var parts = []part{
	{"step", measureStep},
	{"many", measureMany},
	{"turn", measureTurn},
	{"stream", measureStream},
	{"start", measureStart},
	{"memory", measureMemory},
	{"triggers", measureTriggers},
	{"work", measureWork},
	{"files", measureFiles},
	{"oneshot", measureOneShot},
	{"wire", measureWire},
	{"syncs", measureSyncs},
	{"scale", measureScale},
	{"search", measureSearch},
}

func partNames() (names []string) {
	for _, p := range parts {
		names = append(names, p.name)
	}
	return names
}
