package shim_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"podd/internal/commands/process"
	"podd/internal/commands/shim"
	"podd/pkg/tool/record"
)

const (
	namespaces = "readlink /proc/self/ns/net"
	// loopback fails otherwise where the loopback is down.
	loopback = `exec 3<>/dev/tcp/127.0.0.1/9 2>&1 || true`
)

// keeper is one with a socket whose path is longer than a socket's may be.
func keeper(t *testing.T, network bool) shim.Keeper {
	t.Helper()
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 40))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return shim.Keeper{Path: filepath.Join(dir, "pod_1.sock"), Network: network}
}

func kept(k shim.Keeper) func(*shim.Command) {
	return func(c *shim.Command) {
		c.Keeper, c.Args[0] = k, "/bin/bash"
	}
}

// needsNetworks skips a test where the system allows no network namespaces.
func needsNetworks(t *testing.T, c *shim.Client, k shim.Keeper) {
	t.Helper()
	if err := c.Keep(k, process.Limits{}); err != nil {
		t.Skip("no networks of their own here: ", err)
	}
}

// Commands of a keeper share a network that has the loopback alone, also with those of the
// next podd.
func TestKeeperHasItsNetwork(t *testing.T) {
	first, second, k := newClient(t), newClient(t), keeper(t, true)
	needsNetworks(t, first, k)
	job, dir := newJob(t), t.TempDir()
	c := command(job, dir, namespaces+" >net; : >ready; while ! [ -e go ]; do sleep 0.01; done; exit 6")
	c.Keeper = k
	r, err := first.Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Stop(time.Second)
	await(t, func() bool { return exists(filepath.Join(dir, "ready")) })
	text, err := os.ReadFile(filepath.Join(dir, "net"))
	if err != nil {
		t.Fatal(err)
	}
	own, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	if theirs := strings.TrimSpace(string(text)); theirs == own || theirs == "" {
		t.Errorf("its network is %q, that of the machine", theirs)
	}
	for _, client := range []*shim.Client{first, second} {
		status, output := run(t, client, kept(k), namespaces+"; "+loopback+"; grep CapEff /proc/self/status")
		if status != "0" || !strings.HasPrefix(output, string(text)) || !strings.Contains(output, "Connection refused") {
			t.Errorf("status %s, %q, want the network %s", status, output, text)
		}
		if os.Geteuid() != 0 && !strings.Contains(output, "CapEff:\t0000000000000000\n") {
			t.Errorf("a command has capabilities: %q", output)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	<-r.Exited()
	if r.Status() != "6" {
		t.Errorf("status %q", r.Status())
	}
}

// A keeper goes with its last connection and command; the next one is another.
func TestKeeperEnds(t *testing.T) {
	k := keeper(t, false)
	pids := map[string]bool{}
	for range 2 {
		client := newClient(t)
		_, output := run(t, client, kept(k), "echo $PPID")
		client.Close()
		pids[output] = true
	}
	if len(pids) != 2 {
		t.Errorf("the keepers are %v", pids)
	}
}

func TestTerminal(t *testing.T) {
	client, k := newClient(t), keeper(t, false)
	job := newJob(t)
	c := command(job, t.TempDir(), `stty size; read -r line; echo "got $line"; [ -t 0 ] && [ -t 1 ] && [ -t 2 ] && exit 5`)
	c.Keeper, c.Terminal = k, true
	r, err := client.Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Stop(time.Second)
	if err := client.Typed(t.Context(), k, r.ID(), "late"); !errors.Is(err, shim.ErrUntyped) {
		t.Errorf("before it is typed: %v", err)
	}
	// What a killed podd sent may arrive after the question of the next one.
	if err := client.Write(t.Context(), k, r.ID(), "late", []byte("no ")); !errors.Is(err, shim.ErrUntyped) {
		t.Errorf("after the answer: %v", err)
	}
	// Another podd may send it again.
	for _, c := range []*shim.Client{client, newClient(t)} {
		if err := c.Write(t.Context(), k, r.ID(), "key", []byte("wo")); err != nil {
			t.Error(err)
		}
		if err := c.Typed(t.Context(), k, r.ID(), "key"); err != nil {
			t.Error(err)
		}
	}
	if err := client.Write(t.Context(), k, r.ID(), "", []byte("rds\n")); err != nil {
		t.Error(err)
	}
	<-r.Exited()
	text, err := os.ReadFile(job.Output.Name())
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.ReplaceAll(string(text), "\r", ""); r.Status() != "5" || !strings.Contains(got, "40 120\n") || !strings.HasSuffix(got, "got words\n") {
		t.Errorf("status %s, output %q", r.Status(), text)
	}
	file, err := os.Open(recordOf(job))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var note shim.Note
	if err := record.Of(file).Notes(&note); err != nil || !maps.Equal(note.Typed, map[string]int{"late": 0, "key": 2}) {
		t.Errorf("its record says that was typed: %v, %v", note.Typed, err)
	}
	if err := client.Write(t.Context(), k, r.ID(), "", []byte("more\n")); err == nil || !strings.Contains(err.Error(), "it takes no input") {
		t.Errorf("write to a command that has ended: %v", err)
	}
}

// What a command does not read is not waited for without end.
func TestInputThatIsNotRead(t *testing.T) {
	t.Parallel()
	client, k := newClient(t), keeper(t, false)
	job, dir := newJob(t), t.TempDir()
	c := command(job, dir, `stty raw -echo; : >ready; exec sleep 600`)
	c.Keeper, c.Terminal = k, true
	r, err := client.Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Stop(time.Second)
	await(t, func() bool { return exists(filepath.Join(dir, "ready")) })
	err = client.Write(t.Context(), k, r.ID(), "", make([]byte, 1<<20))
	if short, ok := errors.AsType[*shim.ShortInputError](err); !ok || short.Written >= 1<<20 {
		t.Errorf("it took all: %v", err)
	}
}
