package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"podd/internal/ops/service"
	"podd/internal/paths"
	"podd/internal/sanitize"
	"podd/pkg/item"
)

func newServiceCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "service",
		Short: "run podd in the background: install, uninstall, status, logs",
		Long: "Lets systemd's user manager (on macOS: launchd) run podd in the background, from login on.\n" +
			"See `podd service install --help`.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError{errors.New("say what to do: podd service install, uninstall, status or logs")}
			}
			return usageError{fmt.Errorf("unknown verb %q: use podd service install, uninstall, status or logs", args[0])}
		},
		RunE: func(*cobra.Command, []string) error { return nil },
	}
	cmd.AddCommand(newServiceInstallCommand(p), newServiceUninstallCommand(p), newServiceStatusCommand(p), newServiceLogsCommand(p))
	return cmd
}

// service is what looks after podd on this system.
func (p *program) service() (service.Service, error) {
	return service.For(runtime.GOOS, p.env("HOME"), p.env)
}

func newServiceInstallCommand(p *program) *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use:   "install",
		Short: "let podd run in the background from now and from each login on",
		Long: "Writes the units podd.socket and podd.service for systemd's user manager (on macOS an agent for launchd)\n" +
			"and starts podd. It may be called again: what has not changed stays, and a podd whose unit has changed is\n" +
			"restarted, which its turns survive. --state-dir, --socket and --config, or their variables, become part of\n" +
			"the service. So does PATH, by which the commands of pods find programs. No other variable does, above all no\n" +
			"key: put that into a file of mode 0600 and name it as api_key_file in config.toml.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := p.service()
			if err != nil {
				return err
			}
			plan, err := p.servicePlan()
			if err != nil {
				return err
			}
			if dry {
				for _, f := range s.Files(plan) {
					fmt.Fprintf(p.stdout, "==> %s\n%s\n", sanitize.Line(f.Path), f.Text)
				}
				return nil
			}
			return p.install(cmd.Context(), s, plan)
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "show what would be written, and do nothing")
	return cmd
}

func (p *program) install(ctx context.Context, s service.Service, plan service.Plan) error {
	settings, hints, err := p.serviceSettings()
	if err != nil {
		return err
	}
	held, err := p.heldByHand(ctx, s)
	if err != nil {
		return err
	}
	done, err := s.Install(ctx, plan, held != nil)
	for _, f := range done.Files {
		fmt.Fprintf(p.stdout, "%s %s\n", f.Change, sanitize.Line(f.Path))
	}
	if err != nil {
		return fmt.Errorf("%w; see podd service status and podd service logs", err)
	}
	fmt.Fprintf(p.stdout, "podd is %s; its commands find programs by PATH=%s\n", sanitize.Line(plan.Program), sanitize.Line(plan.Path))
	switch {
	case done.Unreachable != nil:
		fmt.Fprintf(p.stdout, "Nothing was started: no manager of services runs for you here (%s).\nWhere one does, start podd with\n", sanitize.Line(done.Unreachable.Error()))
		for _, line := range s.ByHand() {
			fmt.Fprintf(p.stdout, "    %s\n", line)
		}
		fmt.Fprintln(p.stdout, "Until then: podd &")
	case held != nil:
		return fmt.Errorf("%w; then run podd service install again", held)
	case done.Restarted:
		fmt.Fprintln(p.stdout, "podd was restarted, as its service changed; turns that ran go on")
	default:
		fmt.Fprintf(p.stdout, "podd runs. To have it take a new binary: %s\n", s.Restart())
	}
	if settings.APIKey == "" && strings.Contains(settings.BaseURL, "api.openai.com") {
		hints = append(hints, keyHint(p.env))
	}
	if is, err := s.Status(ctx); err == nil || done.Unreachable != nil {
		hints = append(hints, lingerHint(is)...)
	}
	for _, hint := range hints {
		fmt.Fprintf(p.stdout, "- %s\n", hint)
	}
	return nil
}

func newServiceUninstallCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "uninstall",
		Short: "stop the service and remove its files; pods and configuration stay",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := p.service()
			if err != nil {
				return err
			}
			done, err := s.Uninstall(cmd.Context())
			for _, f := range done {
				fmt.Fprintf(p.stdout, "%s %s\n", f.Change, sanitize.Line(f.Path))
			}
			if err != nil {
				return err
			}
			if len(done) == 0 {
				fmt.Fprintln(p.stdout, "nothing of podd is installed as a service of yours")
				return nil
			}
			state, err := paths.StateDir(p.places, p.env)
			if err == nil {
				fmt.Fprintf(p.stdout, "pods and their logs stay in %s\n", sanitize.Line(state.Path))
			}
			return nil
		},
	}
}

func newServiceStatusCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "show how the service does; exit code 1 when it does not run",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := p.service()
			if err != nil {
				return err
			}
			is, err := s.Status(cmd.Context())
			w := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
			row := func(name, value string) {
				if value != "" {
					fmt.Fprintf(w, "%s\t%s\n", name, sanitize.Line(value))
				}
			}
			row("files", strings.Join(is.Files, " "))
			row("at login", is.Enabled)
			row("state", is.State)
			row("pid", is.PID)
			row("says", is.Says)
			row("lingering", is.Lingers)
			if werr := w.Flush(); werr != nil {
				return werr
			}
			switch {
			case len(is.Files) == 0:
				return item.Errorf(item.KindPrecondition, "NO_SERVICE", "podd is no service of yours yet: run podd service install")
			case err != nil:
				return item.Errorf(item.KindPrecondition, "NO_MANAGER", "the service is installed, and no manager of services runs for you here (%v): log in on a system with one, or run podd &", err)
			case !is.Running:
				return item.Errorf(item.KindPrecondition, "NOT_RUNNING", "the service does not run: see podd service logs, and start it with %s", s.Restart())
			}
			return nil
		},
	}
}

func newServiceLogsCommand(p *program) *cobra.Command {
	var follow bool
	lines := 50
	cmd := &cobra.Command{
		Use:   "logs",
		Short: "show what the service logged",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := p.service()
			if err != nil {
				return err
			}
			if _, err := exec.LookPath(s.Logs(follow, "1")[0]); err != nil {
				return item.Errorf(item.KindPrecondition, "NO_MANAGER", "%s is not installed", s.Logs(follow, "1")[0])
			}
			return service.Show(cmd.Context(), p.stdout, p.stderr, s.Logs(follow, strconv.Itoa(max(lines, 0))))
		},
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on with what comes")
	cmd.Flags().IntVarP(&lines, "lines", "n", lines, "how many of the last lines")
	return cmd
}
