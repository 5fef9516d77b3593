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
	"podd/internal/sanitize"
	"podd/pkg/item"
	"podd/pkg/paths"
)

func newServiceCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "service",
		Short: "Manage podd as a background service",
		Long: "Manages podd as a service of systemd's user manager (launchd on macOS), which starts it at login.\n" +
			"See `podd service install --help`.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError{errors.New("choose a command: podd service install, uninstall, restart, status or logs")}
			}
			return usageError{fmt.Errorf("unknown command %q: use podd service install, uninstall, restart, status or logs", args[0])}
		},
		RunE: func(*cobra.Command, []string) error { return nil },
	}
	cmd.AddCommand(newServiceInstallCommand(p), newServiceUninstallCommand(p), newServiceRestartCommand(p), newServiceStatusCommand(p), newServiceLogsCommand(p))
	return cmd
}

// service is podd's service on this system.
func (p *program) service() (service.Service, error) {
	return service.For(runtime.GOOS, p.env("HOME"), p.env)
}

func newServiceInstallCommand(p *program) *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Install the service and start it, now and at each login",
		Long: "Writes the units podd.socket and podd.service for systemd's user manager (on macOS an agent for launchd)\n" +
			"and starts podd. You may run it again: unchanged files stay, and if the unit changed, podd is restarted;\n" +
			"running turns resume. --state-dir, --socket and --config, or their variables, become part of the service. So\n" +
			"does PATH, which the commands of pods use to find programs. No other variable does, and in particular no API\n" +
			"key: put that in a file with mode 0600 and name it as api_key_file in config.toml.",
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
	cmd.Flags().BoolVar(&dry, "dry-run", false, "print the files without writing them")
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
	fmt.Fprintf(p.stdout, "the service runs %s; commands of pods use PATH=%s\n", sanitize.Line(plan.Program), sanitize.Line(plan.Path))
	switch {
	case done.Unreachable != nil:
		fmt.Fprintf(p.stdout, "Nothing was started, because no service manager is running for you here (%s).\nWhere one is, start podd with\n", sanitize.Line(done.Unreachable.Error()))
		for _, line := range s.ByHand() {
			fmt.Fprintf(p.stdout, "    %s\n", line)
		}
		fmt.Fprintln(p.stdout, "Until then: podd &")
	case held != nil:
		return fmt.Errorf("%w; then run podd service install again", held)
	case done.Restarted:
		fmt.Fprintln(p.stdout, "podd was restarted because its service changed; running turns resume")
	default:
		fmt.Fprintln(p.stdout, "podd is running. After you update the binary, restart it: podd service restart")
	}
	if settings.Endpoint == item.DefaultEndpoint && settings.APIKey == "" && strings.Contains(settings.BaseURL, "api.openai.com") {
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
		Short: "Stop the service and remove its files; keep pods and configuration",
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
				fmt.Fprintln(p.stdout, "podd is not installed as a service")
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

func newServiceRestartCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "restart",
		Short: "Restart podd after an update; running turns resume",
		Long: "Restarts the service. Each turn stops at its next step, at the latest after 10 s, and goes on in the new podd;\n" +
			"commands and jobs run on meanwhile, and clients wait.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := p.service()
			if err != nil {
				return err
			}
			if is, _ := s.Status(cmd.Context()); len(is.Files) == 0 {
				return errNoService
			}
			if err := service.Show(cmd.Context(), p.stdout, p.stderr, []string{"sh", "-c", s.Restart()}); err != nil {
				return err
			}
			fmt.Fprintln(p.stdout, "podd was restarted; running turns resume")
			return nil
		},
	}
}

// errNoService is the error about a service that is not there.
var errNoService = item.Errorf(item.KindPrecondition, "NO_SERVICE", "podd is not installed as a service: run podd service install")

func newServiceStatusCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show the service's state; exit with 1 if it is not running",
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
			row("status", is.Says)
			row("lingering", is.Lingers)
			if werr := w.Flush(); werr != nil {
				return werr
			}
			switch {
			case len(is.Files) == 0:
				return errNoService
			case err != nil:
				return item.Errorf(item.KindPrecondition, "NO_MANAGER", "the service is installed, but no service manager is running for you here (%v): run podd & instead", err)
			case !is.Running:
				return item.Errorf(item.KindPrecondition, "NOT_RUNNING", "the service is not running: see podd service logs, then start it with podd service restart")
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
		Short: "Show the service's log",
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
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "keep running and print new lines")
	cmd.Flags().IntVarP(&lines, "lines", "n", lines, "number of lines to show")
	return cmd
}
