package main

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"podd/internal/config"
	"podd/internal/daemon"
	"podd/internal/sanitize"
	"podd/pkg/paths"
)

func newConfigCommand(p *program) *cobra.Command {
	var output string
	var example bool
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show the effective configuration and the origin of each value",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			if example {
				_, err := io.WriteString(p.stdout, config.Example)
				return err
			}
			values, err := p.values()
			if err != nil {
				return err
			}
			switch output {
			case "text":
				return p.table(values)
			case "json":
				return p.jsonLines(values)
			}
			return usageError{fmt.Errorf("-o %q: use text or json", output)}
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text or json")
	cmd.Flags().BoolVar(&example, "example", false, "print a commented config.toml with every table and key instead")
	cmd.MarkFlagsMutuallyExclusive("example", "output")
	return cmd
}

// values are the places and the settings.
func (p *program) values() ([]config.Value, error) {
	var values []config.Value
	place := func(key string, find func(paths.Flags, func(string) string) (paths.Place, error)) (paths.Place, error) {
		found, err := find(p.places, p.env)
		values = append(values, config.Value{Key: key, Value: found.Path, Origin: found.Origin})
		return found, err
	}
	if _, err := place("socket", paths.Socket); err != nil {
		return nil, err
	}
	if _, err := place("state-dir", paths.StateDir); err != nil {
		return nil, err
	}
	file, err := place("config", paths.ConfigFile)
	if err != nil {
		return nil, err
	}
	settings, err := config.Load(file.Path, file.Named, p.env)
	if err != nil {
		return nil, err
	}
	if err := daemon.CheckSettings(settings); err != nil {
		return nil, err
	}
	return append(values, settings.Values()...), nil
}

func (p *program) table(values []config.Value) error {
	w := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "KEY\tVALUE\tFROM")
	for _, v := range values {
		fmt.Fprintf(w, "%s\t%s\t%s\n", v.Key, sanitize.Line(v.Value), sanitize.Line(v.Origin))
	}
	return w.Flush()
}

func (p *program) jsonLines(values []config.Value) error {
	enc := json.NewEncoder(p.stdout)
	for _, v := range values {
		if err := enc.Encode(map[string]string{"key": v.Key, "value": v.Value, "origin": v.Origin}); err != nil {
			return err
		}
	}
	return nil
}
