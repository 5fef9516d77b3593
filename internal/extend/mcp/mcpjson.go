package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// jsonServer is a server as in .mcp.json. Its other fields are for other programs.
type jsonServer struct {
	Type     string            `json:"type"`
	Command  string            `json:"command"`
	Args     []string          `json:"args"`
	Env      map[string]string `json:"env"`
	Cwd      string            `json:"cwd"`
	URL      string            `json:"url"`
	Headers  map[string]string `json:"headers"`
	Disabled bool              `json:"disabled"`
}

// maxProjectServers bounds the servers of a workspace.
const maxProjectServers = 20

// ParseServers reads the MCP servers of a workspace, in the order of their names;
// sentences name the file as path. An invalid server is omitted, with a sentence in
// refused.
func ParseServers(path string, text []byte) (servers []Server, refused []string) {
	var file struct {
		Servers map[string]jsonServer `json:"mcpServers"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, []string{fmt.Sprintf("%s: not a valid list of MCP servers: %s", path, strings.TrimPrefix(err.Error(), "json: "))}
	}
	for _, name := range slices.Sorted(maps.Keys(file.Servers)) {
		j := file.Servers[name]
		if j.Disabled {
			continue
		}
		s, wrong := j.server(name)
		if len(servers) == maxProjectServers {
			wrong = fmt.Sprintf("is left out: a workspace may have %d servers", maxProjectServers)
		}
		if wrong != "" {
			refused = append(refused, fmt.Sprintf("%s: the server %s %s", path, strconv.Quote(name), wrong))
			continue
		}
		s.Origin = path
		servers = append(servers, s)
	}
	return servers, refused
}

// server says why such a server is invalid; empty if it is valid.
func (j jsonServer) server(name string) (s Server, wrong string) {
	switch j.Type {
	case "", "stdio", "http", "streamable-http", "streamableHttp":
	case "sse":
		return s, `has the type "sse", which the protocol has given up: use "http" with the address of its streamable HTTP`
	default:
		return s, fmt.Sprintf("has the type %s: podd knows stdio and http", strconv.Quote(j.Type))
	}
	s = NewServer(name, "")
	s.Command, s.Args, s.Cwd, s.URL, s.Headers, s.Expand = j.Command, j.Args, j.Cwd, j.URL, j.Headers, true
	for _, variable := range slices.Sorted(maps.Keys(j.Env)) {
		s.Env = append(s.Env, variable+"="+j.Env[variable])
	}
	if wrong := s.wrong(); wrong != "" {
		return s, wrong
	}
	if s.URL != "" && !strings.Contains(s.URL, "${") && !IsEndpoint(s.URL) {
		return s, "has a url that is not an absolute http or https URL without user or fragment"
	}
	for _, value := range s.Headers {
		if strings.ContainsAny(value, "\r\n\x00") {
			return s, "has a header of more than one line"
		}
	}
	return s, ""
}
