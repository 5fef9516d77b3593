package builtin

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"

	"podd/internal/process"
	"podd/internal/sandbox"
	"podd/pkg/tool/spool"
)

// wrapper runs a command and writes its exit status into the job's record, so that it
// is known also when podd is killed meanwhile. It waits for a line on descriptor 4,
// which podd sends once it has noted which process this is: a podd that dies before
// that has started nothing.
//
// The trap keeps the wrapper alive while its command is asked to end, and is not
// inherited. Only the command's standard error is the output: shells report there how
// a child ended.
const wrapper = `trap : HUP INT QUIT TERM
read -r go <&4 || exit 125
(exec "$@" 2>&1 3>&- 4<&-)
status=$?
printf '` + spool.StatusFormat + `' "$status." >&3
exit "$status"`

// jobNote is what a job's record says of its command.
type jobNote struct {
	Started time.Time `json:"started,omitzero"`
	// Process is noted before the command begins.
	Process *process.ID `json:"process,omitempty"`
}

// start starts the command. What keeps it from that is an error, and nothing runs.
func (r *shellRun) start() error {
	r.started = time.Now()
	if err := r.job.Note(jobNote{Started: r.started}); err != nil {
		return notRun(err)
	}
	status, err := r.job.StatusFile()
	if err != nil {
		return notRun(err)
	}
	defer status.Close()
	wait, begin, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("the command was not run: %w", err)
	}
	defer begin.Close()
	defer wait.Close()
	confined, err := r.shell.confine(r.args)
	if err != nil {
		return fmt.Errorf("the command was not run: %w", err)
	}
	defer confined.Close()
	cmd := r.shell.command(confined)
	cmd.Stdout, cmd.ExtraFiles = r.job.Output.File, append([]*os.File{status, wait}, confined.Files...)
	if r.tree, err = process.Start(cmd); err != nil {
		return fmt.Errorf("%s cannot be started in %s: %w", cmd.Path, cmd.Dir, err)
	}
	id := r.tree.ID()
	if err := r.job.Note(jobNote{Process: &id}); err != nil {
		_ = begin.Close()
		<-r.tree.Exited()
		return notRun(err)
	}
	if s := r.shell.Sandbox; s != nil {
		if err := s.Limit(id.PID); err != nil {
			r.shell.log.Debug("limits do not all hold", "tool", "shell", "error", err)
		}
	}
	if _, err := begin.WriteString("go\n"); err != nil {
		// The wrapper has ended, which its state says more of.
		r.shell.log.Debug("wrapper did not wait", "tool", "shell", "error", err)
	}
	return nil
}

// firstFile is the first descriptor behind those of the wrapper.
const firstFile = 5

// confine is the command line that runs a command, in the sandbox where there is one.
func (s *shell) confine(args shellArgs) (*sandbox.Command, error) {
	path, err := exec.LookPath(s.Path)
	if err != nil {
		return nil, err
	}
	argv := []string{path, "-c", args.Command}
	if s.Sandbox == nil || !s.Sandbox.Confines() {
		return &sandbox.Command{Args: argv}, nil
	}
	temp, err := s.spool.Temp()
	if err != nil {
		return nil, err
	}
	roots := s.fs.Roots()
	return s.Sandbox.Command(sandbox.Scope{Dir: roots[0].Path, Roots: roots, Temp: temp, Show: []string{s.spool.Dir()}}, firstFile, argv...)
}

// command is the wrapped command, without its files.
func (s *shell) command(c *sandbox.Command) *exec.Cmd {
	cmd := exec.Command(s.Wrapper, append([]string{"-c", wrapper, "podd"}, c.Args...)...)
	cmd.Dir = s.fs.Roots()[0].Path
	cmd.Env = slices.Concat([]string{"PWD=" + cmd.Dir}, s.env, c.Env)
	return cmd
}
