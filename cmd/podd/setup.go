package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"podd/internal/config"
	"podd/internal/ops/setup"
	"podd/internal/sanitize"
	"podd/pkg/item"
	"podd/pkg/paths"
)

func newSetupCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "setup",
		Short: "Find a model endpoint, write config.toml and start podd",
		Long: "Looks for a model endpoint: a key in the environment, or Ollama, LM Studio, llama.cpp or vLLM on this machine.\n" +
			"Asks which one and which model to use, tries one request, writes config.toml and the key's file, and offers to run\n" +
			"podd as a service. Nothing is written before you agree. Without a terminal it prints what to write.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runSetup(cmd.Context(), p) },
	}
}

func runSetup(ctx context.Context, p *program) error {
	file, err := paths.ConfigFile(p.places, p.env)
	if err != nil {
		return err
	}
	if err := unset(file); err != nil {
		return err
	}
	fmt.Fprintln(p.stdout, "Looking for model endpoints ...")
	found := setup.Find(ctx, p.env)
	in, terminal := p.terminal()
	if !terminal {
		return proposeSetup(p, file.Path, found)
	}
	signal.Reset(os.Interrupt) // Ctrl-C ends podd setup at once, in the middle of a line too.
	d := setup.Dialog{In: bufio.NewReader(in), Out: p.stdout, Secret: func() (string, error) { return readSecret(in) }}
	c, model, err := d.Choose(ctx, found)
	if err != nil {
		return err
	}
	plan := c.Plan(file.Path, model)
	fmt.Fprint(p.stdout, plan)
	if yes, err := d.Yes("Write this?"); err != nil || !yes {
		return errors.Join(err, leftSetup(yes))
	}
	accepted := func(path string) error {
		_, err := config.Load(path, true, func(string) string { return "" })
		return err
	}
	signal.Ignore(os.Interrupt) // The key's file and the configuration are written together.
	err = plan.Write(accepted)
	signal.Reset(os.Interrupt)
	if err != nil {
		return err
	}
	if p.env("PODD_MODEL") != "" {
		fmt.Fprintln(p.stdout, "PODD_MODEL is set in this shell and takes precedence over the file: unset it before you start podd here.")
	}
	return startAfterSetup(ctx, p, d)
}

// readSecret reads a line that the terminal does not show. Ctrl-C leaves the terminal as it was.
func readSecret(in *os.File) (string, error) {
	state, err := term.GetState(int(in.Fd()))
	if err != nil {
		return "", err
	}
	interrupts, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Reset(os.Interrupt)
	defer close(done)
	go func() {
		select {
		case <-interrupts:
			_ = term.Restore(int(in.Fd()), state)
			os.Exit(exitFailed)
		case <-done:
		}
	}()
	key, err := term.ReadPassword(int(in.Fd()))
	return strings.TrimSpace(string(key)), err
}

// leftSetup is the error of a person who did not agree.
func leftSetup(agreed bool) error {
	if agreed {
		return nil
	}
	return setup.ErrLeft
}

// terminal is the standard input if a person types there and reads the output.
func (p *program) terminal() (*os.File, bool) {
	in, ok := p.stdin.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) || !isTerminal(p.stdout) {
		return nil, false
	}
	return in, true
}

// unset refuses a configuration that names an endpoint already, or that is wrong.
func unset(file paths.Place) error {
	if _, err := os.Stat(file.Path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	settings, err := config.Load(file.Path, true, func(string) string { return "" })
	if err != nil {
		return err
	}
	for _, v := range settings.Values() {
		switch key, _, _ := strings.Cut(v.Key, "."); key {
		case "base_url", "api_key_file", "endpoints", "endpoint", "model":
			if strings.HasPrefix(v.Origin, file.Path) {
				return item.Errorf(item.KindPrecondition, "CONFIGURED", "%s already says %s, so podd setup changes nothing: edit the file, or try it with podctl models", file.Path, v.Key)
			}
		}
	}
	return nil
}

// proposeSetup prints what a person would write.
func proposeSetup(p *program, config string, found []setup.Choice) error {
	if len(found) == 0 {
		return item.Errorf(item.KindPrecondition, "NO_ENDPOINT", "no key of a model API is in the environment, and no model server answers on this machine: "+
			"set one such as OPENAI_API_KEY or start one such as Ollama, then run podd setup again")
	}
	for _, c := range found {
		model := "MODEL"
		if len(c.Models) > 0 {
			model = c.Models[0]
		}
		fmt.Fprintf(p.stdout, "\n%s. To use it, write\n%s", sanitize.Line(c.String()), c.Plan(config, model))
	}
	fmt.Fprintln(p.stdout, "\nThen start podd with podd service install, or in the foreground with podd. Nothing was written, because this is no terminal.")
	return nil
}

// startAfterSetup offers the service, and ends with what to type next.
func startAfterSetup(ctx context.Context, p *program, d setup.Dialog) error {
	if err := offerService(ctx, p, d); err != nil {
		return err
	}
	fmt.Fprintln(p.stdout, "\nNext, in a directory with your work:\n    podctl submit -f \"what is in this directory?\"")
	return nil
}

func offerService(ctx context.Context, p *program, d setup.Dialog) error {
	held, err := p.held()
	if err != nil {
		return err
	}
	if held != nil {
		fmt.Fprintln(p.stdout, "podd runs already. Let it read the file: podctl reload")
		return nil
	}
	yes, err := d.Yes("Run podd in the background, now and from each login on (podd service install)?")
	if err != nil && !errors.Is(err, setup.ErrLeft) {
		return err
	}
	if !yes {
		fmt.Fprintln(p.stdout, "Start podd when you want it: podd &")
		return nil
	}
	s, err := p.service()
	if err != nil {
		return err
	}
	plan, err := p.servicePlan()
	if err != nil {
		return err
	}
	return p.install(ctx, s, plan)
}
