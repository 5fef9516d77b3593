package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"podd/pkg/item"
	"podd/pkg/paths"
)

// recordName is the record's file in the state directory.
const recordName = "mcp.json"

// maxRemembered bounds the servers in the record.
const maxRemembered = 200

// record remembers what servers offered, so that a request can be sent before they run, and
// which form of a tool a person has approved.
type record struct {
	path string

	mu      sync.Mutex
	servers map[string]entry
}

// entry is the record of a server in a workspace.
type entry struct {
	Name    string   `json:"name"`
	Dir     string   `json:"dir"`
	Listing *Listing `json:"listing"`
	// Accepted has the digests of tools by name: their form when the server was new, or when
	// a person approved a call of them.
	Accepted map[string]string `json:"accepted"`
}

// keyOf identifies a server in a workspace. It does not depend on which tools are offered, on
// timeouts, or on what podd repeats.
func keyOf(s Server, dir string) string {
	s.Tools, s.StartTimeout, s.Timeout, s.Origin, s.Replay = nil, 0, 0, "", ""
	text, _ := json.Marshal(s)
	h := sha256.New()
	h.Write(append(text, "\x00"+dir...))
	return hex.EncodeToString(h.Sum(nil))
}

func openRecord(stateDir string) (*record, error) {
	r := &record{path: filepath.Join(stateDir, recordName), servers: map[string]entry{}}
	if err := paths.ReadRecord(r.path, &r.servers); err != nil {
		e := item.Errorf(item.KindPrecondition, "MCP_RECORD", "cannot use the record of MCP servers %s (%v): repair or remove it; without it, podd accepts tools as they are listed next", r.path, err)
		e.Cause = err
		return nil, e
	}
	return r, nil
}

func (r *record) listing(key string) *Listing {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.servers[key].Listing
}

// accepted says whether the form of a tool needs no approval.
func (r *record) accepted(key string, t Tool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.servers[key].Accepted[t.Name] == t.Digest()
}

// known says whether the tool existed before in some form.
func (r *record) known(key, tool string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.servers[key].Accepted[tool] != ""
}

// accept records that a person approved tools in this form.
func (r *record) accept(key string, tools ...Tool) error {
	return r.change(key, func(e *entry) {
		e.Accepted = maps.Clone(e.Accepted)
		for _, t := range tools {
			e.Accepted[t.Name] = t.Digest()
		}
	})
}

// learn records what a server offers, and returns the tools that need approval: none if the
// server is new.
func (r *record) learn(key, name, dir string, l *Listing) (changed []string, err error) {
	err = r.change(key, func(e *entry) {
		if e.Accepted == nil {
			e.Accepted = map[string]string{}
			for _, t := range l.Tools {
				e.Accepted[t.Name] = t.Digest()
			}
		}
		var before []Tool
		if e.Listing != nil {
			before = e.Listing.Tools
		}
		for _, t := range l.Tools {
			if e.Accepted[t.Name] != t.Digest() && !slices.Contains(before, t) {
				changed = append(changed, t.Name)
			}
		}
		e.Name, e.Dir, e.Listing = name, dir, l
	})
	return changed, err
}

// change stores the record with one entry changed. If that fails, the change is in effect
// until podd ends.
func (r *record) change(key string, change func(*entry)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.servers[key]
	change(&e)
	r.servers[key] = e
	for len(r.servers) > maxRemembered {
		delete(r.servers, r.oldest())
	}
	return paths.WriteRecord(r.path, r.servers)
}

func (r *record) oldest() string {
	return slices.MinFunc(slices.Collect(maps.Keys(r.servers)), func(a, b string) int {
		return r.servers[a].Listing.At.Compare(r.servers[b].Listing.At)
	})
}
