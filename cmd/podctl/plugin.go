package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	"podd/pkg/item"
	poddv1 "podd/proto/podd/v1"
)

func newPluginCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plugin",
		Short: "Add plugins of Claude Code",
		Long: "Adds, lists and removes plugins: directories with hooks, skills, commands and MCP servers for Claude Code. All pods " +
			"use a plugin while its files are what you saw.",
	}
	rm := &cobra.Command{
		Use:   "rm NAME",
		Short: "Remove a plugin",
		Long:  "Lets pods use a plugin no more. Its directory stays.",
		ValidArgsFunction: p.complete(1, func(ctx context.Context, s *session, offer func(value, about string)) error {
			resp, err := s.Plugins().ListPlugins(ctx, &poddv1.ListPluginsRequest{})
			for _, l := range resp.GetPlugins() {
				offer(l.GetName(), beginning(l.GetDir()))
			}
			return err
		}),
		RunE: p.onPodd(func(ctx context.Context, s *session, args []string) error {
			resp, err := s.Plugins().RemovePlugin(ctx, &poddv1.RemovePluginRequest{Name: valid(args[0])})
			return s.answer(resp, err, line("the plugin %s is removed", sanitize.Line(args[0])))
		}),
	}
	list := &cobra.Command{
		Use:   "list",
		Short: "List plugins and what they run",
		Long:  "Lists the plugins that were added, what each runs, and which run nothing because they changed.",
		RunE:  p.onPodd(listPlugins),
	}
	cmd.AddCommand(new(pluginAddOptions).command(p), list, rm)
	return cmd
}

// pluginAddOptions are the flags of plugin add, and its operand.
type pluginAddOptions struct {
	dir string
	yes bool
}

func (o *pluginAddOptions) command(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "add DIR",
		Short: "Add a plugin",
		Long: "Shows what the plugin in a directory would run and asks whether podd may. You add exactly these files: when one " +
			"changes, nothing of the plugin runs until you add it again.",
		Example:           "  podctl plugin add ~/src/superpowers",
		ValidArgsFunction: completeFiles,
		PreRunE:           func(_ *cobra.Command, args []string) error { return p.at.directory(args[0], &o.dir) },
		RunE:              p.onPodd(o.run),
	}
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "add the plugin without asking")
	return cmd
}

func (o *pluginAddOptions) run(ctx context.Context, s *session, _ []string) error {
	resp, err := s.Plugins().AddPlugin(ctx, &poddv1.AddPluginRequest{Dir: o.dir})
	if err != nil {
		return err
	}
	shown := s.stdout
	if s.output == outputJSON {
		shown = s.stderr
	}
	l := resp.GetPlugin()
	if err := showPlugin(shown, l); err != nil {
		return err
	}
	for _, why := range l.GetRefused() {
		fmt.Fprintf(s.stderr, "! podd ignores this: %s\n", sanitize.Line(why))
	}
	if l.GetState() == "added" {
		return s.print(resp, line("the plugin %s is already added", sanitize.Line(l.GetName())))
	}
	if !o.yes {
		if err := s.asked(ctx, "Add this plugin? Its hooks and servers run outside the sandbox, with your rights.",
			usageError{item.Errorf(item.KindInvalid, "NOBODY_TO_ASK", "plugin add needs a terminal to ask: run it at one, or add --yes once you have read the files")},
			item.Errorf(item.KindPrecondition, "NOT_ADDED", "you did not add the plugin")); err != nil {
			return err
		}
	}
	resp, err = s.Plugins().AddPlugin(ctx, &poddv1.AddPluginRequest{Dir: l.GetDir(), Digest: l.GetDigest()})
	return s.answer(resp, err, line("the plugin %s is added; this takes effect at the next turn", sanitize.Line(l.GetName())))
}

func listPlugins(ctx context.Context, s *session, _ []string) error {
	resp, err := s.Plugins().ListPlugins(ctx, &poddv1.ListPluginsRequest{})
	if err != nil {
		return err
	}
	return printEach(s.program, resp.GetPlugins(), func() error {
		for _, l := range resp.GetPlugins() {
			if err := showPlugin(s.stdout, l); err != nil {
				return err
			}
		}
		return nil
	})
}

// showPlugin prints a plugin and what it runs.
func showPlugin(w io.Writer, l *poddv1.Plugin) error {
	_, err := fmt.Fprintf(w, "%s, %s:\n", sanitize.Line(l.GetName()), sanitize.Line(l.GetDir()))
	for _, run := range l.GetRuns() {
		shown, _ := sanitize.Exact(run)
		fmt.Fprintf(w, "  %s\n", sanitize.Line(shown))
	}
	if l.GetError() != "" {
		fmt.Fprintf(w, "  ! %s\n", sanitize.Line(l.GetError()))
	}
	return err
}
