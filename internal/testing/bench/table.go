package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// row is a line of the table.
type row struct {
	name string
	goal goal
	// bare is the row that an ofBare goal compares with.
	bare *row
}

// base is what a goal is a multiple of.
type base string

// The bases. A goal without one is a number of the row's unit.
const (
	ofFloor base = "floor"
	ofOwn   base = "own-SSE floor"
	ofBare  base = "unsandboxed"
)

// goal is what podd should reach. The zero value is no goal.
type goal struct {
	limit float64
	of    base
	// least says that more is better.
	least bool
}

func (g goal) String() string {
	if g.limit == 0 {
		return ""
	}
	text := "at most "
	if g.least {
		text = "at least "
	}
	text += number(g.limit)
	if g.of != "" {
		text += " x " + string(g.of)
	}
	return text
}

// met says whether podd's value reaches the goal: yes, no, or empty without a goal.
func (g goal) met(podd, base float64) string {
	value := podd
	if g.of != "" {
		if base == 0 {
			return ""
		}
		value /= base
	}
	switch {
	case g.limit == 0:
		return ""
	case g.least == (value >= g.limit) || value == g.limit:
		return "yes"
	}
	return "no"
}

// results are the values of each row, by the name of the subject's kind.
type results struct {
	order  []*row
	values map[*row]map[string][]float64
	// notes are lines below the table.
	notes []string
}

// add adds a value. Rows are printed in the order in which they were first added.
func (r *results) add(to *row, s *subject, value float64) {
	if r.values == nil {
		r.values = map[*row]map[string][]float64{}
	}
	if r.values[to] == nil {
		r.order = append(r.order, to)
		r.values[to] = map[string][]float64{}
	}
	r.values[to][s.kind.name] = append(r.values[to][s.kind.name], value)
}

func (r *results) note(format string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}

// median is the middle one; 0 for an empty list.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	if n := len(sorted); n%2 == 0 {
		return (sorted[n/2-1] + sorted[n/2]) / 2
	}
	return sorted[len(sorted)/2]
}

func (r *results) show(out io.Writer) {
	fmt.Fprint(out, "| measure | podd | floor | own-SSE floor | ratio | goal | met |\n|---|---|---|---|---|---|---|\n")
	for _, line := range r.order {
		cell := map[string]string{}
		for name, values := range r.values[line] {
			cell[name] = number(median(values))
		}
		podd, base := median(r.values[line][poddKind.name]), r.base(line)
		ratio := ""
		if base != 0 {
			ratio = fmt.Sprintf("%.2f", podd/base)
		}
		fmt.Fprintf(out, "| %s | %s | %s | %s | %s | %s | %s |\n", line.name, cell[poddKind.name], cell[floorKind.name], cell[ownKind.name],
			ratio, line.goal, line.goal.met(podd, base))
	}
	for _, note := range r.notes {
		fmt.Fprintf(out, "\n%s\n", note)
	}
}

// base is what podd's value in a row is compared with: the floor's, if the goal names nothing
// else; 0 without one.
func (r *results) base(line *row) float64 {
	switch line.goal.of {
	case ofOwn:
		return median(r.values[line][ownKind.name])
	case ofBare:
		return median(r.values[line.bare][poddKind.name])
	}
	return median(r.values[line][floorKind.name])
}

// number has three significant digits.
func number(v float64) string {
	switch {
	case v == 0:
		return "0"
	case v >= 1000:
		return thousands(int64(v + 0.5))
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return trim(fmt.Sprintf("%.1f", v))
	case v >= 1:
		return trim(fmt.Sprintf("%.2f", v))
	}
	return trim(fmt.Sprintf("%.3f", v))
}

func trim(s string) string { return strings.TrimRight(strings.TrimRight(s, "0"), ".") }

func thousands(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// describe says where the table was made, and of which build.
func (r *rig) describe(ctx context.Context, out io.Writer) error {
	commit, err := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty").Output()
	if err != nil {
		commit = []byte("not known")
	}
	version, err := exec.CommandContext(ctx, "go", "version").Output()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "\nMedians of %d. %s, %d processors, %s, %s. Commit %s; %s; load while measuring %s.\n", r.reps,
		processor(), runtime.NumCPU(), kernel(), filesystem(r.dir), strings.TrimSpace(string(commit)),
		strings.TrimPrefix(strings.TrimSpace(string(version)), "go version "), load())
	return err
}

// processor names the processor as the kernel does.
func processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

func kernel() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return runtime.GOOS
	}
	return unix.ByteSliceToString(u.Sysname[:]) + " " + unix.ByteSliceToString(u.Release[:])
}

// filesystem says which file system the databases were on.
func filesystem(dir string) string {
	out, err := exec.Command("df", "--output=fstype", dir).Output()
	if err != nil {
		return "unknown file system"
	}
	lines := strings.Fields(string(out))
	return lines[len(lines)-1]
}

// load is the load average of the last minutes.
func load() string {
	text, _ := os.ReadFile("/proc/loadavg")
	return strings.Join(strings.Fields(string(text))[:min(2, len(strings.Fields(string(text))))], ", ")
}
