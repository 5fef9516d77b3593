package sandbox

import (
	"fmt"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// unchanging are prepared namespaces for which open files stand, whose mounts never change.
func unchanging(t *testing.T) (p *prepared, prepare func() (*space, error)) {
	t.Helper()
	p = &prepared{}
	var err error
	if p.host, err = watch(os.DevNull); err != nil {
		t.Fatal(err)
	}
	return p, func() (*space, error) {
		file, err := os.Open(os.DevNull)
		if err != nil {
			return nil, err
		}
		mounts, err := watch(os.DevNull)
		return &space{files: []*os.File{file}, mounts: mounts}, err
	}
}

// gets says whether a command with a state enters namespaces.
func (p *prepared) gets(t *testing.T, state string, prepare func() (*space, error)) bool {
	t.Helper()
	files, _, err := p.of(state, prepare)
	if err != nil {
		t.Fatal(err)
	}
	closeFiles(files)
	return len(files) > 0
}

// The second command of a state makes what it enters. Of more than eight states only those used
// last keep theirs.
func TestFewAreKeptPrepared(t *testing.T) {
	p, prepare := unchanging(t)
	defer func() { p.drop(func(*space) bool { return true }) }()
	defer p.host.close()
	for i := range mostPrepared + 2 {
		state := fmt.Sprint(i)
		if p.gets(t, state, prepare) || !p.gets(t, state, prepare) {
			t.Fatalf("state %d is not made by its second command", i)
		}
		if !p.gets(t, "0", prepare) {
			t.Fatalf("what was just used is gone after state %d", i)
		}
	}
	if len(p.spaces) != mostPrepared {
		t.Errorf("%d are kept", len(p.spaces))
	}
	for state, kept := range map[string]bool{"0": true, "1": false, "2": false, "3": true, "9": true} {
		if p.gets(t, state, prepare) != kept {
			t.Errorf("state %s: kept %v", state, !kept)
		}
	}
	p.idle.Stop()
}

// What no command has used for half a minute is closed; what one has used is kept so long again.
func TestPreparedAreNotKeptUnused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, prepare := unchanging(t)
		defer p.host.close()
		kept := func() (states string) {
			synctest.Wait()
			p.mu.Lock()
			defer p.mu.Unlock()
			for _, s := range p.spaces {
				states += s.state
			}
			return states
		}
		for _, state := range []string{"a", "b", "a", "b"} {
			p.gets(t, state, prepare)
		}
		p.mu.Lock()
		file := p.spaces[0].files[0]
		p.mu.Unlock()
		time.Sleep(keepPrepared - time.Second)
		if states := kept(); states != "ab" || !p.gets(t, "b", prepare) {
			t.Fatalf("before the time %q are kept", states)
		}
		time.Sleep(2 * time.Second)
		if states := kept(); states != "b" {
			t.Errorf("after the time of a %q are kept", states)
		}
		if file.Close() == nil {
			t.Error("what is not kept is still open")
		}
		time.Sleep(keepPrepared)
		if states := kept(); states != "" {
			t.Errorf("after half a minute without a command %q are kept", states)
		}
	})
}
