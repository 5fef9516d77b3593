package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"podd/internal/paths"
	"podd/pkg/item"
)

// recordName is the record's file in the state directory.
const recordName = "mcp.json"

// The bounds of the record: in bytes, and how many servers it remembers.
const (
	maxRecordBytes = 64 << 20
	maxRemembered  = 200
)

// record remembers what servers offered, so that a request can be made before they run,
// and which form of a tool a person has agreed to.
type record struct {
	path string

	mu      sync.Mutex
	servers map[string]entry
}

// entry is what is remembered of a server in a workspace.
type entry struct {
	Name    string   `json:"name"`
	Dir     string   `json:"dir"`
	Listing *Listing `json:"listing"`
	// Accepted has the digests of tools that are what they were when the server was new,
	// or when a person agreed to a call of them, by their names.
	Accepted map[string]string `json:"accepted"`
}

// keyOf tells a server in a workspace from all others. What is offered of it, and how
// long it may take, makes no other of it.
func keyOf(s Server, dir string) string {
	s.Tools, s.StartTimeout, s.Timeout, s.Origin = nil, 0, 0, ""
	text, _ := json.Marshal(s)
	h := sha256.New()
	h.Write(append(text, "\x00"+dir...))
	return hex.EncodeToString(h.Sum(nil))
}

func openRecord(stateDir string) (*record, error) {
	r := &record{path: filepath.Join(stateDir, recordName), servers: map[string]entry{}}
	file, err := os.Open(r.path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		defer file.Close()
		err = json.NewDecoder(io.LimitReader(file, maxRecordBytes)).Decode(&r.servers)
	}
	if err != nil {
		e := item.Errorf(item.KindPrecondition, "MCP_RECORD", "the record of MCP servers %s cannot be used (%v): mend or remove it; without it tools are taken as they are when they are listed next", r.path, err)
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

// accepted says whether a tool may be called without a person being asked about its form.
func (r *record) accepted(key string, t Tool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.servers[key].Accepted[t.Name] == t.Digest()
}

// known says whether there was such a tool in some form before.
func (r *record) known(key, tool string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.servers[key].Accepted[tool] != ""
}

// accept remembers that a person agreed to tools in this form.
func (r *record) accept(key string, tools ...Tool) error {
	return r.change(key, func(e *entry) {
		e.Accepted = maps.Clone(e.Accepted)
		for _, t := range tools {
			e.Accepted[t.Name] = t.Digest()
		}
	})
}

// learn remembers what a server offers, and names the tools that a person has to be asked
// about: none when the server is new.
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

// change stores the record with one entry changed. What is not stored counts until podd
// ends.
func (r *record) change(key string, change func(*entry)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.servers[key]
	change(&e)
	r.servers[key] = e
	for len(r.servers) > maxRemembered {
		delete(r.servers, r.oldest())
	}
	text, err := json.Marshal(r.servers)
	if err != nil {
		return err
	}
	return paths.WritePrivateFile(r.path, string(text)+"\n")
}

func (r *record) oldest() string {
	return slices.MinFunc(slices.Collect(maps.Keys(r.servers)), func(a, b string) int {
		return r.servers[a].Listing.At.Compare(r.servers[b].Listing.At)
	})
}
