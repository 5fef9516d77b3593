// Command demonodes shows three podd on one PostgreSQL: it runs examples/nodes/demo.sh and prints
// its commands with their output. The database and a scripted model are its own. It removes what
// they leave.
//
// Rank 3; not part of podd.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"podd/internal/testing/pgtest"
	"podd/pkg/llm/scripted"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM) //nolint:forbidigo // main's own context
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo-nodes:", err)
		os.Exit(1)
	}
}

const example = "examples/nodes/demo.sh"

// run works in the root of the repository, with podd and podctl in bin or in the first argument.
func run(ctx context.Context) (err error) {
	bin := "bin"
	if len(os.Args) > 1 {
		bin = os.Args[1]
	}
	if bin, err = filepath.Abs(bin); err != nil {
		return err
	}
	text, err := os.ReadFile(example)
	if err != nil {
		return err
	}
	// A socket's path has to be short.
	dir, err := os.MkdirTemp("", "podd-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	// The user of the server must be able to enter it.
	if err := os.Chmod(dir, 0o755); err != nil {
		return err
	}
	at := map[string]string{}
	for _, name := range []string{"pg", "home"} {
		at[name] = filepath.Join(dir, name)
		if err := os.Mkdir(at[name], 0o700); err != nil {
			return err
		}
	}
	server, err := pgtest.Start(ctx, at["pg"])
	if err != nil {
		return err
	}
	defer server.Stop(true)
	model, err := scripted.Serve(scripted.Config{Handler: answer})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, model.Close()) }()
	script := filepath.Join(dir, "commands.sh")
	// The addresses are some that no other demo uses.
	own := strings.ReplaceAll(string(text), "127.0.0.1:", fmt.Sprintf("127.%d.%d.1:", mathrand.IntN(256), mathrand.IntN(256)))
	if err := os.WriteFile(script, []byte(own), 0o600); err != nil {
		return err
	}
	fmt.Fprintf(os.Stdout, "The model's text is written in advance. Everything else is real. The commands are those of %s.\n\n", example)
	return shell(ctx, script, at["home"],
		"PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "HOME="+at["home"], "LANG=C.UTF-8", "TMPDIR="+dir,
		"DATABASE="+server.URL(), "OPENAI_BASE_URL="+model.URL(), "OPENAI_API_KEY=demo")
}

// answer writes a line to a file and says so.
func answer(_ context.Context, r scripted.Request) scripted.Reply {
	if last := r.Messages[len(r.Messages)-1]; last.Role != "tool" {
		return scripted.Say(scripted.Call{ID: rand.Text(), Name: "shell", Arguments: `{"command":"date +%T >> visits"}`})
	}
	return scripted.Say(scripted.Text("I wrote a line."))
}

// shell runs a script, which shows each command, and ends what is left of it.
func shell(ctx context.Context, script, dir string, env ...string) error {
	c := exec.CommandContext(ctx, "bash", "-ev", script)
	c.Dir, c.Env, c.Stdout, c.Stderr = dir, env, os.Stdout, os.Stdout
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGTERM) }
	err := c.Run()
	_ = syscall.Kill(-c.Process.Pid, syscall.SIGTERM)
	if ctx.Err() != nil {
		return nil
	}
	return err
}
