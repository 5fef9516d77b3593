package checkout

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"podd/internal/guard/sandbox"
	"podd/pkg/item"
	"podd/pkg/scopefs/git"
)

// Config configures Checkouts. Dir, Confine, Logger and Now are required.
type Config struct {
	// Dir has the checkouts, each in a directory of its own.
	Dir string
	// Confine makes a command in the sandbox of commands, without a network; done is called once
	// it has ended.
	Confine func(ctx context.Context, at sandbox.Place, argv ...string) (cmd *exec.Cmd, done func(), err error)
	// Hides says whether a directory has something that no pod may see, or is in it; may be nil.
	Hides func(dir string) bool
	// Refuses says why no command may run; empty if it may.
	Refuses string
	// Environ is podd's own environment; nil means os.Environ. Home is the person's home
	// directory.
	Environ []string
	Home    string
	// Logger gets messages for the operator.
	Logger *slog.Logger
	// Now is the clock.
	Now func() time.Time
}

// Checkouts are those of all pods. Any goroutine may call the methods.
type Checkouts struct {
	Config
	mu    sync.Mutex
	locks map[string]*sync.Mutex
}

// New makes Checkouts. It reads nothing.
func New(c Config) *Checkouts {
	return &Checkouts{Config: c, locks: make(map[string]*sync.Mutex)}
}

func (all *Checkouts) environ() []string {
	if all.Environ == nil {
		return os.Environ()
	}
	return all.Environ
}

// Names in Dir that are podd's own.
const (
	tempName    = ".tmp"
	trashName   = ".trash"
	runningName = ".running"
	recordName  = "podd.json"
)

func (all *Checkouts) temp() string  { return filepath.Join(all.Dir, tempName) }
func (all *Checkouts) trash() string { return filepath.Join(all.Dir, trashName) }

// refsPrefix begins the references in a person's repository that keep what checkouts need and
// have made; branchPrefix the branches of checkouts.
const (
	refsPrefix   = "refs/podd/"
	branchPrefix = "podd/"
)

// Record is what podd knows about a checkout. It is stored beside the checkout before that is made.
type Record struct {
	// Name is the pod's when the checkout was made, Pod its id.
	Name string `json:"name"`
	Pod  string `json:"pod"`
	// Source is the person's working tree, Common its git directory. Prefix is the pod's
	// directory in either.
	Source string `json:"source"`
	Common string `json:"common"`
	Prefix string `json:"prefix,omitempty"`
	// Base is the commit that it began with, Into the branch that was checked out then.
	Base string `json:"base"`
	Into string `json:"into,omitempty"`
	// Ref is the value of the reference in the source that podd set last, Next one that it is
	// about to set. Moved is a value of somebody else that was reported.
	Ref   string `json:"ref,omitempty"`
	Next  string `json:"next,omitempty"`
	Moved string `json:"moved,omitempty"`
	// Made says that the checkout is whole and that the pod exists.
	Made bool `json:"made,omitempty"`
	// Applied is the checkpoint of the files that the source last had.
	Applied string `json:"applied,omitempty"`
	// Removed is when it was moved to the trash; Drop may be lost with it.
	Removed time.Time `json:"removed,omitzero"`
	Drop    []string  `json:"drop,omitempty"`
	// URL is set for a clone that an earlier version made. Then Source is the clone itself. podd leaves
	// such a directory as it is.
	URL string `json:"url,omitempty"`
	// Unlanded is the commit that a landing made of what was uncommitted, until one succeeds.
	Unlanded string `json:"unlanded,omitempty"`
	// Attributes is the person's file of attributes for all repositories; empty without one.
	Attributes string `json:"attributes,omitempty"`
	// Landing is a change of a branch that has begun.
	Landing *Landing `json:"landing,omitempty"`

	// place has the record and the checkout.
	place string
}

// Dir is the checkout.
func (r *Record) Dir() string { return filepath.Join(r.place, filepath.Base(r.Source)) }

// Has says whether a path is the checkout or in it.
func (r *Record) Has(path string) bool { return strings.HasPrefix(path+"/", r.Dir()+"/") }

// Branch is its own.
func (r *Record) Branch() string { return branchPrefix + r.Name }

// ref is the reference in the source.
func (r *Record) ref() string { return refsPrefix + r.Name }

// save stores the record, before what it announces is done.
func (r *Record) save() error {
	data, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	name := filepath.Join(r.place, recordName)
	file, err := os.OpenFile(name+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(append(data, '\n'))
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Rename(name+".new", name); err != nil {
		return err
	}
	return syncDir(r.place)
}

// syncDir makes the names in a directory durable.
func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

func load(place string) (*Record, error) {
	data, err := os.ReadFile(filepath.Join(place, recordName))
	if err != nil {
		return nil, err
	}
	r := new(Record)
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(place, recordName), err)
	}
	r.place = place
	if r.URL != "" {
		r.Common = filepath.Join(place, ".remote") // Also once it was moved.
	}
	return r, nil
}

// Of is the record of the checkout that a directory, given without links, is in; nil if it is in
// none.
func (all *Checkouts) Of(dir string) (*Record, error) {
	rel, err := filepath.Rel(git.Resolve(all.Dir), dir)
	if err != nil || !filepath.IsLocal(rel) {
		return nil, nil
	}
	name, _, below := strings.Cut(rel, "/")
	if !below || strings.HasPrefix(name, ".") {
		return nil, nil
	}
	r, err := load(filepath.Join(git.Resolve(all.Dir), name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return r, err
}

// Named is the record of a checkout by the name or id of its pod, whether that exists or not.
func (all *Checkouts) Named(nameOrID string) (*Record, error) {
	records, err := all.records(git.Resolve(all.Dir))
	if err != nil {
		return nil, err
	}
	for _, r := range records {
		if r.Pod == nameOrID || r.Name == nameOrID {
			return r, nil
		}
	}
	return nil, nil
}

// records are those in a directory. One that cannot be read is left out and logged.
func (all *Checkouts) records(dir string) (records []*Record, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		r, err := load(filepath.Join(dir, e.Name()))
		if err != nil {
			all.Logger.Warn("cannot read the record of a checkout; it stays", "error", err)
			continue
		}
		records = append(records, r)
	}
	return records, nil
}

// lock keeps others from a checkout until unlock is called.
func (all *Checkouts) lock(r *Record) (unlock func()) {
	all.mu.Lock()
	l := all.locks[r.Name]
	if l == nil {
		l = new(sync.Mutex)
		all.locks[r.Name] = l
	}
	all.mu.Unlock()
	l.Lock()
	return l.Unlock
}

// full marks an error that passes when there is space.
func full(err error) error {
	if !isFull(err) {
		return err
	}
	e := item.Errorf(item.KindExhausted, "NO_SPACE", "%v: free space on the disk, and try again", err)
	e.Cause = err
	return e
}

func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
