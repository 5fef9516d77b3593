package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"podd/internal/sanitize"
	"podd/pkg/client"
	poddv1 "podd/proto/podd/v1"
)

func newMCPAddCommand(p *program) *cobra.Command {
	var url string
	var env []string
	cmd := &cobra.Command{
		Use:   "add NAME [COMMAND...]",
		Short: "Print the configuration of an MCP server",
		Long: "Prints the lines that add an MCP server to podd's configuration, and says on standard error where they belong. " +
			"Append them to that file, for example with >>, then run podctl reload. A server is a command, after --, or has " +
			"an address. Its key does not belong in the file: give the name of a variable of podd's environment.",
		Example: "  podctl mcp add search -- npx -y search-server >> ~/.config/podd/config.toml\n" +
			"  podctl mcp add tickets --url https://tickets.example.com/mcp",
		Args: operands,
		RunE: func(cmd *cobra.Command, args []string) error {
			lines, err := p.serverLines(args[0], url, args[1:], env)
			if err != nil {
				return err
			}
			if _, err := fmt.Fprint(p.stdout, lines); err != nil {
				return err
			}
			file := "~/.config/podd/config.toml"
			// Without podd it is the usual file.
			_ = p.with(func(c *client.Client) error {
				s, err := c.Admin().GetStatus(cmd.Context(), &poddv1.GetStatusRequest{})
				file = orDefault(s.GetConfig(), file)
				return err
			})
			fmt.Fprintf(p.stderr, "append this to %s, then run podctl reload and podctl mcp test %s\n", sanitize.Line(file), args[0])
			return nil
		},
	}
	cmd.Flags().StringVar(&url, "url", "", "address of a server over HTTP, instead of a command")
	cmd.Flags().StringArrayVar(&env, "env", nil, "variable of the command: NAME of podd's environment, or NAME=VALUE; may be repeated")
	return cmd
}

// serverLines are the lines of the configuration that add a server.
func (p *program) serverLines(name, url string, command, env []string) (string, error) {
	switch {
	case (url == "") == (len(command) == 0):
		return "", usagef("mcp add needs a command after -- or --url, and not both: podctl mcp add %s -- COMMAND", sanitize.Word(name))
	case strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "":
		return "", usagef("the name %q has other characters than letters, digits, - and _: choose another", name)
	case url != "" && len(env) > 0:
		return "", usagef("--env is for a command, and --url is not one: leave it out")
	}
	lines := "\n[mcp.servers." + name + "]\n"
	if url != "" {
		return lines + "url = " + tomlString(url) + "\n", nil
	}
	program := valid(command[0])
	if strings.Contains(program, "/") && !p.at.remote() {
		whole, err := filepath.Abs(program)
		if err != nil {
			return "", fmt.Errorf("make the path of the program absolute: %w", err)
		}
		program = whole
	}
	return lines + "command = " + tomlString(program) + "\n" + tomlList("args", command[1:]) + tomlList("env", env), nil
}

// tomlString is a string in TOML: its escapes are those of JSON.
func tomlString(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		panic(err) // Strings always encode.
	}
	return strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\x7f", `\u007f`)
}

// tomlList is a key with a list of strings; empty without one.
func tomlList(key string, list []string) string {
	if len(list) == 0 {
		return ""
	}
	quoted := make([]string, len(list))
	for i, text := range list {
		quoted[i] = tomlString(text)
	}
	return key + " = [" + strings.Join(quoted, ", ") + "]\n"
}
